"""Connection limits: time for the request, time to read the response, and their number.

uvicorn limits neither the time a request may take to arrive nor the number of connections; a few
thousand slow ones (slowloris) would otherwise exhaust them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Set
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar
from uuid import uuid4

import h11
from starlette.datastructures import MutableHeaders
from uvicorn.protocols.http.h11_impl import H11Protocol

from quoth.core.errors import InputError
from quoth.interfaces.http.middleware.security_headers import add_security_headers
from quoth.interfaces.http.middleware.trusted_host import MAX_HEAD_BYTES
from quoth.interfaces.http.problem_details import problem

HEAD_S = 10.0
"""Seconds that the head of a request may take, from its first byte or the connection on."""
SILENCE_S = 30.0
"""Seconds without a byte of a body that is being sent, or of a response that is being read."""
CHECK_S = 1.0
"""Seconds between two checks of all connections."""
MALFORMED = (
    "This is not a valid HTTP/1.1 request: it is malformed, the header Host is not "
    f"there exactly once, or its head has more than {MAX_HEAD_BYTES // 1024} kB."
)


class MalformedRequest(InputError):
    """The data received cannot be parsed as an HTTP request."""

    status = 400


class LimitedH11Protocol(H11Protocol):
    """An HTTP/1.1 connection that is closed when it is too slow, or one too many."""

    max_connections: ClassVar[int] = 4096
    """Of the one server of a process."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to measure the time."""
        self.last_activity = monotonic()
        self.head_began: float | None = self.last_activity
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Note the time of the bytes."""
        self.last_activity = monotonic()
        if self.head_began is None and self._between_requests():
            self.head_began = self.last_activity
        super().data_received(data)
        if not self._between_requests():
            self.head_began = None

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn's keep-alive timeout applies."""
        super().on_response_complete()
        self.last_activity = monotonic()

    def pause_writing(self) -> None:
        """Begin to measure how long the response is not read."""
        self.last_activity = monotonic()
        super().pause_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse malformed HTTP with a problem response."""
        request_id = uuid4().hex
        found = problem(MalformedRequest(MALFORMED), request_id=request_id)
        length = str(len(found.body))
        headers = MutableHeaders({**found.headers, "connection": "close", "content-length": length})
        add_security_headers(headers, path="", request_id=request_id)
        start = h11.Response(status_code=found.status, headers=headers.raw)
        with suppress(h11.LocalProtocolError):  # a response has begun: it can only break off
            for event in (start, h11.Data(data=found.body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def too_slow(self, now: float) -> bool:
        """Return whether the client exceeds its time limit."""
        if self._between_requests():
            return self.head_began is not None and now - self.head_began > HEAD_S
        receiving = self.cycle.more_body and not self.flow.read_paused
        return (receiving or self.flow.write_paused) and now - self.last_activity > SILENCE_S

    def _between_requests(self) -> bool:
        """Return whether no request is in flight: the next bytes begin a head."""
        return self.cycle is None or bool(self.cycle.response_complete)


async def close_slow_connections(connections: Set[Any]) -> None:
    """Close the connections that are too slow, until cancelled."""
    while True:
        await asyncio.sleep(CHECK_S)
        now = monotonic()
        for connection in list(connections):
            if isinstance(connection, LimitedH11Protocol) and connection.too_slow(now):
                connection.transport.abort()
