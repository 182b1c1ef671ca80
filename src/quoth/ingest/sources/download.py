"""Download large files into a folder: resumed where they broke off, redirects checked.

The host that the operator's settings name is trusted; a redirect to another one is followed only
to the public internet, as `quoth.ingest.sources.http` does.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.sources.http import (
    MOVED,
    Internet,
    PublicNetwork,
    open_response,
    status_error,
)
from quoth.ingest.sources.url_safety import PORTS, ParsedUrl, display_url, target

REDIRECTS = 5
STALL_SECONDS = 60.0
"""Longest wait for headers, and for the next part of a file."""
ATTEMPTS = 4
"""Attempts in a row that bring nothing."""
WAIT_SECONDS = 1.0
MAX_JSON_BYTES = 10_000_000
HEADERS = {"User-Agent": "quoth", "Accept-Encoding": "identity", "Connection": "close"}
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that the settings name, as in ``https://huggingface.co``."""

    url: str
    internet: Internet = field(default_factory=Internet)
    wait_seconds: float = WAIT_SECONDS

    def parsed(self, url: str) -> ParsedUrl:
        """Parse an address; only this server may have a port of its own; raises InputError."""
        parts, own = urlsplit(url), urlsplit(self.url)
        if (parts.scheme, parts.netloc) != (own.scheme, own.netloc):
            return target(url)
        try:
            port = parts.port or PORTS[parts.scheme]
        except (KeyError, ValueError):
            raise InputError(f"The address “{display_url(self.url)}” is not http(s).") from None
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        return ParsedUrl(parts.scheme, parts.hostname or "", port, path)

    def trusts(self, at: ParsedUrl) -> bool:
        """Return whether an address is of this server."""
        own = self.parsed(self.url)
        return (own.scheme, own.host, own.port) == (at.scheme, at.host, at.port)


async def get_json(server: Server, path: str) -> dict[str, Any]:
    """Return the JSON object at a path of the server; raises DocumentError and InputError."""
    async with _final(server, server.url + path, headers=HEADERS) as (at, status, _, blocks):
        if status != 200:
            raise status_error(at, status)
        data = bytearray()
        async for block in _parts(at, blocks):
            data += block
            if len(data) > MAX_JSON_BYTES:
                raise _broken(at, "sent more than a list of files is long")
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _broken(at, "did not answer with JSON")
    return found


async def download(
    server: Server, path: str, *, file: Path, size: int, progress: Callable[[int], None]
) -> None:
    """Bring a file to its ``size`` in bytes, going on from what is there.

    ``progress`` receives the bytes that are there. A connection that breaks is opened again where
    the file ends. Raises DocumentError and InputError; what has arrived stays.
    """
    failures = 0
    while (have := _size(file)) < size:
        try:
            await _append(server, path, file=file, size=size, progress=progress)
        except DocumentError:
            failures = failures + 1 if _size(file) <= have else 0
            if failures >= ATTEMPTS:
                raise
            await asyncio.sleep(server.wait_seconds * 2**failures)


async def _append(
    server: Server, path: str, *, file: Path, size: int, progress: Callable[[int], None]
) -> None:
    have = _size(file)
    headers = HEADERS | ({"Range": f"bytes={have}-"} if have else {})
    async with _final(server, server.url + path, headers=headers) as (at, status, names, blocks):
        if 400 <= status < 500 and status not in (408, 429):
            raise InputError(str(status_error(at, status)))  # asking again will not help
        if status not in (200, 206):
            raise status_error(at, status)
        told = RANGE.fullmatch(names.get("content-range", ""))
        if status == 206 and (told is None or int(told[1]) != have):
            raise _broken(at, "sent another part of the file than was asked for")
        start = have if status == 206 else 0  # a server without ranges begins again
        with file.open("r+b" if start else "wb") as out:
            out.seek(start)
            async for block in _parts(at, blocks):
                start += len(block)
                if start > size:
                    raise _broken(at, f"sent more than {size:,} bytes")
                await asyncio.to_thread(out.write, block)
                progress(start)
    if start < size:
        raise _broken(at, f"broke off after {start:,} of {size:,} bytes")


@asynccontextmanager
async def _final(
    server: Server, url: str, *, headers: Mapping[str, str]
) -> AsyncIterator[tuple[ParsedUrl, int, Mapping[str, str], AsyncIterator[bytes]]]:
    """Yield the address, status, headers and body behind all redirects."""
    for _ in range(1 + REDIRECTS):
        at = server.parsed(url)
        network = PublicNetwork(at=at, internet=server.internet, trusted=server.trusts(at))
        async with AsyncExitStack() as opened:
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    status, names, blocks = await opened.enter_async_context(
                        open_response(at, network=network, headers=headers)
                    )
            except TimeoutError:
                raise _broken(at, f"did not answer within {STALL_SECONDS:g} s") from None
            if status not in MOVED or not names.get("location"):
                yield at, status, names, blocks
                return
            url = urljoin(at.address, names["location"])
    raise _broken(at, f"redirects more than {REDIRECTS} times")


async def _parts(at: ParsedUrl, blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                block = await anext(blocks)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _broken(at, f"sent nothing for {STALL_SECONDS:g} s") from None
        yield block


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _broken(at: ParsedUrl, said: str) -> DocumentError:
    return DocumentError("unreadable", f"“{display_url(at.address)}” {said}.")
