"""Whose token this is, found out often and looked up seldom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256

from starlette.datastructures import Headers

from quoth.core.errors import BackendError, Denied, StoreDown
from quoth.store import shares
from quoth.store.database import Database
from quoth.store.keys import (
    ApiKey,
    Keys,
    any_key,
    find_key,
)
from quoth.store.shares import Share, find_share

FRESH_S = 0.5
"""How long a look-up holds: what is revoked opens nothing any more after this, and its way here."""
MOST_REMEMBERED = 10_000
LONGEST_TOKEN = 200
"""Characters; a longer one is no token of ours and is not even hashed."""
NOTE_USE_AFTER = timedelta(minutes=1)
"""How often the time of a key's last use is written, at most."""
NOTE_WAIT_S = 0.2
"""How long a request waits for that; a busy database may take longer, in the background."""


@dataclass(frozen=True, slots=True)
class CachedKey:
    """What a token was found to open, and when, by the clock."""

    found: ApiKey | Share
    at: float


def token_of(headers: Headers) -> str:
    """Give the token that came with a request, empty where none did; raises Denied for two."""
    if any(len(headers.getlist(each)) > 1 for each in ("authorization", "x-api-key")):
        # Somebody on the way may have looked at the other one.
        raise Denied("More than one key came with this request. Send one.", status=401)
    scheme, _blank, token = headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        return token.strip()
    return headers.get("x-api-key", "").strip()


class Credentials:
    """The keys and shares of all tenants, as the gate sees them; one event loop uses it.

    Only good tokens are remembered, by their hash, so that guessing takes no memory. ``clock``
    gives seconds and never goes back.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._seen: dict[bytes, CachedKey] = {}
        self._asking: dict[bytes, asyncio.Task[ApiKey | Share | None]] = {}
        self._noting = False
        self._none_at: float | None = None
        self._some = False
        # Its own threads: who asks is found out at once, whatever else the process has to do.
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="quoth-keys")

    def remembers(self, token: str) -> bool:
        """Whether this token was good a while ago."""
        return _name(token) in self._seen

    def known(self, token: str) -> ApiKey | Share | None:
        """Give what a token opened a while ago; it may have been revoked since."""
        seen = self._seen.get(_name(token)) if len(token) <= LONGEST_TOKEN else None
        return None if seen is None else seen.found

    async def find(self, token: str) -> ApiKey | Share | None:
        """Give what a token opens, or None; raises BackendError where that cannot be seen."""
        if len(token) > LONGEST_TOKEN:
            return None
        name = _name(token)
        seen = self._seen.get(name)
        if seen is not None and self._clock() - seen.at < FRESH_S:
            return seen.found if seen.found.live else None
        # Many requests of one key at once look it up together.
        task = self._asking.get(name)
        if task is None:
            task = asyncio.create_task(self._look_up(token))
            self._asking[name] = task
            task.add_done_callback(partial(self._asked, name))
        return await asyncio.shield(task)

    def _asked(self, name: bytes, task: asyncio.Task[ApiKey | Share | None]) -> None:
        del self._asking[name]
        # Whoever waited may be gone: nobody else would take the error.
        if not task.cancelled():
            task.exception()

    async def any(self) -> bool:
        """Whether a key was ever made; what ran out or was revoked does not open the door anew."""
        fresh = self._none_at is not None and self._clock() - self._none_at < FRESH_S
        if not self._some and not fresh:
            at = self._clock()
            loop = asyncio.get_running_loop()
            self._some = await loop.run_in_executor(self._threads, any_key, self._database)
            self._none_at = at
        return self._some

    async def _look_up(self, token: str) -> ApiKey | Share | None:
        at = self._clock()
        look_up = find_share if token.startswith(shares.LABEL) else find_key
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, look_up, self._database, token)
        name = _name(token)
        self._seen.pop(name, None)
        if found is not None:
            self._seen[name] = CachedKey(found, at)
            if len(self._seen) > MOST_REMEMBERED:
                del self._seen[next(iter(self._seen))]
        if isinstance(found, ApiKey):
            await self._note_use(found)
        return found

    async def _note_use(self, key: ApiKey) -> None:
        """Write down that a key is in use; whoever uses it hardly waits for that."""
        # One at a time, so that one thread is always free to look keys up.
        if self._noting or (key.last_used or "") > _minute_ago():
            return
        self._noting = True
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._write_use, key)
        work.add_done_callback(self._noted)
        await asyncio.wait([work], timeout=NOTE_WAIT_S)

    def _noted(self, _work: object) -> None:
        self._noting = False

    def _write_use(self, key: ApiKey) -> None:
        # A busy or full disk must not keep anybody out: the next use will be noted.
        with suppress(BackendError, StoreDown):
            Keys(self._database, tenant=key.tenant).touch(key.key_id)


def _name(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _minute_ago() -> str:
    return (datetime.now(UTC) - NOTE_USE_AFTER).isoformat(timespec="milliseconds")
