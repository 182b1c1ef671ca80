"""Server-sent events: the events of an answer, each as soon as it is there.

The names and the data are those of the command line's machine output. A stream ends with `done`
or with `error`; a client that goes away ends the work on its answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quoth.core.errors import Busy, QuothError
from quoth.interfaces.http.problem_details import problem
from quoth.interfaces.http.responses import as_bytes, to_public

PING_S = 15.0
"""Seconds of silence after which a comment is sent, so that nobody on the way hangs up."""
LAST_WORDS_S = 1.0
"""Seconds that a stream which breaks off may take to say so."""
BROKEN_OFF = Busy("The answer broke off before it was whole. Ask again.")


class SseMessage(Protocol):
    """A value that is sent as an event; its field ``event`` is the name."""

    @property
    def event(self) -> str:
        """The name under which it is sent."""


class Say(Protocol):
    """Sends a piece of the stream."""

    async def __call__(self, text: bytes, *, more: bool = True) -> None:
        """Send it; ``more`` false ends the stream."""


class EventStream(Response):
    """A response that sends the events of an answer, and closes them whatever happens.

    ``first`` is the one that was taken from ``events`` already.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[SseMessage, None],
        *,
        first: SseMessage,
        request_id: str,
        status_code: int = 200,
    ) -> None:
        super().__init__(
            status_code=status_code,
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )
        del self.headers["content-length"]
        self.first = first
        self.events = events
        self.request_id = request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or nobody listens any more."""
        alone = anyio.Lock()

        async def say(text: bytes, *, more: bool = True) -> None:
            async with alone:
                await send({"type": "http.response.body", "body": text, "more_body": more})

        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        async with aclosing(self.events):
            await send(start)
            async with anyio.create_task_group() as group:
                group.start_soon(_watch_disconnect, receive, group.cancel_scope)
                group.start_soon(_keep_alive, say)
                await self._send_all(say)
                group.cancel_scope.cancel()

    async def _send_all(self, say: Say) -> None:
        whole = False
        try:
            await say(written(self.first))
            async for event in self.events:
                await say(written(event))
            await say(b"", more=False)
            whole = True
        except QuothError as error:
            await say(self._failed(error), more=False)
            whole = True
        finally:
            if not whole:
                with anyio.move_on_after(LAST_WORDS_S, shield=True):
                    await say(self._failed(BROKEN_OFF), more=False)

    def _failed(self, error: QuothError) -> bytes:
        return one_event("error", problem(error, request_id=self.request_id).body)


def written(event: SseMessage) -> bytes:
    """Write an event with all that it holds."""
    return one_event(event.event, as_bytes(to_public(event)))


def one_event(name: str, data: bytes) -> bytes:
    """Write one event; ``data`` is JSON on one line."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


async def _watch_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _keep_alive(say: Say) -> None:
    while True:
        await anyio.sleep(PING_S)
        await say(b": still at it\n\n")
