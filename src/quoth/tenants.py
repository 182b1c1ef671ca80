"""One process, many tenants: models are shared, what belongs to a tenant is opened separately.

An `Engine` reaches nothing but its tenant's rows, index files and token vectors. After
authentication a caller gets the tenant's engine here, and has no other way to any document.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from cachetools import LRUCache

from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.store.database import Database


class Tenants:
    """The engines of all tenants over one database; ``open_tenant`` makes the one of a tenant.

    The ``settings.tenants_open`` most recently used engines stay open; another one is closed,
    with its files and its memory, as soon as no request uses it.
    """

    def __init__(
        self, settings: Settings, *, database: Database, open_tenant: Callable[[str], Engine]
    ) -> None:
        self.settings = settings
        self.database = database
        self._open_tenant = open_tenant
        self._alive: WeakValueDictionary[str, Engine] = WeakValueDictionary()
        self._recent: LRUCache[str, Engine] = LRUCache(settings.tenants_open)
        self._lock = Lock()

    def engine(self, tenant: str) -> Engine:
        """Return the engine of a tenant, the same one to all who use it at the same time."""
        with self._lock:
            engine = self._alive.get(tenant)
            if engine is None:
                engine = self._alive[tenant] = self._open_tenant(tenant)
            self._recent[tenant] = engine
            return engine

    @property
    def opened(self) -> dict[str, Engine]:
        """The engines that are open now, by tenant."""
        with self._lock:
            return dict(self._alive)
