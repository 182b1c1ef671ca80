"""Watch folders for changes, by watchfiles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch


async def folder_changed(
    folders: Sequence[Path], *, every: float | None = None
) -> AsyncGenerator[None, None]:
    """Yield at once, after every change below the folders, and ``every`` so many seconds.

    A change that happens while the caller works is not missed.
    """
    changes = awatch(*folders)
    coming: asyncio.Future[object] | None = None
    try:
        while True:
            if folders and coming is None:
                coming = asyncio.ensure_future(anext(changes))
                await asyncio.sleep(0)  # watching has begun before the caller looks at the folders
            yield
            if coming is None:
                await asyncio.sleep(every or 0)
                continue
            await asyncio.wait({coming}, timeout=every)
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
