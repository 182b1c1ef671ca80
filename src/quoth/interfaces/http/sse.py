"""Server-sent events: the events of an answer, each as soon as it is available.

The names and the data are those of the command line's JSON output. A stream ends with `done` or
with `error`; a client that disconnects ends the work on its answer.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quoth.core.errors import Busy, QuothError
from quoth.core.events import AnswerCompleted, Event, HitsFound, TextAdded
from quoth.interfaces.http.problem_details import problem
from quoth.interfaces.http.request_state import RequestState, request_state
from quoth.interfaces.http.responses import to_json, to_public

PING_S = 15.0
"""Seconds of silence after which a comment is sent, so that no proxy closes the connection."""
LAST_EVENT_S = 1.0
"""Seconds that a stream which breaks off may take to send its last event."""
BROKEN_OFF = Busy("The answer broke off before it was complete. Ask again.")

MARKER = re.compile(r"\[[^\[\]]{1,40}\]")
"""A citation marker, as models write it and as answers hold it."""


class EventStream(Response):
    """A response that sends events, and always closes their generator.

    ``first`` were taken from ``events`` already. ``encode`` writes all events as bytes, and
    ``encode_error`` the error with which a stream ends early, given the request.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[Any, None],
        *,
        status_code: int = 200,  # FastAPI's OpenAPI description reads the default
        first: Iterable[Any] = (),
        encode: Callable[[AsyncGenerator[Any, None]], AsyncGenerator[bytes, None]] | None = None,
        encode_error: Callable[[QuothError, RequestState], bytes] | None = None,
    ) -> None:
        super().__init__(
            status_code=status_code,
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )
        del self.headers["content-length"]
        self.events = events
        self.first = tuple(first)
        self.encode = encode or encode_events
        self.encode_error = encode_error or encode_problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client disconnects."""
        lock, request = anyio.Lock(), request_state(scope)

        async def send_chunk(chunk: bytes, *, more: bool = True) -> None:
            async with lock:
                await send({"type": "http.response.body", "body": chunk, "more_body": more})

        async def send_error(error: QuothError) -> None:
            await send_chunk(self.encode_error(error, request), more=False)

        async with aclosing(self.events), aclosing(self.encode(self._all_events())) as chunks:
            start = {"type": "http.response.start", "status": self.status_code}
            await send({**start, "headers": self.raw_headers})
            async with anyio.create_task_group() as group:
                group.start_soon(_watch_disconnect, receive, group.cancel_scope)
                group.start_soon(_keep_alive, send_chunk)
                ended = False
                try:
                    async for chunk in chunks:
                        await send_chunk(chunk)
                    await send_chunk(b"", more=False)
                    ended = True
                except QuothError as error:
                    await send_error(error)
                    ended = True
                finally:
                    if not ended:
                        with anyio.move_on_after(LAST_EVENT_S, shield=True):
                            await send_error(request.refusal or BROKEN_OFF)
                group.cancel_scope.cancel()

    async def _all_events(self) -> AsyncGenerator[Any, None]:
        for event in self.first:
            yield event
        async for event in self.events:
            yield event


async def until_hits(events: AsyncIterator[Event]) -> list[Event]:
    """Return the events up to the hits: an error before them still has a status of its own."""
    first = []
    async for event in events:
        first.append(event)
        if isinstance(event, HitsFound | AnswerCompleted):
            break
    return first


async def encode_events(events: AsyncIterator[Any]) -> AsyncGenerator[bytes, None]:
    """Encode events with their names, which are their fields ``event``, and data.

    Where the final answer is another text than the one that was sent, an event ``replaced`` with
    the answer's text comes before ``done``: a client drops what it has shown.
    """
    sent = ""
    async for event in events:
        if isinstance(event, TextAdded):
            sent += event.text
        elif isinstance(event, AnswerCompleted) and sent:
            text = event.answer.text
            if _letters(sent) != _letters(text):
                yield encode_event("replaced", to_json({"event": "replaced", "text": text}))
        yield encode_event(event.event, to_json(to_public(event)))


def _letters(text: str) -> str:
    """Return the letters and digits of a text without its citation markers."""
    return "".join(filter(str.isalnum, MARKER.sub("", text)))


def encode_event(name: str, data: bytes) -> bytes:
    """Write one event; ``data`` is JSON on one line."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


def encode_problem(error: QuothError, request: RequestState) -> bytes:
    """Write an error as the last event."""
    found = problem(error, request_id=request.request_id, language=request.language)
    return encode_event("error", found.body)


async def _watch_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _keep_alive(send_chunk: Callable[[bytes], Awaitable[None]]) -> None:
    while True:
        await anyio.sleep(PING_S)
        await send_chunk(b": still at it\n\n")
