"""The writer lock of an index table, across all processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout

TURN_PAUSE_S = 0.02


@asynccontextmanager
async def writer_lock(folder: Path, table: str) -> AsyncIterator[None]:
    """Hold the lock of a table of an existing folder."""
    lock = FileLock(folder / f"{table}.lock")
    # Asking again and again, not waiting in a thread: a thread cannot be cancelled, and the
    # lock takes two waiters in one thread of a pool for one that waits for itself.
    while not _taken(lock):  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(TURN_PAUSE_S)
    try:
        yield
    finally:
        lock.release()


def _taken(lock: FileLock) -> bool:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True
