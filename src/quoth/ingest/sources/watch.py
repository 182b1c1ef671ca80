"""Watch folders for changes, by watchfiles."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch


async def folder_changed(
    folders: Sequence[Path], *, every: float | None = None
) -> AsyncGenerator[bool, None]:
    """Yield at once, after every change below the folders, and ``every`` so many seconds.

    The value is false after a change, unless the seconds are over as well. A change that happens
    while the caller works is not missed. There is at least one folder.
    """
    changes = awatch(*folders)
    coming: asyncio.Future[object] | None = None
    is_due, due_at = True, float("inf")
    try:
        while True:
            if coming is None:
                coming = asyncio.ensure_future(anext(changes))
                await asyncio.sleep(0)  # watching has begun before the caller looks at the folders
            yield is_due
            if every is not None and is_due:
                due_at = time.monotonic() + every
            left = None if every is None else max(0.0, due_at - time.monotonic())
            await asyncio.wait({coming}, timeout=left)
            is_due = not coming.done() or time.monotonic() >= due_at
            if coming.done():
                coming.result()
                coming = None
    except StopAsyncIteration:
        return
    finally:
        if coming is not None:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
