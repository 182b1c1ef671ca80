"""Rows of an index, derived from chunks alone: what is searched and what filters refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quoth.backends.indexes.filter_columns import NOWHERE, day_number, label_key, title_key
from quoth.core.types import Chunk, Pages, Seconds
from quoth.text.analyzer import analyze
from quoth.text.locators import speaker_key

PREFIX_TIMES = 2
"""How often a chunk's prefix (titles above it) is counted among its terms."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A chunk as every index stores it, beside its vector; `filter_columns` describes the values.

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
