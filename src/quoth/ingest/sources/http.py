"""The one way out: fetches an address that somebody gives, and never reaches into the house.

Only http and https, only ports 80 and 443, only numbers of the public internet. A name is
resolved once, every number it gives must be public, and the connection goes to that very number,
so that a name that answers differently the next time gains nothing. Redirects are followed by
hand, at most three, each checked like the first. Bytes are counted as they come, packed and
unpacked; one deadline holds for everything. There are no cookies, no proxies, no passwords.

The protocol is spoken by h11, which uvicorn brings along: streams of asyncio give the deadline
and the choice of the number, which the usual clients keep to themselves.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import h11

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.readers.detect import SUFFIX_FORMATS, text_encoding
from quoth.ingest.sources.url_safety import (
    ParsedUrl,
    display_url,
    is_public,
    target,
)

MOST_MB = 20
"""Bytes that a page may have, as it comes over the wire and unpacked, in millions."""
SECONDS = 20.0
"""Time that everything takes at most: names, connections, redirects, the page itself."""
REDIRECTS = 3
CONNECT_SECONDS = 5.0
NUMBERS = 4
"""Numbers of a host that are tried, one after the other."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the numbers of a host."""
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[str, int, str | None], Awaitable[Stream]]
"""Connects to a number and a port, under TLS for a name where there is one."""

