"""Looks tokens up in the database, with a short-lived cache."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256

from cachetools import LRUCache

from quoth.core.errors import BackendError, StoreDown
from quoth.store import keys, sessions, shares
from quoth.store.database import Database
from quoth.store.keys import ApiKey, Keys, any_key, find_key
from quoth.store.sessions import find_session
from quoth.store.shares import Share, find_share

FRESH_S = 0.5
"""How long a look-up holds; a revoked key stops working after this."""
MAX_CACHED = 10_000
MAX_TOKEN_LENGTH = 200
"""Characters; a longer token is not one of ours and is not even hashed."""
NOTE_USE_AFTER = timedelta(minutes=1)
"""The least time between two writes of when a key was last used."""
NOTE_WAIT_S = 0.2
"""How long a request waits for that write; a busy database may take longer, in the background."""

LOOK_UPS: Mapping[str, Callable[[Database, str], ApiKey | Share | None]] = {
    keys.LABEL: find_key,
    shares.LABEL: find_share,
    sessions.LABEL: find_session,
}
"""How a token is looked up, by what it begins with."""


@dataclass(frozen=True, slots=True)
class CachedKey:
    """Cached look-up of a token: its key, and when it was found."""

    found: ApiKey | Share
    at: float


class Credentials:
    """The keys and shares of all tenants, used by one event loop.

    Only valid tokens are cached, by their hash, so that guesses take no memory. ``clock`` gives
    seconds and never goes back.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._cache: LRUCache[bytes, CachedKey] = LRUCache(MAX_CACHED)
        self._look_ups: dict[bytes, asyncio.Task[ApiKey | Share | None]] = {}
        self._noting = False
        self._no_key_at: float | None = None
        self._key_exists = False
        # Threads of its own: authentication does not wait for the other work of the process.
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="quoth-keys")

    async def find(self, token: str) -> ApiKey | Share | None:
        """Return the key or share of a token; raises BackendError where the store is down."""
        if len(token) > MAX_TOKEN_LENGTH:
            return None
        digest = sha256(token.encode("utf-8", "surrogatepass")).digest()
        cached = self._cache.get(digest)
        if cached is not None and self._clock() - cached.at < FRESH_S:
            return cached.found if cached.found.live else None
        # Simultaneous requests of one key share a look-up.
        task = self._look_ups.get(digest)
        if task is None:
            task = asyncio.create_task(self._look_up(token, digest))
            self._look_ups[digest] = task
            task.add_done_callback(partial(self._end_look_up, digest))
        return await asyncio.shield(task)

    def _end_look_up(self, digest: bytes, task: asyncio.Task[ApiKey | Share | None]) -> None:
        del self._look_ups[digest]
        # The waiting requests may have ended: retrieve the error, else asyncio reports it.
        if not task.cancelled():
            task.exception()

    async def any_key_exists(self) -> bool:
        """Return whether a key was ever created; expired and revoked ones count too."""
        fresh = self._no_key_at is not None and self._clock() - self._no_key_at < FRESH_S
        if not self._key_exists and not fresh:
            at = self._clock()
            loop = asyncio.get_running_loop()
            self._key_exists = await loop.run_in_executor(self._threads, any_key, self._database)
            self._no_key_at = at
        return self._key_exists

    async def _look_up(self, token: str, digest: bytes) -> ApiKey | Share | None:
        at = self._clock()
        look_up = LOOK_UPS.get(token[: len(keys.LABEL)], find_key)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, look_up, self._database, token)
        if found is None:
            self._cache.pop(digest, None)
        else:
            self._cache[digest] = CachedKey(found, at)
        if isinstance(found, ApiKey):
            await self._note_use(found)
        return found

    async def _note_use(self, key: ApiKey) -> None:
        """Write when a key was last used; the request hardly waits for that."""
        recent = (datetime.now(UTC) - NOTE_USE_AFTER).isoformat(timespec="milliseconds")
        # One at a time, so that one thread is always free to look keys up.
        if self._noting or (key.last_used or "") > recent:
            return
        self._noting = True
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._write_use, key)
        work.add_done_callback(self._end_noting)
        await asyncio.wait([work], timeout=NOTE_WAIT_S)

    def _end_noting(self, _work: object) -> None:
        self._noting = False

    def _write_use(self, key: ApiKey) -> None:
        # A busy database or full disk must not refuse a valid key: the next use is written.
        with suppress(BackendError, StoreDown):
            Keys(self._database, tenant=key.tenant).touch(key.key_id)
