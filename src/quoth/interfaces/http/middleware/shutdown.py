"""Graceful shutdown: refuse new requests, finish or interrupt those in flight.

A stream that does not end in time gets a final event with the code ``interrupted`` instead of a
closed connection; every other response is complete, or a refusal with Retry-After.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.core.translations import DEFAULT_LANGUAGE, restate
from quoth.interfaces.http.middleware.problems import send_problem
from quoth.interfaces.http.request_state import RequestState, request_state
from quoth.text.html_page import render_page

State = Literal["starting", "serving", "stopping"]
ALWAYS_OPEN = ("/healthz", "/readyz")
"""Paths that are answered while the service starts and stops, too."""
INTERRUPT_S = 2.0
"""Seconds that interrupted requests have to send their last message."""
WAITING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""Of a page that has its style in itself, since no file can be asked for."""
RETRY_S = 5
"""Seconds after which another process will probably have taken over."""


class Interrupted(Busy):
    """The service stopped before the answer was complete; try again."""

    code = "interrupted"


class InFlightRequests:
    """State of the service and its requests in flight; used by one event loop."""

    def __init__(self, state: State = "serving") -> None:
        self.state: State = state
        self._requests: dict[asyncio.Task[None], RequestState] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._requests)

    async def stop(self, *, within_s: float) -> None:
        """Refuse new requests, wait for those in flight, and interrupt the slow ones."""
        self.state = "stopping"
        try:
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        except TimeoutError:
            self.interrupt()
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERRUPT_S):
                    await self._idle.wait()

    def interrupt(self) -> None:
        """End the requests in flight at once."""
        for task, request in self._requests.items():
            if not isinstance(request.refusal, Interrupted):
                request.refusal = interrupted("The service ends before this answer does.")
                task.cancel()

    def add(self, task: asyncio.Task[None], request: RequestState) -> None:
        """Count the request that a task serves."""
        self._requests[task] = request
        self._idle.clear()

    def remove(self, task: asyncio.Task[None]) -> None:
        """Forget the request of a task."""
        del self._requests[task]
        if not self._requests:
            self._idle.set()


class ShutdownMiddleware:
    """Refuses requests before the start and after the end, and counts those in between."""

    def __init__(self, app: ASGIApp, *, requests: InFlightRequests) -> None:
        self.app = app
        self.requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection, to its end or until the service ends."""
        if scope["type"] != "http" or scope["path"] in ALWAYS_OPEN:
            await self.app(scope, receive, send)
            return
        request, started = request_state(scope), False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        if self.requests.state != "serving":
            error = interrupted(f"The service is {self.requests.state}.")
            is_page = scope["method"] == "GET" and "text/html" in request.headers.get("accept", "")
            if is_page and self.requests.state == "starting":
                await _waiting_page(error, language=request.language)(scope, receive, send)
            else:
                await send_problem(scope, receive, send, error=error, close=True)
            return
        task = asyncio.current_task()
        assert task is not None
        self.requests.add(task, request)
        try:
            await self.app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if not isinstance(request.refusal, Interrupted) or task.uncancel():
                raise
            if not started:
                await send_problem(scope, receive, send, error=request.refusal, close=True)
        finally:
            self.requests.remove(task)


def _waiting_page(error: Interrupted, *, language: str | None) -> Response:
    """Return a page for a browser, which loads the address again by itself."""
    page = render_page(
        "waiting.html",
        package="quoth.interfaces.http",
        title="quoth",
        language=language or DEFAULT_LANGUAGE,
        text=restate(str(error), language),
    )
    wait = str(RETRY_S)
    headers = {"Refresh": wait, "Retry-After": wait, "Connection": "close"}
    headers["Content-Security-Policy"] = WAITING_POLICY
    return Response(page, 503, headers, media_type="text/html; charset=utf-8")


def interrupted(reason: str) -> Interrupted:
    """Return the error of a request that the service does not finish."""
    return Interrupted(f"{reason} Ask again in a moment.", retry_after_s=RETRY_S)
