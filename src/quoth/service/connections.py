"""What one connection may take: time for its request, time to read the answer, its share.

uvicorn bounds neither how long a request may take to arrive nor how many connections are open;
a few thousand that send a byte now and then would otherwise take all there are.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""Seconds that the head of a request may take, from the first byte or the connection on."""
BODY_S = 30.0
"""Seconds of silence in a body that is being sent, and of an answer that nobody reads."""
LOOK_S = 1.0


class Bounded(H11Protocol):
    """A connection of HTTP/1.1 that is closed when it takes too long, or when there are too many.

    ``most`` and ``open_now`` are those of the one server of a process.
    """

    most: ClassVar[int] = 4096

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to count the time."""
        self.silent_since = monotonic()
        self.head_since: float | None = self.silent_since
        super().connection_made(transport)
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

    def on_response_complete(self) -> None:
        """Wait for the next request, for which uvicorn's own time for idle connections counts."""
        super().on_response_complete()
        self.silent_since = monotonic()

    def pause_writing(self) -> None:
        """Begin to count the time that the answer is not read."""
        self.silent_since = monotonic()
        super().pause_writing()

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


async def hang_up_on_the_slow(connections: set[Any]) -> None:
    """Close the connections that are too slow, for ever."""
    while True:
        await asyncio.sleep(LOOK_S)
        now = monotonic()
        for each in [each for each in connections if isinstance(each, Bounded)]:
            if each.too_slow(now):
                each.transport.abort()
