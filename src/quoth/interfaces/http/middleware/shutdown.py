"""How the service ends: nothing new is begun, what was begun is finished or told that it is not.

A stream that does not end in time gets a last event with the code ``interrupted``, in place of a
torn connection; every other answer is a whole one, or a refusal that says when to come again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.security_headers import add_security_headers, request_id_of
from quoth.interfaces.http.openai_schemas import SPOKEN, spoken_at
from quoth.interfaces.http.problem_details import ProblemResponse, as_response, problem

State = Literal["starting", "serving", "stopping"]
STILL_OPEN = ("/healthz", "/readyz")
"""What is answered while the service starts and stops, too."""
LAST_WORDS_S = 2.0
"""Seconds for those who are interrupted to be told."""
COME_AGAIN_S = 5
"""Seconds after which another process will probably have taken over."""


class Interrupted(Busy):
    """The service ended before the answer did; ask again."""

    code = "interrupted"


class InFlightRequests:
    """Whether the service takes requests, and those under way; one event loop uses it."""

    def __init__(self, state: State = "serving") -> None:
        self.state: State = state
        self._under_way: dict[asyncio.Task[None], InterruptibleSend] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def under_way(self) -> int:
        """Requests that are not answered to the end."""
        return len(self._under_way)

    async def stop(self, *, within_s: float) -> None:
        """Take nothing new, wait for what is under way, and interrupt what takes longer."""
        self.state = "stopping"
        try:
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        except TimeoutError:
            self.interrupt()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_S):
                    await self._idle.wait()

    def interrupt(self) -> None:
        """End what is under way, at once."""
        for task, telling in self._under_way.items():
            if not telling.interrupted:
                telling.interrupted = True
                task.cancel()

    def came(self, telling: InterruptibleSend) -> None:
        """Note a request of the current task."""
        task = asyncio.current_task()
        assert task is not None
        self._under_way[task] = telling
        self._idle.clear()

    def left(self) -> None:
        """Note that the current task's request has its answer."""
        task = asyncio.current_task()
        assert task is not None
        del self._under_way[task]
        if not self._under_way:
            self._idle.set()


class ShutdownMiddleware:
    """Refuses what comes before the start and after the end, and counts what is in between."""

    def __init__(self, app: ASGIApp, *, presence: InFlightRequests) -> None:
        self.app = app
        self.presence = presence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, to the end or to the point where the service ends."""
        if scope["type"] != "http" or scope["path"] in STILL_OPEN:
            await self.app(scope, receive, send)
            return
        telling = InterruptibleSend(scope, receive, send)
        if self.presence.state != "serving":
            await telling.refuse(f"The service is {self.presence.state}. Try again in a moment.")
            return
        self.presence.came(telling)
        try:
            await self.app(scope, receive, telling.send)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not telling.interrupted or task is None or task.uncancel():
                raise
            await telling.send_final_event()
        finally:
            self.presence.left()


class InterruptibleSend:
    """What one request has been told so far."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.interrupted = False
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun = False
        self._streams = False
        self._whole = False

    async def send(self, message: Message) -> None:
        """Pass on a message of the answer, unless it was interrupted."""
        if self.interrupted:
            return
        if message["type"] == "http.response.start":
            self._begun = True
            kinds = [text for name, text in message["headers"] if name.lower() == b"content-type"]
            self._streams = any(text.startswith(b"text/event-stream") for text in kinds)
        elif not message.get("more_body", False):
            self._whole = True
        await self._send(message)

    async def refuse(self, why: str) -> None:
        """Say that nothing can be begun now, and hang up."""
        response = as_response(spoken_at(self._scope["path"], self._problem(why)))
        response.headers["connection"] = "close"
        add_security_headers(
            response.headers, path=self._scope["path"], request_id=self._request_id
        )
        await response(self._scope, self._receive, self._send)

    async def send_final_event(self) -> None:
        """End an answer that was interrupted, in its own form."""
        if self._whole:
            return
        why = "The service ends before this answer does. Ask again in a moment."
        if not self._begun:
            await self.refuse(why)
        elif self._streams:
            event = last_event(self._problem(why), path=self._scope["path"])
            await self._send({"type": "http.response.body", "body": event})

    def _problem(self, why: str) -> ProblemResponse:
        error = Interrupted(why, retry_after_s=COME_AGAIN_S)
        return problem(error, request_id=self._request_id)

    @property
    def _request_id(self) -> str:
        state = self._scope.get("state", {})
        return str(state.get("request_id") or request_id_of(Headers(scope=self._scope)))


def last_event(told: ProblemResponse, *, path: str) -> bytes:
    """Write the event with which a stream that was asked for at this address breaks off."""
    name = b"" if SPOKEN.fullmatch(path) else b"event: error\n"
    return b"%sdata: %s\n\n" % (name, spoken_at(path, told).body)
