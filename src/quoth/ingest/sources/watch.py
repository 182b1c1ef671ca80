"""Watch folders for changes, by watchfiles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch


async def folder_changed(folders: Sequence[Path]) -> AsyncGenerator[None, None]:
    """Yield at once, and again after every change below the folders.

    A change that happens while the caller works is not missed.
    """
    changes = awatch(*folders)
    while True:
        coming = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)  # watching has begun before the caller looks at the folders
        try:
            yield
            await coming
        except StopAsyncIteration:
            return
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
