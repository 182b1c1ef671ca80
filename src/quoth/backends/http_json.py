"""Calls of providers over HTTP with JSON bodies: retries, a time limit and a limit on the answer.

The client connects to the configured host only: no proxy of the environment, no redirects.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from quoth.backends.generators.http_client import is_too_long, open_client
from quoth.backends.http_access import HttpAccess
from quoth.core.errors import BackendError

BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 524, 529)
MAX_WAIT_S = 5.0
MEANINGS: Mapping[int, str] = {
    401: "refuses the key",
    402: "wants a payment",
    403: "refuses the key",
    404: "does not know the model or the address",
}


class JsonClient:
    """Posts JSON to one provider, to which it connects on first use.

    ``error`` makes the errors of its part.
    """

    def __init__(self, access: HttpAccess, *, error: Callable[..., BackendError]) -> None:
        self._access = access
        self._error = error
        self._client: httpx2.AsyncClient | None = None

    async def post(
        self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the reply; raises the part's error, after retries where these may help."""
        try:
            async with asyncio.timeout(self._access.timeout_s):
                return await self._with_retries(path, body, headers)
        except TimeoutError:
            raise self._failure(f"took longer than {self._access.timeout_s:g} s", True) from None

    async def _with_retries(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        attempts = 0
        while True:
            try:
                return await self._post_once(path, body, headers)
            except _Refused as refused:
                attempts += 1
                if not refused.retryable or attempts > self._access.retries:
                    raise self._failure(refused.reason, refused.retryable) from None
                await asyncio.sleep(min(MAX_WAIT_S, refused.wait_s or 0.125 * 2**attempts))

    async def _post_once(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        if self._client is None:
            self._client = open_client(self._access.proxy)
        try:
            reply = await self._client.post(
                self._access.url.rstrip("/") + path, json=body, headers=dict(headers)
            )
            status, content = reply.status_code, reply.content
            wait = reply.headers.get("retry-after", "")
        except httpx2.TransportError as error:
            if is_too_long(error):
                raise _Refused("sends more than any answer is long", False) from error
            raise _Refused("cannot be reached", True) from error
        if status >= 300:
            meaning = MEANINGS.get(status, "refuses the request")
            seconds = float(wait) if wait.replace(".", "", 1).isdigit() else 0.0
            raise _Refused(f"{meaning} (HTTP {status})", status in BUSY, seconds)
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise _Refused("sent something that cannot be read", True)
        return found

    def _failure(self, reason: str, retryable: bool) -> BackendError:
        who = f"{self._access.part} {self._access.provider}:{self._access.model}"
        return self._error(f"The {who} at {self._access.endpoint} {reason}.", retryable=retryable)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class _Refused(Exception):
    """A call that failed; ``wait_s`` is the pause that the provider asks for."""

    def __init__(self, reason: str, retryable: bool, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retryable = retryable
        self.wait_s = wait_s
