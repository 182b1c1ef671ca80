"""Admission control: how many queries are answered at once, and how many wait.

Without a limit a thousand queries at once would share the processor until none of them is
answered in time. Here a few are answered, some wait in one fair queue, and the rest are refused
with a time to retry: at once where waiting is hopeless, else after a bounded wait.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.fair_semaphore import FairSemaphore
from quoth.interfaces.http.middleware.problems import send_problem
from quoth.interfaces.http.request_state import request_state

MIN_RETRY_S, MAX_RETRY_S = 1, 60
"""Seconds: the bounds of `Busy.retry_after_s`."""
SMOOTHING = 0.1
"""The weight of the newest query in the average duration."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """``in_flight`` concurrent queries, ``waiting`` in the queue, each for at most ``wait_s``."""

    in_flight: int
    waiting: int = 1024
    wait_s: float = 10.0


def default_in_flight(*, generates: bool) -> int:
    """Return the default concurrency; ``generates`` where a language model answers.

    An extractive answer is CPU-bound, so that more than two per core only take longer each; a
    generated one mostly waits and takes only memory.
    """
    return max(4, 2 * (os.cpu_count() or 1)) + (32 if generates else 0)


class ConcurrencyLimit:
    """The limit of queries in flight and its counters; ``clock`` gives seconds."""

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float] = monotonic) -> None:
        self.bounds = bounds
        self.admitted = 0
        self.shed = 0
        self._clock = clock
        self._slots = FairSemaphore(bounds.in_flight)
        self._average_s = 0.1

    @property
    def in_flight(self) -> int:
        """Queries being answered."""
        return self._slots.held

    @property
    def waiting(self) -> int:
        """Queries in the queue."""
        return self._slots.waiting

    @property
    def expected_wait_s(self) -> float:
        """Seconds that one more query would probably wait."""
        if self.in_flight < self.bounds.in_flight:
            return 0.0
        return (self.waiting + 1) * self._average_s / self.bounds.in_flight

    @property
    def is_hopeless(self) -> bool:
        """Whether one more query would not be answered in time."""
        full = self.in_flight >= self.bounds.in_flight and self.waiting >= self.bounds.waiting
        return full or self.expected_wait_s > self.bounds.wait_s

    def refuse(self) -> Busy:
        """Count a query that is refused, and return the error."""
        self.shed += 1
        return Busy(
            "Too many queries at the moment. Try again later.",
            retryable=True,
            retry_after_s=min(MAX_RETRY_S, max(MIN_RETRY_S, ceil(self.expected_wait_s))),
        )

    @asynccontextmanager
    async def slot(self, tenant: str) -> AsyncIterator[None]:
        """Hold a slot for a query of a tenant; raises Busy where none becomes free in time."""
        if self.is_hopeless or not await self._slots.acquire(tenant, timeout_s=self.bounds.wait_s):
            raise self.refuse()
        self.admitted += 1
        began = self._clock()
        try:
            yield
        finally:
            self._average_s += SMOOTHING * (self._clock() - began - self._average_s)
            self._slots.release()


class OverloadMiddleware:
    """Refuses a query that has no hope before anything else is done for it."""

    def __init__(self, app: ASGIApp, *, limit: ConcurrencyLimit) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        is_query = scope["type"] == "http" and request_state(scope).kind == "query"
        if is_query and self.limit.is_hopeless:
            await send_problem(scope, receive, send, error=self.limit.refuse())
            return
        await self.app(scope, receive, send)


class ConcurrencyLimitMiddleware:
    """Lets a query pass when a slot is free; raises Busy when none becomes free in time.

    The body is read before the query waits, so that a slow sender holds no slot. A client that
    disconnects leaves the queue, and the work on its answer ends.
    """

    def __init__(self, app: ASGIApp, *, limit: ConcurrencyLimit) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        request = request_state(scope) if scope["type"] == "http" else None
        if request is None or request.kind != "query" or request.principal is None:
            await self.app(scope, receive, send)
            return
        connection = BufferedConnection(receive, send)
        if await connection.read_body():
            async with connection.cancel_on_disconnect(), self.limit.slot(request.principal.tenant):
                await self.app(scope, connection.receive, connection.send)


class BufferedConnection:
    """A request whose body is read in advance, and whose client may disconnect."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._body = bytearray()
        self._body_given = False
        self._disconnected = asyncio.Event()
        self._answered = False

    async def read_body(self) -> bool:
        """Read the whole body; return False where the client disconnects first."""
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return False
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                return True

    @asynccontextmanager
    async def cancel_on_disconnect(self) -> AsyncIterator[None]:
        """Run the block until the client disconnects; a block cancelled so raises nothing."""
        task = asyncio.current_task()
        assert task is not None
        cancelled = False

        async def watch() -> None:
            nonlocal cancelled
            while (await self._receive())["type"] != "http.disconnect":
                pass
            self._disconnected.set()
            if not self._answered:
                cancelled = True
                task.cancel()

        watcher = asyncio.create_task(watch())
        try:
            yield
            if cancelled:
                await asyncio.sleep(0)  # the cancellation is delivered here at the latest
        except asyncio.CancelledError:
            if not cancelled or task.uncancel():
                raise
        finally:
            watcher.cancel()

    async def receive(self) -> Message:
        """Return the body, and then wait for the client to disconnect."""
        if not self._body_given:
            self._body_given = True
            return {"type": "http.request", "body": bytes(self._body), "more_body": False}
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a message of the response."""
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True
        await self._send(message)
