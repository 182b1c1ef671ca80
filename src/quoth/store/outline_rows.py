"""Rows of the library map to values and back: spots, headings and summaries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from quoth.core.outline import Summary, SummarySentence
from quoth.core.types import Chunk, Pages, Seconds
from quoth.store.rows import Entry
from quoth.text.analyzer import normalize_name
from quoth.text.json_codec import dump
from quoth.text.locators import speaker_key

BETWEEN = "\x1f"
"""What stands between the titles of a path; readers take it out of every title."""

MAX_SPEAKERS, MAX_NAME = 500, 200
"""Speakers of a document that are kept, and the characters of a name."""


def spot_row(chunk: Chunk, *, tenant: str) -> dict[str, Any]:
    """Return the row with the places of a chunk."""
    place = chunk.locator
    paged = place if isinstance(place, Pages) else None
    timed = place if isinstance(place, Seconds) else None
    return {
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "tenant": tenant,
        "speaker": speaker_key(chunk),
        "labels": _barred(sorted(_labels(chunk))) if paged else "",
        "page_first": paged.first if paged else None,
        "page_last": paged.last if paged else None,
        "second_start": timed.start if timed else None,
        "second_end": timed.end if timed else None,
        "chapter": chunk.chapter,
        "segment": chunk.segment,
        "sections": _sections(chunk.section),
    }


def join_labels(value: str) -> str:
    """Return a label or a normalized title as encoded in its column."""
    return f"|{value.replace('|', ' ')}|"


def _barred(values: list[str]) -> str:
    return f"|{'|'.join(value.replace('|', ' ') for value in values)}|" if values else ""


@lru_cache(maxsize=1024)  # the chunks of a section are consecutive
def _sections(path: tuple[str, ...]) -> str:
    return _barred([normalize_name(title) for title in path])


def _labels(chunk: Chunk) -> set[str]:
    pairs = {
        (each.label_first, each.label_last)
        for each in (chunk.locator, *(place.locator for place in chunk.places))
        if isinstance(each, Pages)
    }
    return {label.casefold() for pair in pairs for label in pair if label}


def heading_rows(entry: Entry, *, tenant: str, collection: str) -> Iterator[dict[str, Any]]:
    """Return the rows of a document's headings, with a flag for the leading ones.

    A heading is leading when it is at the top level, begins a chapter, or is a segment.
    """
    chapters: dict[tuple[str, ...], str] = {}
    for number, heading in enumerate(entry.headings):
        chapters[heading.path] = heading.chapter
        above = chapters.get(heading.path[:-1], "")
        yield {
            "document_id": heading.document_id,
            "number": number,
            "tenant": tenant,
            "collection_id": collection,
            "path": BETWEEN.join(part.replace(BETWEEN, " ") for part in heading.path),
            "first": heading.first,
            "last": heading.last,
            "chapter": heading.chapter,
            "segment": heading.segment,
            "leads": len(heading.path) < 2 or bool(heading.segment) or heading.chapter != above,
        }


def speaker_rows(entry: Entry, *, tenant: str, collection: str) -> Iterator[dict[str, Any]]:
    """Return a row for each of those who speak in a document."""
    for name in entry.speakers[:MAX_SPEAKERS]:
        if len(name) <= MAX_NAME:
            yield {
                "document_id": entry.document.document_id,
                "name": name,
                "tenant": tenant,
                "collection_id": collection,
            }


def path_of(packed: str) -> tuple[str, ...]:
    """Return the titles of a packed path."""
    return tuple(packed.split(BETWEEN)) if packed else ()


def summary_rows(entry: Entry, *, tenant: str, collection: str) -> Iterator[dict[str, Any]]:
    """Return the rows of a document's summaries."""
    for number, summary in enumerate(entry.summaries):
        yield {
            "document_id": summary.document_id,
            "number": number,
            "tenant": tenant,
            "collection_id": collection,
            "level": summary.level,
            "path": BETWEEN.join(part.replace(BETWEEN, " ") for part in summary.path),
            "first": summary.first,
            "last": summary.last,
            "leaves": dump([[each.chunk_id, each.start, each.end] for each in summary.sentences]),
        }


def summary_from_row(row: Any) -> Summary:
    """Return the summary of a row."""
    sentences = tuple(SummarySentence(*load) for load in json.loads(row.leaves))
    path = path_of(row.path)
    return Summary(row.document_id, row.level, path, row.first, row.last, sentences)
