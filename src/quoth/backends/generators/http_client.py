"""HTTP client for language models: configured proxy only, no redirects, a size limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import httpx2

from quoth.core.errors import ConfigError

CONNECT_S = 3.0
SILENCE_S = 120.0
"""The longest wait for the next byte; the caller sets a tighter limit for the whole."""
MAX_BYTES = 4 << 20
"""Of one body as it travels: ten thousand tokens, each in an event of its own."""
certificates = cache(httpx2.create_ssl_context)
"""The authorities that this system trusts, read once."""
_collected: ContextVar[list[httpx2.Response] | None] = ContextVar("_collected", default=None)


class BodyTooLong(httpx2.TransportError):
    """A response body exceeds the limit, or its length cannot be determined."""


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._stream:
            size += len(data)
            if size > MAX_BYTES:
                raise BodyTooLong(f"The body is longer than {MAX_BYTES} bytes.")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def collect_responses(responses: list[httpx2.Response]) -> Iterator[None]:
    """Collect the responses started in this block, so that the caller can close them.

    Not every library closes its connection when the reader stops.
    """
    token = _collected.set(responses)
    try:
        yield
    finally:
        _collected.reset(token)


def open_client(proxy: str | None) -> httpx2.AsyncClient:
    """Open a client that connects to the configured host only; raises ConfigError.

    A proxy from the environment would receive the texts without being in quoth's settings, and a
    redirect would send them to another host. Certificates are the system's.
    """
    try:
        return httpx2.AsyncClient(
            proxy=proxy,
            trust_env=False,
            follow_redirects=False,
            verify=certificates(),
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
            # A compressed body may be a thousand times as long as what is counted.
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_on_response]},
        )
    except ValueError:
        raise ConfigError("The setting 'llm_proxy' is no address of a proxy.") from None


def is_too_long(error: BaseException | None) -> bool:
    """Return whether an error was raised because a body did not end."""
    while error is not None and not isinstance(error, BodyTooLong):
        error = error.__cause__ or error.__context__
    return error is not None


async def _on_response(response: httpx2.Response) -> None:
    responses = _collected.get()
    if responses is not None:
        responses.append(response)
    if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
        raise BodyTooLong("The body is compressed although it was requested as it is.")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _LimitedStream(response.stream)
