"""Tenants of one process: models are shared, tenant data is opened separately.

An `Engine` reaches only its tenant's rows, index files and token vectors. After authentication a
caller gets its tenant's engine here and has no other access to documents.
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
    """Engines of all tenants over one database, opened by ``open_tenant``.

    The ``settings.tenants_open`` most recently used engines stay open; others are closed, with
    their files and memory, as soon as no request uses them.
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
        """Return the engine of a tenant, shared by all concurrent requests."""
        with self._lock:
            engine = self._alive.get(tenant)
            if engine is None:
                engine = self._alive[tenant] = self._open_tenant(tenant)
            self._recent[tenant] = engine
            return engine

    @property
    def opened(self) -> dict[str, Engine]:
        """Return the open engines by tenant."""
        with self._lock:
            return dict(self._alive)
