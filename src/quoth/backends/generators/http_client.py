"""The connection to a language model: no proxy but the one that is set, no redirects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2

from quoth.backends.generators.response_limit import PLAIN, cap_bodies
from quoth.core.errors import ConfigError

CONNECT_S = 3.0
SILENCE_S = 120.0
"""The longest wait for the next byte; whoever asks sets a tighter limit for the whole."""
_collected: ContextVar[list[httpx2.Response] | None] = ContextVar("_collected", default=None)


@contextmanager
def collecting(responses: list[httpx2.Response]) -> Iterator[None]:
    """Collect the responses that begin within, so that whoever asked can close them.

    Not every library closes its connection when the one who reads goes away.
    """
    token = _collected.set(responses)
    try:
        yield
    finally:
        _collected.reset(token)


async def _collect(response: httpx2.Response) -> None:
    responses = _collected.get()
    if responses is not None:
        responses.append(response)


def open_client(proxy: str | None) -> httpx2.AsyncClient:
    """Open a client that goes to the host that was named and nowhere else.

    A proxy of the environment would read along without being named in quoth's settings, and a
    redirect would take the texts to another host. Certificates are the system's.
    """
    try:
        return httpx2.AsyncClient(
            proxy=proxy,
            trust_env=False,
            follow_redirects=False,
            verify=httpx2.create_ssl_context(trust_env=True),
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
            headers=PLAIN,
            event_hooks={"response": [_collect, cap_bodies()]},
        )
    except ValueError:
        raise ConfigError("The setting 'llm_proxy' is no address of a proxy.") from None
