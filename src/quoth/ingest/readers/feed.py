"""Entries of RSS and Atom feeds: address, title, author and date of each."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from urllib.parse import urldefrag, urljoin

from quoth.ingest.readers.blocks import to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.media import MEDIA_SUFFIXES
from quoth.ingest.readers.page_links import FeedEntry
from quoth.ingest.readers.xml_parts import Element, local, parse_xml, text_of

MAX_ENTRIES = 5000
_ROOTS = (b"rss", b"feed", b"rdf:RDF")
_ELEMENT = re.compile(rb"<([a-zA-Z][\w:.-]{0,40})")
_TAG = re.compile(r"<[^>]{0,1000}>")


def is_feed(data: bytes) -> bool:
    """Return whether a file begins as RSS or Atom does."""
    first = _ELEMENT.search(data[:4000])
    return first is not None and first[1] in _ROOTS


def feed_entries(data: bytes, *, address: str) -> tuple[FeedEntry, ...]:
    """Return the entries of a feed that was fetched from an address; raises DocumentError."""
    root = parse_xml(data, name="The feed", allow_external=True)
    entries: dict[str, FeedEntry] = {}
    for element in root.iter():
        if local(element) in ("item", "entry"):
            entry = _entry(element, base=address)
            if entry is not None:
                entries.setdefault(entry.address, entry)
        if len(entries) == MAX_ENTRIES:
            break
    return tuple(entries.values())


def _entry(element: Element, *, base: str) -> FeedEntry | None:
    """Return an entry, by its recording where it has one; None without an address."""
    page, recording, suffix = "", "", ""
    for kind, relation, link in _links(element):
        media = mimetypes.guess_extension(kind) if kind.startswith(("audio/", "video/")) else None
        if relation == "enclosure" and media in MEDIA_SUFFIXES:
            recording, suffix = recording or link, suffix or media or ""
        elif relation == "alternate":
            page = page or link
    link = recording or page
    address = urldefrag(urljoin(base, link)).url if link else ""
    if not address.startswith(("http://", "https://")):
        return None
    return FeedEntry(
        address,
        title=to_plain_text(_TAG.sub("", _child(element, "title"))),
        author=_child(element, "creator") or _child(element, "author"),
        date=_date(element),
        suffix=suffix,
    )


def _links(element: Element) -> Iterator[tuple[str, str, str]]:
    """Return the media type, the relation and the address of each link."""
    for child in element:
        kind, href = child.get("type") or "", child.get("href") or (child.text or "").strip()
        match local(child):
            case "link":
                yield kind, child.get("rel") or "alternate", href
            case "enclosure":
                yield kind, "enclosure", child.get("url") or ""
            case "guid" if child.get("isPermaLink") != "false":
                yield kind, "alternate", href


def _child(element: Element, name: str) -> str:
    """Return the text of a child; of an author in Atom that of its name."""
    for child in element:
        if local(child) == name:
            return text_of(child, "name") or to_plain_text("".join(child.itertext()))
    return ""


def _date(element: Element) -> str | None:
    for name in ("pubDate", "published", "date", "updated"):
        text = _child(element, name)
        try:
            date = normalize_date(text) or parsedate_to_datetime(text).date().isoformat()
        except (ValueError, TypeError, OverflowError):
            continue
        return date
    return None
