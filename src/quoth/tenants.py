"""One process, many tenants: models are shared, what belongs to a tenant is opened apart.

An `Engine` reaches nothing but its tenant's rows, index files and token vectors. Whoever has
found out who asks takes that tenant's engine here, and has no other way to any document.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.store.database import Database


class Tenants:
    """The engines of all tenants over one database; ``open_tenant`` makes the one of a tenant.

    The engines that were asked for last stay open, as many as ``settings.tenants_open`` says.
    One that nobody asks for goes, with its files and its memory, as soon as nobody uses it.
    """

    def __init__(
        self, settings: Settings, *, database: Database, open_tenant: Callable[[str], Engine]
    ) -> None:
        self.settings = settings
        self.database = database
        self._open_tenant = open_tenant
        self._alive: WeakValueDictionary[str, Engine] = WeakValueDictionary()
        self._latest: OrderedDict[str, Engine] = OrderedDict()
        self._alone = Lock()

    def engine(self, tenant: str) -> Engine:
        """Give the engine of a tenant, the same one to all who use it at the same time."""
        with self._alone:
            engine = self._alive.get(tenant)
            if engine is None:
                engine = self._alive[tenant] = self._open_tenant(tenant)
            self._latest[tenant] = engine
            self._latest.move_to_end(tenant)
            if len(self._latest) > self.settings.tenants_open:
                self._latest.popitem(last=False)
            return engine

    @property
    def opened(self) -> dict[str, Engine]:
        """The engines that are open now, by tenant."""
        with self._alone:
            return dict(self._alive)
