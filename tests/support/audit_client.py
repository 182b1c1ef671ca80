"""The service in this process with the audit in front of it, for tests of what it writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.interfaces.http.app import make_app
from quoth.interfaces.http.middleware.audit import AuditMiddleware
from quoth.interfaces.http.middleware.auth import AuthMiddleware
from quoth.store.audit import Audit, AuditRow
from tests.support.service_client import PATIENT, House


@asynccontextmanager
async def audited(home: Path, **choices: Any) -> AsyncIterator[House]:
    """Open a whole house over a folder, with audit and gate before it."""
    settings = Settings(home=home, embedder="fake", **{**PATIENT, **choices})
    async with open_tenants(settings) as tenants:
        walls = (
            partial(AuditMiddleware, tenants=tenants),
            partial(AuthMiddleware, tenants=tenants, settings=settings),
        )
        yield House(make_app(tenants, around=walls), tenants, home)


def rows_of(house: House, tenant: str) -> list[AuditRow]:
    """Give a tenant's rows, the oldest first."""
    return Audit(house.tenants.database, tenant=tenant).rows(limit=10_000)[::-1]
