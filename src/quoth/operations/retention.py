"""Delete expired rows once a day while the service runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from quoth.core.errors import BackendError
from quoth.store.database import Database
from quoth.store.retention import forget_all

DAY_S = 24 * 3600.0
AGAIN_S = 600.0
"""Time until the next try where the database was busy."""

log = logging.getLogger("quoth.retention")


async def run_retention_daily(
    database: Database,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Enforce retention now and every day, until cancelled."""
    while True:
        await sleep(DAY_S if await enforce_retention(database, now=clock()) else AGAIN_S)


async def enforce_retention(database: Database, *, now: datetime) -> bool:
    """Delete rows expired at that time; return False where the database failed."""
    try:
        found = await asyncio.to_thread(forget_all, database, now=now)
    except BackendError as error:
        log.warning("retention_failed", extra={"code": error.code})
        return False
    for gone in found.values():
        log.info(
            "retention",
            extra={
                "questions": gone.questions,
                "shares": gone.shares,
                "tasks": gone.tasks,
                "audit": gone.audit,
            },
        )
    return True