_BLOCK = 1 << 16
_MOVED = frozenset((301, 302, 303, 307, 308))
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/vtt": ".vtt",
    "application/x-subrip": ".srt",
    "text/srt": ".srt",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
}
_OPEN_TYPES = frozenset(("", "text/plain", "application/octet-stream", "binary/octet-stream"))
"""Types that say nothing, so that the name in the address does."""
_NOT_IN_NAMES = re.compile(r"[^\w .()-]+")
_HEADERS = (
    ("User-Agent", "quoth"),
    ("Accept", "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, */*;q=0.5"),
    ("Accept-Encoding", "gzip"),
    ("Connection", "close"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """What an address gave: where it was in the end, its type, its bytes unpacked."""

    address: str
    media_type: str
    charset: str | None
    data: bytes


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page in a file: its ``address`` is what the document's citations link to."""

    path: Path
    media_type: str
    address: str


async def fetch(
    url: str,
    *,
    folder: Path,
    allowed: bool,
    resolve: Resolve | None = None,
    connect: Connect | None = None,
) -> Fetched:
    """Fetch a page or a document into a file of the folder, named after its address.

    ``allowed`` is the setting ``allow_urls``. Raises InputError for an address that is not
    visited, and DocumentError: ``not_found``, ``too_large``, ``unsupported``, ``unreadable``.
    """
    if not allowed:
        raise InputError(
            "Addresses are not fetched here. Set QUOTH_ALLOW_URLS=true to have them fetched, or "
            "download the file, add that, and give its address as its url."
        )
    page = await get(url, resolve=resolve or resolved, connect=connect or connected)
    path = folder / _name(page)

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_in_utf8(page))

    await asyncio.to_thread(write)
    return Fetched(path, page.media_type, page.address)


async def get(
    url: str,
    *,
    resolve: Resolve,
    connect: Connect,
    most_mb: float = MOST_MB,
    seconds: float = SECONDS,
) -> Page:
    """Get what an address gives, over at most three redirects; raises as `fetch` does."""
    at = target(url)
    try:
        async with asyncio.timeout(seconds):
            for _ in range(1 + REDIRECTS):
                got = await _visit(at, resolve=resolve, connect=connect, most=int(most_mb * 1e6))
                if isinstance(got, Page):
                    return got
                at = target(urljoin(at.address, got))
    except TimeoutError:
        raise _unreadable(at, f"did not answer within {seconds:g} s; try again later") from None
    raise _unreadable(at, f"leads on more than {REDIRECTS} times; give the address at the end")


async def resolved(host: str, port: int) -> Sequence[str]:
    """Ask the system for the numbers of a host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def connected(number: str, port: int, name: str | None) -> Stream:
    """Connect to a number, with TLS whose certificate must be that of the name."""
    context = None if name is None else ssl.create_default_context()
    return await asyncio.open_connection(
        number, port, ssl=context, server_hostname=name, limit=_BLOCK
    )


# --- one visit --------------------------------------------------------------------------------


async def _visit(at: ParsedUrl, *, resolve: Resolve, connect: Connect, most: int) -> Page | str:
    """Give the page, or the address to which it has moved."""
    numbers = await _numbers(at, resolve)
    async with _stream(at, numbers, connect=connect) as (reader, writer):
        talk = _HttpExchange(reader, at=at, most=most)
        request = h11.Request(
            method="GET", target=at.path, headers=[("Host", at.authority), *_HEADERS]
        )
        try:
            writer.write(talk.protocol.send(request) or b"")
            writer.write(talk.protocol.send(h11.EndOfMessage()) or b"")
            await writer.drain()
            return await talk.answer()
        except (h11.ProtocolError, zlib.error):
            raise _unreadable(at, "answered with something that is no web page") from None
        except OSError:
            raise _unreadable(at, "broke the connection off; try again later") from None


async def _numbers(at: ParsedUrl, resolve: Resolve) -> Sequence[str]:
    """Resolve the host once; one number that is not public is enough to refuse it."""
    try:
        numbers = await resolve(at.host, at.port)
    except (OSError, UnicodeError):
        raise _unreadable(at, "has a host that nobody knows; check the address") from None
    if not numbers or not all(is_public(each) for each in numbers):
        raise InputError(
            f"The address “{display_url(at.address)}” is not visited: its host is not "
            "on the public internet."
        )
    return numbers[:NUMBERS]


@asynccontextmanager
async def _stream(
    at: ParsedUrl, numbers: Sequence[str], *, connect: Connect
) -> AsyncIterator[Stream]:
    name = at.host if at.scheme == "https" else None
    for number in numbers:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await connect(number, at.port, name)
            break
        except ssl.SSLError:
            raise _unreadable(at, "has a certificate that is not in order") from None
        except (OSError, TimeoutError):
            continue
    else:
        raise _unreadable(at, "does not take the connection; try again later")
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


@dataclass(slots=True)
class _HttpExchange:
    """One answer while it comes in."""

    reader: asyncio.StreamReader
    at: ParsedUrl
    most: int
    protocol: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.CLIENT, max_incomplete_event_size=_BLOCK)
    )
    taken: int = 0

    async def answer(self) -> Page | str:
        """Read the head of the answer, and its body if it is the page."""
        head = await self._next()
        while isinstance(head, h11.InformationalResponse):
            head = await self._next()
        if not isinstance(head, h11.Response):
            raise _unreadable(self.at, "gave no answer")
        headers = {name.decode(): value.decode("utf-8", "replace") for name, value in head.headers}
        if head.status_code in _MOVED and headers.get("location"):
            return headers["location"]
        if head.status_code != 200:
            raise _status_error(self.at, head.status_code)
        kind, charset = _media_type(headers.get("content-type", ""))
        _suffix(kind, self.at)
        if int(headers.get("content-length", "0")) > self.most:
            raise self._too_large()
        unpack = _unpacker(headers.get("content-encoding", ""), self.at)
        data = bytearray()
        while isinstance(event := await self._next(), h11.Data):
            data += unpack(bytes(event.data), self.most + 1 - len(data))
            if len(data) > self.most:
                raise self._too_large()
        return Page(self.at.address, kind, charset, bytes(data))

    async def _next(self) -> Any:
        while (event := self.protocol.next_event()) is h11.NEED_DATA:
            block = await self.reader.read(_BLOCK)
            self.taken += len(block)
            # What frames the bytes counts too, so that a page in very small pieces has an end.
            if self.taken > self.most + max(_BLOCK, self.most // 2):
                raise self._too_large()
            self.protocol.receive_data(block)
        return event

    def _too_large(self) -> DocumentError:
        return DocumentError(
            "too_large",
            f"The page at “{display_url(self.at.address)}” has more than {self.most / 1e6:g} MB. "
            "Download it and add the file.",
        )


def _unpacker(encoding: str, at: ParsedUrl) -> Callable[[bytes, int], bytes]:
    """Give what unpacks a piece of the body, into so many bytes at most."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda block, most: block[:most]
        case "gzip" | "x-gzip":
            packed = zlib.decompressobj(zlib.MAX_WBITS | 32)
            return lambda block, most: packed.decompress(block, max(1, most))
        case _:
            raise _unreadable(at, "is packed in a way that was not asked for")


# --- what came --------------------------------------------------------------------------------


def _media_type(text: str) -> tuple[str, str | None]:
    kind, _, rest = text.partition(";")
    charset = re.search(r"charset=\"?([\w.:-]{1,40})", rest[:200], re.IGNORECASE)
    return kind.strip().lower()[:100], charset[1].lower() if charset else None


def _suffix(kind: str, at: ParsedUrl) -> str:
    """Give the suffix for a type; raises DocumentError where quoth cannot read it."""
    if kind in _SUFFIXES:
        return _SUFFIXES[kind]
    named = Path(unquote(at.path.partition("?")[0])).suffix.lower()
    if kind in _OPEN_TYPES and named in SUFFIX_FORMATS:
        return named
    if kind == "text/plain":
        return ".txt"
    raise DocumentError(
        "unsupported",
        f"“{display_url(at.address)}” is of the type {kind or 'that it does not tell'}, which "
        "cannot be read. quoth reads web pages, PDF, Markdown, plain text and transcripts.",
    )


def _name(page: Page) -> str:
    """Make the name of a file: the last step of the address, else its host."""
    at = target(page.address)
    suffix = _suffix(page.media_type, at)
    steps = [each for each in unquote(at.path.partition("?")[0]).split("/") if each]
    stem = Path(steps[-1]).stem if steps else at.host
    return (_NOT_IN_NAMES.sub(" ", stem).strip(" .")[:100] or "page") + suffix


def _in_utf8(page: Page) -> bytes:
    """Write a text as UTF-8 where the server says that it is something else."""
    encoding = text_encoding(page.charset or "utf-8")
    is_text = page.media_type.startswith(("text/", "application/xhtml"))
    if not is_text or encoding in (None, "utf-8", "ascii"):
        return page.data
    return page.data.decode(encoding, "replace").encode("utf-8", "replace")


def _status_error(at: ParsedUrl, status: int) -> DocumentError:
    if status in (404, 410):
        return DocumentError(
            "not_found", f"There is no page at “{display_url(at.address)}”. Check the address."
        )
    if status in (401, 403):
        return _unreadable(at, "is not open to everybody; download it and add the file")
    return _unreadable(at, f"answered with the status {status}; try again later")


def _unreadable(at: ParsedUrl, said: str) -> DocumentError:
    return DocumentError("unreadable", f"“{display_url(at.address)}” {said}.")
