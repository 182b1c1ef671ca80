"""Fetch the pages of a site, from an address over links on its host, or the entries of a feed."""

from __future__ import annotations

import asyncio
import mimetypes
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urldefrag, urlsplit
from urllib.robotparser import RobotFileParser

from quoth.core.errors import DocumentError, InputError
from quoth.core.extras import is_installed
from quoth.ingest.readers.feed import is_feed
from quoth.ingest.readers.media import MEDIA_SUFFIXES
from quoth.ingest.readers.page_links import FeedEntry, PageLinks
from quoth.ingest.sources.http import MAX_MB, SECONDS, Internet, Page, get, in_utf8, page_suffix
from quoth.ingest.sources.mirror import FetchedItem, Mirror, MirroredItem, SourceListing
from quoth.ingest.sources.url_safety import display_url, target

AGENT = "quoth"
MAX_PAUSE_S = 30.0
MAX_ROBOTS_MB = 0.5
MAX_SITEMAPS = 20
RECORDING_MB, RECORDING_S = 300.0, 600.0
"""Size and time of a recording at most."""
SPEECH = "pip install 'quoth[speech]'"
_SKIPPED_TYPES = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript")

ReadLinks = Callable[[Path, str], Awaitable[PageLinks]]
"""Read the links of a file that was fetched from an address, in the sandbox."""


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How far a crawl goes: links from the first page, pages, megabytes, seconds between two."""

    depth: int = 0
    max_pages: int = 200
    max_mb: float = 200.0
    pause_s: float = 1.0


@dataclass(slots=True)
class _Crawl:
    """The state of one crawl."""

    start: str
    mirror: Mirror
    limits: CrawlLimits
    internet: Internet
    read_links: ReadLinks
    robots: RobotFileParser
    bytes: int = 0
    waits: bool = False
    queue: deque[tuple[str, int]] = field(default_factory=deque)
    seen: set[str] = field(default_factory=set)
    whole: bool = True
    """Whether everything was visited, so that what was not listed is gone."""
    entries: dict[str, FeedEntry] = field(default_factory=dict)
    """The entries of the feed that the crawl began with, by their addresses, on any host."""
    silent: int = 0
    """Recordings of the feed that are left out, since nothing here transcribes them."""

    def enqueue(self, links: tuple[str, ...], *, depth: int, below: str = "") -> None:
        """Queue the addresses of the same host that may be visited, each once."""
        host = _host(self.start)
        for link in links:
            try:
                address = target(link).address
            except InputError:
                continue
            kind, _ = mimetypes.guess_type(urlsplit(address).path)
            wanted = not (kind or "").startswith(_SKIPPED_TYPES)
            inside = _host(address) == host and address.startswith(below)
            if wanted and inside and address not in self.seen:
                self.seen.add(address)
                if self.robots.can_fetch(AGENT, address):
                    self.queue.append((address, depth))

    async def visit(
        self,
        address: str,
        *,
        max_mb: float = MAX_MB,
        recording: bool = False,
        etag: str = "",
        modified: str = "",
    ) -> Page:
        """Fetch a page after the pause between two requests."""
        if self.waits:
            asked = float(self.robots.crawl_delay(AGENT) or 0)
            await asyncio.sleep(min(MAX_PAUSE_S, max(asked, self.limits.pause_s)))
        self.waits = True
        page = await get(
            address,
            internet=self.internet,
            max_mb=RECORDING_MB if recording else max_mb,
            seconds=RECORDING_S if recording else SECONDS,
            any_type=recording,
            etag=etag,
            modified=modified,
        )
        self.bytes += len(page.data)
        return page


async def crawl(
    address: str,
    *,
    mirror: Mirror,
    limits: CrawlLimits,
    read_links: ReadLinks,
    internet: Internet | None = None,
    drop_gone: bool = False,
    warn: Callable[[str], None] = lambda _line: None,
) -> AsyncGenerator[FetchedItem, None]:
    """Fetch a page, and with a depth the pages of its host that it leads to; yields each.

    A page is asked for by the version that the mirror has, and its file stays where it has not
    changed. The entries of a feed are visited once each, and stay when they leave it. With a depth,
    robots.txt decides what is visited, and the pages of the sitemap below
    the folder of the address count as linked by it. With ``drop_gone`` the files of pages that are
    gone are deleted at the end. Raises InputError for an address that is not visited.
    """
    start = target(address).address
    robots = RobotFileParser()
    robots.parse([])
    crawled = _Crawl(start, mirror, limits, internet or Internet(), read_links, robots)
    if limits.depth:
        await _read_robots(crawled)
    crawled.seen.add(start)
    crawled.queue.append((start, 0))
    listed: list[str] = []
    sitemaps = bool(limits.depth)
    while crawled.queue:
        if len(listed) >= limits.max_pages or crawled.bytes > limits.max_mb * 1e6:
            crawled.whole = False
            warn(
                f"Stopped at {len(listed)} pages and {crawled.bytes / 1e6:.0f} MB; "
                f"{len(crawled.queue)} known links were not visited. Raise --max-pages to go on."
            )
            break
        at, depth = crawled.queue.popleft()
        item = await _fetch_page(crawled, at, depth=depth)
        if item is not None:
            if item.problem is None or item.problem.code != "not_found":
                listed.append(at)
            yield item
        if sitemaps:
            sitemaps = False
            await _read_sitemaps(crawled)
    if crawled.silent:
        warn(
            f"{crawled.silent} recordings of the feed were left out. "
            f"To have them transcribed: {SPEECH}"
        )
    listing = SourceListing(limits.depth, tuple(listed))
    gone = mirror.finish(start, listing, whole=crawled.whole and drop_gone)
    mirror.drop(gone)


async def _fetch_page(crawled: _Crawl, address: str, *, depth: int) -> FetchedItem | None:
    """Fetch one page into its file; None for a page or a link that is left out."""
    mirror = crawled.mirror
    path = mirror.path(address)
    entry = crawled.entries.get(address)
    if path and entry:
        return FetchedItem(address, path)
    of_feed = mirror.listings.get(address, SourceListing()).items
    is_known = path or (of_feed and all(mirror.path(each) for each in of_feed))
    known = mirror.items.get(address, MirroredItem()) if is_known else MirroredItem()
    recording = bool(entry and entry.suffix in MEDIA_SUFFIXES)
    try:
        page = await crawled.visit(
            address, etag=known.etag, modified=known.modified, recording=recording
        )
        if page.unchanged and not path:
            _enqueue_entries(crawled, [FeedEntry(each) for each in of_feed])
            return None
        if depth == 0 and is_feed(page.data):
            await _read_feed(crawled, page, address=address)
            return None
        if page.unchanged and path:
            links = await _links(crawled, path, address, depth=depth)
            crawled.enqueue(links.links, depth=depth + 1)
            return FetchedItem(address, path)
        if depth == 0:
            await _follow_host(crawled, page.address)
        path = await _store_page(crawled, page, address=address, depth=depth)
        return FetchedItem(address, path) if path else None
    except InputError:
        if not depth:
            raise
        return None  # a link or a redirect that is not visited
    except DocumentError as error:
        if depth and error.code in ("not_found", "unsupported"):
            if not entry:
                return None  # a dead link, or one to a picture, is no failure of the caller's
            if entry.recording:
                _enqueue_entries(crawled, [_recording_of(entry)])
                return None
        mirror.fail(address, error)
        crawled.whole = crawled.whole and error.code == "not_found"
        return FetchedItem(address, problem=error)


async def _store_page(crawled: _Crawl, page: Page, *, address: str, depth: int) -> Path | None:
    """Write a page to its file and queue its links; None for one that is not to be added."""
    mirror = crawled.mirror
    entry = crawled.entries.get(address)
    suffix = (entry and entry.suffix) or page_suffix(page)
    moved = page.address != address
    elsewhere = _host(page.address) != _host(crawled.start) or suffix == ".xml"
    if (depth and elsewhere and not entry) or (moved and page.address in crawled.seen):
        return None
    crawled.seen.add(page.address)
    path = mirror.write(
        address,
        in_utf8(page),
        suffix=suffix,
        about={"url": page.address, **(_about(entry) if entry else {})},
        item=MirroredItem(etag=page.etag, modified=page.modified),
    )
    links = await _links(crawled, path, page.address, depth=depth)
    crawled.enqueue(links.links, depth=depth + 1)
    if depth and not links.index:
        mirror.drop([path])
        return None
    if links.canonical:
        mirror.items[address] = replace(mirror.items[address], canonical=links.canonical)
    return path


async def _read_feed(crawled: _Crawl, page: Page, *, address: str) -> None:
    """Queue the entries of a feed; raises DocumentError."""
    links = await _links_in(crawled, page, address=page.address, name="feed.xml")
    version = MirroredItem(etag=page.etag, modified=page.modified)
    crawled.mirror.items[address] = version
    _enqueue_entries(crawled, links.entries)


async def _links_in(crawled: _Crawl, page: Page, *, address: str, name: str) -> PageLinks:
    """Read the links of what was fetched and is not kept; raises DocumentError."""
    with TemporaryDirectory(prefix="quoth-") as folder:
        path = Path(folder, name)
        await asyncio.to_thread(path.write_bytes, page.data)
        return await crawled.read_links(path, address)


def _enqueue_entries(crawled: _Crawl, entries: Sequence[FeedEntry]) -> None:
    crawled.whole = False  # what leaves a feed is not gone
    transcribes = is_installed("faster_whisper")
    for given in entries:
        # An episode whose recording was fetched before its transcript was read stays as it is.
        fetched = given.recording and crawled.mirror.path(given.recording)
        entry = _recording_of(given) if fetched else given
        try:
            address = target(entry.address).address
        except InputError:
            continue
        if address in crawled.seen:
            continue
        crawled.seen.add(address)
        if entry.suffix in MEDIA_SUFFIXES and not transcribes:
            crawled.silent += 1
            continue
        crawled.entries[address] = entry
        crawled.queue.append((address, 1))


def _recording_of(entry: FeedEntry) -> FeedEntry:
    """Return the entry of the recording in place of that of its transcript."""
    return replace(entry, address=entry.recording, suffix=entry.recording_suffix, recording="")


def _about(entry: FeedEntry) -> dict[str, str]:
    known = {
        "title": entry.title,
        "speaker": entry.author,
        "date": entry.date or "",
        "url": entry.recording,
    }
    return {key: value for key, value in known.items() if value}


def _host(address: str) -> str:
    return urlsplit(address).netloc


async def _follow_host(crawled: _Crawl, address: str) -> None:
    """Take the host that the first page has moved to as that of the site; raises InputError."""
    moved = _host(address) != _host(crawled.start)
    crawled.start = address
    if moved and crawled.limits.depth:
        await _read_robots(crawled)
    if crawled.limits.depth and not crawled.robots.can_fetch(AGENT, address):
        raise InputError(
            f"The site asks programs not to visit “{display_url(address)}” (robots.txt). "
            "Add the single page without --depth if you may."
        )


async def _links(crawled: _Crawl, path: Path, address: str, *, depth: int) -> PageLinks:
    """Read what a page says to a crawl, and where it leads to as far as links are followed."""
    if not crawled.limits.depth or path.suffix not in (".html", ".xhtml"):
        return PageLinks(())
    try:
        links = await crawled.read_links(path, address)
    except DocumentError:
        return PageLinks(())  # reading the document says what is wrong with it
    follows = links.follow and depth < crawled.limits.depth
    return links if follows else replace(links, links=())


async def _read_robots(crawled: _Crawl) -> None:
    """Read robots.txt; a site without one allows everything.

    Raises DocumentError where it cannot be read for another reason (RFC 9309, section 2.3.1.4).
    """
    parts = urlsplit(crawled.start)
    address = f"{parts.scheme}://{parts.netloc}/robots.txt"
    try:
        page = await crawled.visit(address, max_mb=MAX_ROBOTS_MB)
    except DocumentError as error:
        if error.code == "not_found":
            return
        raise DocumentError(
            "unreadable",
            f"What {parts.netloc} allows programs to visit cannot be read: {error} "
            "Nothing was fetched.",
        ) from error
    crawled.robots.parse(page.data.decode("utf-8", "replace").splitlines())


async def _read_sitemaps(crawled: _Crawl) -> None:
    """Queue the pages of the sitemaps that are below the folder of the first page."""
    parts = urlsplit(crawled.start)
    site = f"{parts.scheme}://{parts.netloc}"
    below = f"{site}{parts.path.rpartition('/')[0]}/"
    waiting = deque(crawled.robots.site_maps() or [f"{site}/sitemap.xml"])
    for _ in range(MAX_SITEMAPS):
        if not waiting:
            return
        address = urldefrag(waiting.popleft()).url
        if not address.startswith(f"{site}/"):
            continue
        try:
            page = await crawled.visit(address)
            found = await _links_in(crawled, page, address=address, name="sitemap.xml")
        except DocumentError:
            continue  # a site without a sitemap has its links
        if b"<sitemapindex" in page.data[:2000]:
            waiting.extend(found.links)
        elif b"<urlset" in page.data[:2000]:
            crawled.enqueue(found.links, depth=1, below=below)
