"""The writer lock of an index table, across all processes, and across all machines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import AsyncFileLock
from sqlalchemy import func, select

if TYPE_CHECKING:
    from sqlalchemy import Engine

TURN_PAUSE_S = 0.02


@asynccontextmanager
async def writer_lock(folder: Path, table: str) -> AsyncIterator[None]:
    """Hold the lock of a table of an existing folder."""
    # It asks again and again and does not wait in a thread: a thread cannot be cancelled.
    lock = AsyncFileLock(folder / f"{table}.lock", run_in_executor=False)
    async with await lock.acquire(poll_interval=TURN_PAUSE_S):
        yield


@asynccontextmanager
async def server_lock(engine: Engine, table: str) -> AsyncIterator[None]:
    """Hold the lock of a table in a PostgreSQL server, which ends with the connection."""
    key = func.hashtextextended(f"quoth writes table {table}", 0)
    connection = await asyncio.to_thread(engine.connect)
    try:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        ask = select(func.pg_try_advisory_lock(key))
        while not await asyncio.to_thread(connection.scalar, ask):  # noqa: ASYNC110 - no event
            await asyncio.sleep(TURN_PAUSE_S)
        yield
    finally:
        # The end of the session gives the lock back, also where its owner was killed or cut off.
        await asyncio.to_thread(connection.invalidate)
        await asyncio.to_thread(connection.close)
