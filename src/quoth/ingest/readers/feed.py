"""Entries of RSS and Atom feeds: address, title, author and date of each."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from urllib.parse import urldefrag, urljoin, urlsplit

from quoth.ingest.readers.blocks import to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.media import MEDIA_SUFFIXES
from quoth.ingest.readers.page_links import FeedEntry
from quoth.ingest.readers.xml_parts import Element, local, parse_xml, text_of

MAX_ENTRIES = 5000
CAPTIONS = {
    "text/vtt": ".vtt",
    "application/x-subrip": ".srt",
    "application/srt": ".srt",
    "text/srt": ".srt",
    "application/json": ".json",
}
"""Media types of transcripts with times, and their suffixes, the best first."""
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
    """Return an entry, by its transcript or recording if it has one; None without an address."""
    page, recording, suffix = "", "", ""
    transcript, captions = _transcript(element)
    for kind, relation, link in _links(element):
        media = _media_suffix(kind, link)
        if relation == "enclosure" and media:
            recording, suffix = recording or link, suffix or media
        elif relation == "alternate":
            page = page or link
    link = transcript or recording or page
    address = urldefrag(urljoin(base, link)).url if link else ""
    if not address.startswith(("http://", "https://")):
        return None
    spoken = bool(transcript and recording)
    return FeedEntry(
        address,
        title=to_plain_text(_TAG.sub("", _child(element, "title"))),
        author=_child(element, "creator") or _child(element, "author"),
        date=_date(element),
        suffix=captions or suffix,
        recording=urldefrag(urljoin(base, recording)).url if spoken else "",
        recording_suffix=suffix if spoken else "",
    )


def _media_suffix(kind: str, address: str) -> str:
    """Return the suffix of a recording, of its address before that of its type; "" for others."""
    if not kind.startswith(("audio/", "video/", "application/ogg")) and kind:
        return ""
    named = PurePosixPath(urlsplit(address).path).suffix.lower()
    found = named if named in MEDIA_SUFFIXES else mimetypes.guess_extension(kind)
    return found if found in MEDIA_SUFFIXES else ""


def _transcript(element: Element) -> tuple[str, str]:
    """Return the address of the transcript with times that an episode names, and its suffix.

    Of several of one type the first counts; further ones are translations.
    See https://github.com/Podcastindex-org/podcast-namespace.
    """
    found: dict[str, str] = {}
    for child in element:
        kind = (child.get("type") or "").partition(";")[0].strip().lower()
        if local(child) == "transcript" and kind in CAPTIONS and child.get("url"):
            found.setdefault(CAPTIONS[kind], child.get("url") or "")
    return next(((found[each], each) for each in CAPTIONS.values() if each in found), ("", ""))


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
