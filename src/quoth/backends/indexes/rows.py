"""Rows of an index, derived from chunks alone: what is searched, and the columns of filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from quoth.core.types import Chunk, Pages, Seconds
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.locators import speaker_key

TEXTS = (
    *("id", "document_id", "kind", "language", "speaker", "chapter", "segment"),
    *("labels", "sections"),
)
NUMBERS = ("page_first", "page_last", "second_start", "second_end", "date")

FIELDS: Mapping[str, str] = {
    "document": "document_id",
    "kind": "kind",
    "language": "language",
    "speaker": "speaker",
    "chapter": "chapter",
    "segment": "segment",
}
"""The column of each filter field whose value is compared as it is."""
LISTS: Mapping[str, str] = {"label": "labels", "section": "sections"}
"""The column of each filter field of which a chunk has several values, each between bars."""
RANGES: Mapping[str, tuple[str, str]] = {
    "page": ("page_first", "page_last"),
    "seconds": ("second_start", "second_end"),
    "date": ("date", "date"),
}
"""The columns that hold the first and the last value of each filter field that is a range."""
NOWHERE = -1.0
"""What a chunk without pages, seconds or date holds there; it never overlaps."""


def column_value(field: str, value: object) -> str:
    """Return a filter's value as the field's column holds it."""
    if field == "label":
        return label_key(str(value))
    return title_key(str(value)) if field == "section" else str(value)


def label_key(label: str) -> str:
    """Return a page's printed label as it is compared: without case and bars."""
    return label.replace("|", " ").casefold()


def title_key(title: str) -> str:
    """Return a title as it is compared: without case, accents and bars."""
    return normalize_name(title.replace("|", " "))


def day_number(date: str | None) -> float:
    """Return an ISO date as a number such as 20261231; a month or a year alone is its first day."""
    digits = [part for part in (date or "")[:10].split("-") if part.isdecimal()]
    if not digits or len(digits[0]) != 4:
        return NOWHERE
    year, month, day = (*map(int, digits), 1, 1)[:3]
    return float(year * 10000 + month * 100 + day)


PREFIX_TIMES = 2
"""How often a chunk's prefix (titles above it) is counted among its terms."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A chunk as every index stores it, beside its vector; the columns of filters are above.

    ``labels`` and ``sections`` hold the values as they are compared, sorted. ``terms`` are those of
    `quoth.text.analyzer`, in the order of the words.
    """

    id: str
    document_id: str
    kind: str
    language: str
    speaker: str
    chapter: str
    segment: str
    labels: tuple[str, ...]
    sections: tuple[str, ...]
    page_first: float
    page_last: float
    second_start: float
    second_end: float
    date: float
    terms: tuple[str, ...]


def index_row(chunk: Chunk, *, clean: Callable[[str], str] = str) -> IndexRow:
    """Return the row of a chunk; ``clean`` is applied to each text, terms need no cleaning."""
    place = chunk.locator
    pages = (place.first, place.last) if isinstance(place, Pages) else (NOWHERE, NOWHERE)
    seconds = (place.start, place.end) if isinstance(place, Seconds) else (NOWHERE, NOWHERE)
    searchable = "\n".join((*[chunk.prefix] * PREFIX_TIMES, chunk.text))
    return IndexRow(
        id=clean(chunk.chunk_id),
        document_id=clean(chunk.document_id),
        kind=clean(chunk.kind),
        language=clean(chunk.language),
        speaker=clean(speaker_key(chunk)),
        chapter=clean(chunk.chapter),
        segment=clean(chunk.segment),
        labels=tuple(sorted(map(clean, printed_labels(chunk)))),
        sections=tuple(sorted({clean(title_key(title)) for title in chunk.section})),
        page_first=float(pages[0]),
        page_last=float(pages[1]),
        second_start=float(seconds[0]),
        second_end=float(seconds[1]),
        date=day_number(chunk.date),
        terms=tuple(analyze(searchable, language=chunk.language)),
    )


def barred(values: tuple[str, ...]) -> str:
    """Set values between bars, for exact matching in one text."""
    return f"|{'|'.join(values)}|" if values else ""


def printed_labels(chunk: Chunk) -> set[str]:
    """Return the labels printed on the chunk's pages, case-insensitive."""
    locators = [chunk.locator, *(place.locator for place in chunk.places)]
    return {
        label_key(label)
        for locator in locators
        if isinstance(locator, Pages)
        for label in (locator.label_first, locator.label_last)
    }
