"""Ends an answer that does not end, before it fills the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

MOST_BYTES = 4 << 20
"""Of one body as it travels: ten thousand tokens, each in an event of its own."""
PLAIN = {"Accept-Encoding": "identity"}
"""A packed body may be a thousand times as long as what was counted."""


class BodyTooLong(httpx2.TransportError):
    """A body is longer than any answer, or its length cannot be known."""


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for data in self._stream:
            seen += len(data)
            if seen > self._most:
                raise BodyTooLong(f"The body is longer than {self._most} bytes.")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


def cap_bodies(most: int = MOST_BYTES) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make the hook for a client's responses that ends a body after ``most`` bytes.

    Whoever reads on gets `BodyTooLong`. Bodies must come as they are (`PLAIN`).
    """

    async def cap(response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
            raise BodyTooLong("The body is packed although it was asked for as it is.")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Capped(response.stream, most=most)

    return cap


def is_too_long(error: BaseException | None) -> bool:
    """Say whether an error was raised because a body did not end."""
    while error is not None and not isinstance(error, BodyTooLong):
        error = error.__cause__ or error.__context__
    return error is not None
