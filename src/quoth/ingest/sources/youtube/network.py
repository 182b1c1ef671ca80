"""The requests of the YouTube libraries, sent by the one client that goes out, to YouTube alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urljoin

from quoth.core.errors import InputError
from quoth.ingest.sources.http import MOVED, REDIRECTS, Internet, RawResponse, exchange
from quoth.ingest.sources.url_safety import display_url, target
from quoth.text.recordings import is_youtube_host

MAX_RESPONSE_MB = 20
_NOT_SENT = frozenset(("host", "connection", "accept-encoding", "content-length"))


class YouTubeClient:
    """Sends requests from a worker thread, where the libraries run."""

    def __init__(self, internet: Internet) -> None:
        self._internet = internet

    def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[str, RawResponse]:
        """Return the final address and the response, over at most three redirects.

        Raises InputError for another host, and DocumentError.
        """
        sent = {name: value for name, value in headers.items() if name.lower() not in _NOT_SENT}
        sent |= {"Accept-Encoding": "identity", "Connection": "close"}
        for _ in range(1 + REDIRECTS):
            if not is_youtube_host(target(url).host):
                raise InputError(f"“{display_url(url)}” is not visited: it is not YouTube.")
            response = asyncio.run(
                exchange(
                    method,
                    url,
                    headers=sent,
                    body=body,
                    internet=self._internet,
                    max_mb=MAX_RESPONSE_MB,
                )
            )
            location = response.headers.get("location")
            if response.status not in MOVED or not location:
                return url, response
            url = urljoin(url, location)
            if response.status == 303:
                method, body = "GET", b""
        raise InputError(f"“{display_url(url)}” redirects too often.")
