"""Fetch a URL from the public internet, safe against server-side request forgery (SSRF).

Only http and https on ports 80 and 443. A host is resolved once, every address must be public, and
the connection is made to the checked address, so that DNS rebinding gains nothing. Redirects are
followed by hand, at most three, each checked like the first. The size is limited while the body
arrives, and one deadline covers the whole request. No cookies, no proxies, no compression.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin

import httpcore
from httpcore import AsyncNetworkStream

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.readers.detect import text_encoding
from quoth.ingest.readers.formats import SUFFIX_FORMATS
from quoth.ingest.sources.url_safety import ParsedUrl, display_url, is_public, target

MAX_MB = 20
"""Size of a page at most, in millions of bytes."""
SECONDS = 20.0
"""Total time for names, connections, redirects and the page."""
REDIRECTS = 3
CONNECT_SECONDS = 5.0
MAX_ADDRESSES = 4
"""Addresses of a host that are tried, one after the other."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Return the IP addresses of a host."""
Connect = Callable[[str, int], Awaitable[AsyncNetworkStream]]
"""Open a TCP connection to an IP address and port."""

tls_context = cache(ssl.create_default_context)
"""The authorities that this system trusts, read once: that takes as long as a page."""
MOVED = frozenset((301, 302, 303, 307, 308))
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/vtt": ".vtt",
    **dict.fromkeys(("application/x-subrip", "application/srt", "text/srt"), ".srt"),
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "application/rss+xml": ".xml",
    "application/atom+xml": ".xml",
}
_GENERIC_TYPES = frozenset(("", "text/plain", "application/octet-stream", "binary/octet-stream"))
"""Types that say nothing, so that the name in the address decides."""
_NOT_IN_NAMES = re.compile(r"[^\w .()-]+")
_HEADERS: Mapping[str, str] = {
    "User-Agent": "quoth",
    "Accept": "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, */*;q=0.5",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A response: its final address, type and body.

    ``etag`` and ``modified`` are what the server names this version by, empty without a name. A
    page that is ``unchanged`` since the version that was named has no body.
    """

    address: str
    media_type: str
    charset: str | None
    data: bytes
    etag: str = ""
    modified: str = ""
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A response as it came, whatever its status; the names of ``headers`` are in small letters."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class PublicNetwork(httpcore.AsyncNetworkBackend):
    """Connects only to hosts whose addresses are all public, unless a setting names the host."""

    def __init__(self, *, at: ParsedUrl, internet: Internet, trusted: bool = False) -> None:
        self._at = at
        self._internet = internet
        self._trusted = trusted

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Resolve the host once and connect to the first address that accepts."""
        for address in await self._addresses(host, port):
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await self._internet.connect(address, port)
            except (OSError, TimeoutError, httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        raise _unreadable(self._at, "does not accept the connection; try again later")

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            addresses = await self._internet.resolve(host, port)
        except (OSError, UnicodeError):
            raise _unreadable(self._at, "has an unknown host; check the address") from None
        if not self._trusted and not all(is_public(address) for address in addresses or [""]):
            raise InputError(
                f"The address “{display_url(self._at.address)}” is not visited: its host is not "
                "on the public internet."
            )
        return addresses[:MAX_ADDRESSES]


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses that the system knows for a host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


async def connect_to(address: str, port: int) -> AsyncNetworkStream:
    """Open a TCP connection to an IP address."""
    return await httpcore.AnyIOBackend().connect_tcp(address, port)


@dataclass(frozen=True, slots=True)
class Internet:
    """How hosts are resolved and connected to; only tests take another one."""

    resolve: Resolve = resolve_host
    connect: Connect = connect_to


async def get(
    url: str,
    *,
    internet: Internet,
    max_mb: float = MAX_MB,
    seconds: float = SECONDS,
    etag: str = "",
    modified: str = "",
    any_type: bool = False,
) -> Page:
    """Return the page at an address, over at most three redirects.

    ``etag`` and ``modified`` name the caller's version; ``any_type`` is whether it may be no page.
    Raises InputError for an address that is not visited, and DocumentError: ``not_found``,
    ``too_large``, ``unsupported``, ``unreadable``.
    """
    at = target(url)
    known = {"If-None-Match": etag, "If-Modified-Since": modified}
    headers = {**_HEADERS, **{name: value for name, value in known.items() if value}}
    try:
        async with asyncio.timeout(seconds):
            for _ in range(1 + REDIRECTS):
                network = PublicNetwork(at=at, internet=internet)
                limit = int(max_mb * 1e6)
                page = await _visit(at, network, limit, headers=headers, any_type=any_type)
                if isinstance(page, Page):
                    return page
                at = target(urljoin(at.address, page))
    except TimeoutError:
        raise _unreadable(at, f"did not answer within {seconds:g} s; try again later") from None
    raise _unreadable(at, f"redirects more than {REDIRECTS} times; give the final address")


async def exchange(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes = b"",
    internet: Internet,
    max_mb: float = MAX_MB,
) -> RawResponse:
    """Send one request and return its response, also of a redirect or an error.

    Raises InputError for an address that is not visited, and DocumentError.
    """
    at = target(url)
    network = PublicNetwork(at=at, internet=internet)
    try:
        async with (
            asyncio.timeout(SECONDS),
            open_response(at, network=network, headers=headers, method=method, body=body) as (
                status,
                names,
                blocks,
            ),
        ):
            return RawResponse(status, names, await _body(at, blocks, max_bytes=int(max_mb * 1e6)))
    except TimeoutError:
        raise _unreadable(at, f"did not answer within {SECONDS:g} s; try again later") from None


async def _visit(
    at: ParsedUrl,
    network: PublicNetwork,
    max_bytes: int,
    *,
    headers: Mapping[str, str],
    any_type: bool,
) -> Page | str:
    """Return the page, or the address of a redirect."""
    async with open_response(at, network=network, headers=headers) as (status, names, blocks):
        if status in MOVED and names.get("location"):
            return names["location"]
        version = names.get("etag", ""), names.get("last-modified", "")
        if status == 304:
            return Page(at.address, "", None, b"", *version, unchanged=True)
        if status != 200:
            raise status_error(at, status)
        if names.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise _unreadable(at, "is compressed, which was not asked for")
        kind, charset = _media_type(names.get("content-type", ""))
        if not any_type:
            _suffix(kind, at)
        if int(names.get("content-length", "0")) > max_bytes:
            raise _too_large(at, max_bytes)
        data = await _body(at, blocks, max_bytes=max_bytes)
        return Page(at.address, kind, charset, data, *version)


@asynccontextmanager
async def open_response(
    at: ParsedUrl,
    *,
    network: PublicNetwork,
    headers: Mapping[str, str],
    method: str = "GET",
    body: bytes = b"",
) -> AsyncIterator[tuple[int, dict[str, str], AsyncIterator[bytes]]]:
    """Send a request; yields the status, the headers and the body while it arrives."""
    pool = httpcore.AsyncConnectionPool(ssl_context=tls_context(), network_backend=network)
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    try:
        async with (
            pool,
            pool.stream(method, at.address, headers=list(sent.items()), content=body) as response,
        ):
            names = {
                name.decode("latin-1").lower(): value.decode("utf-8", "replace")
                for name, value in response.headers
            }
            yield response.status, names, response.aiter_stream()
    except (httpcore.ProtocolError, UnicodeError):
        raise _unreadable(at, "did not answer with a web page") from None
    except (httpcore.NetworkError, OSError) as error:
        if _is_tls_error(error):
            raise _unreadable(at, "has an invalid certificate") from None
        raise _unreadable(at, "broke the connection; try again later") from None


async def _body(at: ParsedUrl, blocks: AsyncIterator[bytes], *, max_bytes: int) -> bytes:
    data = bytearray()
    async for block in blocks:
        data += block
        if len(data) > max_bytes:
            raise _too_large(at, max_bytes)
    return bytes(data)


def _is_tls_error(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _too_large(at: ParsedUrl, max_bytes: int) -> DocumentError:
    return DocumentError(
        "too_large",
        f"The page at “{display_url(at.address)}” has more than {max_bytes / 1e6:g} MB. "
        "Download it and add the file.",
    )


def _media_type(text: str) -> tuple[str, str | None]:
    kind, _, rest = text.partition(";")
    charset = re.search(r"charset=\"?([\w.:-]{1,40})", rest[:200], re.IGNORECASE)
    return kind.strip().lower()[:100], charset[1].lower() if charset else None


def _suffix(kind: str, at: ParsedUrl) -> str:
    """Return the suffix for a type; raises DocumentError where quoth cannot read it."""
    if kind in _SUFFIXES:
        return _SUFFIXES[kind]
    named = Path(unquote(at.path.partition("?")[0])).suffix.lower()
    if kind in _GENERIC_TYPES and named in SUFFIX_FORMATS:
        return named
    if kind == "text/plain":
        return ".txt"
    raise DocumentError(
        "unsupported",
        f"“{display_url(at.address)}” has the type {kind or 'unknown'}, which cannot be "
        "read. quoth reads web pages, PDF, Markdown, plain text and transcripts.",
    )


def page_suffix(page: Page) -> str:
    """Return the suffix of a page's file."""
    return _suffix(page.media_type, target(page.address))


def page_name(page: Page) -> str:
    """Return a file name: the last step of the address, else its host."""
    at = target(page.address)
    suffix = _suffix(page.media_type, at)
    steps = [step for step in unquote(at.path.partition("?")[0]).split("/") if step]
    stem = Path(steps[-1]).stem if steps else at.host
    return (_NOT_IN_NAMES.sub(" ", stem).strip(" .")[:100] or "page") + suffix


def in_utf8(page: Page) -> bytes:
    """Return the body as UTF-8 where the server names another encoding."""
    encoding = text_encoding(page.charset or "utf-8")
    is_text = page.media_type.startswith(("text/", "application/xhtml"))
    if not is_text or encoding in (None, "utf-8", "ascii"):
        return page.data
    return page.data.decode(encoding, "replace").encode("utf-8", "replace")


def status_error(at: ParsedUrl, status: int) -> DocumentError:
    """Return the error for a status that is not the wanted one."""
    if status in (404, 410):
        return DocumentError(
            "not_found", f"There is no page at “{display_url(at.address)}”. Check the address."
        )
    if status in (401, 403):
        return _unreadable(at, "needs a login; download it and add the file")
    return _unreadable(at, f"answered with the status {status}; try again later")


def _unreadable(at: ParsedUrl, said: str) -> DocumentError:
    return DocumentError("unreadable", f"“{display_url(at.address)}” {said}.")
