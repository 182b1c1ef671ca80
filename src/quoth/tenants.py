"""One process, many tenants: models are shared, what belongs to a tenant is opened apart.

An `Engine` reaches nothing but its tenant's rows, index files and token vectors. Whoever has
found out who asks takes that tenant's engine here, and has no other way to any document.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from quoth.catalogue.database import Database
from quoth.engine import Engine
from quoth.settings import Settings


class Tenants:
    """The engines of all tenants over one database; ``open_tenant`` makes the one of a tenant."""

    def __init__(
        self, settings: Settings, *, database: Database, open_tenant: Callable[[str], Engine]
    ) -> None:
        self.settings = settings
        self.database = database
        self._open_tenant = open_tenant
        self._engines: dict[str, Engine] = {}
        self._alone = Lock()

    def engine(self, tenant: str) -> Engine:
        """Give the engine of a tenant, always the same one."""
        with self._alone:
            if tenant not in self._engines:
                self._engines[tenant] = self._open_tenant(tenant)
            return self._engines[tenant]

    @property
    def opened(self) -> dict[str, Engine]:
        """The engines that were asked for so far, by tenant."""
        with self._alone:
            return dict(self._engines)
