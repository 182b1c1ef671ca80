"""Rate limits of a caller: requests a minute and at the same time, questions on a day.

Requests over the second limit wait for a short time in a short queue of their key, since clients
such as LangChain's `batch` send several at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from cachetools import LRUCache
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.core.errors import Busy, QuothError
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.fair_semaphore import FairSemaphore
from quoth.interfaces.http.request_state import LOCAL, request_state
from quoth.store.database import Database
from quoth.store.privacy_settings import DailyUsage

MAX_NAMES = 20_000
"""Names remembered at most; beyond, the least recently used are forgotten."""
RETRY_S = 1.0
"""When to try again where too many requests are in flight."""
SAVE_S = 5.0
"""Seconds after which questions are written: a process that ends forgets as many."""

log = logging.getLogger("quoth.interfaces.http")


class RateLimitMiddleware:
    """Limits the requests of each key: one quota for queries and changes, one for the rest.

    The owner of this machine, who needs no key, is not limited. ``clock`` gives seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        database: Database,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        limiter = partial(GcraLimiter, clock=clock)
        quota = partial(
            RequestQuota, max_waiting=settings.key_waiting, wait_s=settings.wait_seconds
        )
        self._questions = quota(
            "questions",
            rate=limiter(settings.key_questions_per_minute, burst=settings.key_questions_burst),
            max_in_flight=settings.key_questions_at_once,
        )
        self._daily = DailyQuota(settings.tenant_questions_per_day, database)
        burst = max(settings.key_requests_per_minute // 4, settings.key_requests_at_once)
        self._requests = quota(
            "requests",
            rate=limiter(settings.key_requests_per_minute, burst=burst),
            max_in_flight=settings.key_requests_at_once,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection; raises Busy with status 429."""
        request = request_state(scope)
        if request.principal is None or request.principal.key_id == LOCAL:
            await self.app(scope, receive, send)
            return
        if request.kind == "query":
            await self._daily.take(request.principal.tenant)
        quota = self._questions if request.kind in ("query", "change") else self._requests
        async with quota.hold(request.principal.key_id):
            await self.app(scope, receive, send)


class GcraLimiter:
    """Up to ``burst`` at once and ``per_minute`` in the long run, for each name.

    The generic cell rate algorithm (ITU-T I.371): the state of a name is the time at which its
    bucket will be full again. ``clock`` gives seconds and never goes back.
    """

    def __init__(
        self, per_minute: float, *, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_minute, self.burst = per_minute, burst
        self._interval_s = 60 / per_minute
        self._tolerance_s = self._interval_s * (burst - 1)
        self._clock = clock
        self._full_at: LRUCache[str, float] = LRUCache(MAX_NAMES)

    def wait_s(self, name: str) -> float:
        """Return the seconds until the next one is allowed, 0 for now; count nothing."""
        now = self._clock()
        return max(0.0, self._full_at.get(name, now) - self._tolerance_s - now)

    def take(self, name: str) -> float:
        """Count one if it is allowed; return the seconds to wait if it is not, else 0."""
        wait = self.wait_s(name)
        if not wait:
            now = self._clock()
            self._full_at[name] = max(self._full_at.get(name, now), now) + self._interval_s
        return wait


class RequestQuota:
    """A rate limit together with a limit of requests in flight, for each name.

    Up to ``max_waiting`` more of a name wait, each for at most ``wait_s`` seconds.
    """

    def __init__(
        self,
        unit: str,
        *,
        rate: GcraLimiter,
        max_in_flight: int,
        max_waiting: int = 0,
        wait_s: float = 0.0,
    ) -> None:
        self._unit = unit
        self._rate = rate
        self._max_in_flight = max_in_flight
        self._max_waiting = max_waiting
        self._wait_s = wait_s
        self._slots: dict[str, FairSemaphore] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
        """Hold a slot as long as the context lasts; raises Busy with status 429."""
        slots = self._slots.setdefault(name, FairSemaphore(self._max_in_flight))
        if slots.held >= slots.limit and slots.waiting >= self._max_waiting:
            raise self._too_many()
        wait = self._rate.take(name)
        if wait:
            raise Busy(
                f"This key has reached its limit of {self._rate.per_minute:,.0f} {self._unit} a "
                f"minute, in bursts of up to {self._rate.burst}. Try again in {ceil(wait)} s.",
                status=429,
                retry_after_s=wait,
            )
        if not await slots.acquire(name, timeout_s=self._wait_s):
            raise self._too_many()
        try:
            yield
        finally:
            slots.release()
            if not slots.held:
                self._slots.pop(name, None)

    def _too_many(self) -> Busy:
        return Busy(
            f"This key has {self._max_in_flight} {self._unit} in flight, which is its limit, and "
            "the queue of those that wait is full or too slow. Wait until one of them ends.",
            status=429,
            retry_after_s=RETRY_S,
        )


@dataclass(slots=True)
class _Count:
    """Questions of a tenant on a day: those in the catalogue, and those since."""

    day: str
    stored: int
    unsaved: int = 0
    saving: asyncio.Task[None] | None = None


class DailyQuota:
    """Queries of each tenant on one day (UTC); None for no limit.

    A process knows the questions of others when it has written its own, after ``save_s`` seconds.
    """

    def __init__(
        self,
        limit: int | None,
        database: Database,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        save_s: float = SAVE_S,
    ) -> None:
        self._limit = limit
        self._database = database
        self._clock = clock
        self._save_s = save_s
        self._counts: dict[str, _Count] = {}

    async def take(self, tenant: str) -> None:
        """Count a query; raises Busy with status 429 until midnight beyond the limit."""
        if self._limit is None:
            return
        now = self._clock()
        count = await self._today(tenant, now.date().isoformat())
        if count.stored + count.unsaved >= self._limit:
            midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
            raise Busy(
                f"This tenant has asked {self._limit:,} questions today, which is its limit. Ask "
                "again tomorrow (UTC).",
                status=429,
                retry_after_s=(midnight - now).total_seconds(),
            )
        count.unsaved += 1
        if count.saving is None:
            count.saving = asyncio.create_task(self._save(tenant, count))

    async def _today(self, tenant: str, day: str) -> _Count:
        count = self._counts.get(tenant)
        if count is None or count.day != day:
            stored = await asyncio.to_thread(self._usage(tenant).questions)
            count = self._counts.get(tenant)  # of another query, in the meantime
            if count is None or count.day != day:
                count = self._counts[tenant] = _Count(day, stored)
        return count

    async def _save(self, tenant: str, count: _Count) -> None:
        usage = self._usage(tenant)
        try:
            while count.unsaved:
                await asyncio.sleep(self._save_s)
                asked = count.unsaved
                try:
                    await asyncio.to_thread(usage.add, questions=asked)
                    count.unsaved, count.stored = count.unsaved - asked, count.stored + asked
                    count.stored = await asyncio.to_thread(usage.questions)
                except QuothError as error:  # they are written later
                    log.warning("questions_not_written", extra={"code": error.code})
        finally:
            count.saving = None

    def _usage(self, tenant: str) -> DailyUsage:
        return DailyUsage(self._database, tenant=tenant, clock=self._clock)


def client_network(address: str) -> str:
    """Return the network of one client: an IPv4 address, or the first half of an IPv6 one."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
