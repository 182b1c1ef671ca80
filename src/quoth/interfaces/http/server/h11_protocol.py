"""What one connection may take: time for its request, time to read the answer, its share.

uvicorn bounds neither how long a request may take to arrive nor how many connections are open;
a few thousand that send a byte now and then would otherwise take all there are.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar
from uuid import uuid4

import h11
from starlette.datastructures import MutableHeaders
from uvicorn.protocols.http.h11_impl import H11Protocol

from quoth.core.errors import InputError
from quoth.interfaces.http.middleware.security_headers import add_security_headers
from quoth.interfaces.http.problem_details import problem

HEAD_S = 10.0
"""Seconds that the head of a request may take, from the first byte or the connection on."""
BODY_S = 30.0
"""Seconds of silence in a body that is being sent, and of an answer that nobody reads."""
LOOK_S = 1.0
HEAD_BYTES = 16_384
"""The longest head of a request, its address included."""
NO_REQUEST = (
    "This is no request of HTTP/1.1: something in it is written wrong, the header Host is not "
    f"there exactly once, or its head has more than {HEAD_BYTES // 1024} kB."
)


class MalformedRequest(InputError):
    """What came in over a connection cannot be read as a request."""

    status = 400


class LimitedH11Protocol(H11Protocol):
    """A connection of HTTP/1.1 that is closed when it takes too long, or when there are too many.

    ``most`` and ``open_now`` are those of the one server of a process.
    """

    # Two more names among uvicorn's own, and each connection has a dictionary of 1.5 kB.
    __slots__ = ("head_since", "silent_since")
    head_since: float | None
    silent_since: float
    most: ClassVar[int] = 4096

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to count the time."""
        self.silent_since = monotonic()
        self.head_since = self.silent_since
        super().connection_made(transport)
        slim(self.flow._is_writable_event)
        if len(self.connections) > self.most:
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Note that something came."""
        self.silent_since = monotonic()
        if self.head_since is None and self._resting():
            self.head_since = self.silent_since
        super().data_received(data)
        if not self._resting():
            self.head_since = None
            slim(self.cycle.message_event)

    def on_response_complete(self) -> None:
        """Wait for the next request, for which uvicorn's own time for idle connections counts."""
        super().on_response_complete()
        self.silent_since = monotonic()

    def pause_writing(self) -> None:
        """Begin to count the time that the answer is not read."""
        self.silent_since = monotonic()
        super().pause_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request of HTTP, in the words and headers of every other refusal."""
        request_id = uuid4().hex
        found = problem(MalformedRequest(NO_REQUEST), request_id=request_id)
        length = str(len(found.body))
        headers = MutableHeaders({**found.headers, "connection": "close", "content-length": length})
        add_security_headers(headers, path="", request_id=request_id)
        begins = h11.Response(status_code=found.status, headers=headers.raw)
        with suppress(h11.LocalProtocolError):  # an answer has begun: it can only break off
            for event in (begins, h11.Data(data=found.body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _resting(self) -> bool:
        """Whether no request is under way: the next bytes would be a head's."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def too_slow(self, now: float) -> bool:
        """Whether the other side takes longer than it may."""
        if self._resting():
            return self.head_since is not None and now - self.head_since > HEAD_S
        sends = self.cycle.more_body and not self.flow.read_paused
        waits = sends or self.flow.write_paused
        return bool(waits) and now - self.silent_since > BODY_S


def slim(event: asyncio.Event) -> None:
    """Let those who wait for an event line up in a list: an empty deque takes 700 bytes.

    Each connection has two events, and thousands may be open.
    """
    if not event._waiters:
        event._waiters = []  # type: ignore[assignment]


async def close_slow_connections(connections: set[Any]) -> None:
    """Close the connections that are too slow, for ever."""
    while True:
        await asyncio.sleep(LOOK_S)
        now = monotonic()
        for each in [each for each in connections if isinstance(each, LimitedH11Protocol)]:
            if each.too_slow(now):
                each.transport.abort()
