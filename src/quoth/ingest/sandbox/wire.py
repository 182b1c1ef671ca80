"""Readings as JSON, to cross the border between the process that parses and its parent.

Only plain values cross. The way back rebuilds every value field by field and checks its type, so
that a parser under somebody else's control can send wrong text, but nothing that acts.
"""

from __future__ import annotations

import struct
from typing import Any, get_args

from quoth.core.types import (
    Box,
    Chars,
    DocumentKind,
    Json,
    Locator,
    Pages,
    ParsedDocument,
    Seconds,
    Section,
    SpanLocator,
)

LENGTH = struct.Struct(">Q")
"""What stands before each message: its length in bytes."""

_Row = list[Any]


def encode_reading(reading: ParsedDocument) -> Json:
    """Turn a reading into plain lists and dictionaries; places are rows, for their number."""
    return {
        "kind": reading.kind,
        "title": reading.title,
        "text": reading.text,
        "places": [
            [place.start, place.end, place.hyphen, *_encode_locator(place.locator)]
            for place in reading.places
        ],
        "sections": [[s.start, s.end, list(s.path), s.anchor] for s in reading.sections],
        "language": reading.language,
        "url": reading.url,
        "speaker": reading.speaker,
        "pages": reading.pages,
        "labels": list(reading.labels),
        "seconds": reading.seconds,
        "date": reading.date,
        "warnings": list(reading.warnings),
    }


def decode_reading(data: Json) -> ParsedDocument:
    """Rebuild a reading; raises ValueError, TypeError or LookupError if it is not one."""
    if data["kind"] not in get_args(DocumentKind):
        raise ValueError(f"{data['kind']!r} is not a kind of document")
    pages, seconds = data["pages"], data["seconds"]
    return ParsedDocument(
        kind=data["kind"],
        title=_text(data["title"]),
        text=_text(data["text"]),
        places=tuple(
            SpanLocator(int(row[0]), int(row[1]), _decode_locator(row), hyphen=_text(row[2]))
            for row in data["places"]
        ),
        sections=tuple(
            Section(int(start), int(end), tuple(_text(part) for part in path), _maybe(anchor))
            for start, end, path, anchor in data["sections"]
        ),
        language=_maybe(data["language"]),
        url=_maybe(data["url"]),
        speaker=_maybe(data["speaker"]),
        pages=None if pages is None else int(pages),
        labels=tuple(_text(label) for label in data["labels"]),
        seconds=None if seconds is None else float(seconds),
        date=_maybe(data["date"]),
        warnings=tuple(_text(warning) for warning in data["warnings"]),
    )


def _encode_locator(locator: Locator) -> _Row:
    if isinstance(locator, Pages):
        boxes = [[box.page, box.x0, box.y0, box.x1, box.y1] for box in locator.boxes]
        labels = [locator.label_first, locator.label_last]
        return ["pages", locator.first, locator.last, *labels, locator.section, boxes]
    if isinstance(locator, Seconds):
        return ["seconds", locator.start, locator.end, locator.speaker, locator.section]
    return ["chars", locator.start, locator.end, locator.section, locator.anchor]


def _decode_locator(row: _Row) -> Locator:
    kind, first, last = row[3:6]
    if kind == "pages":
        label_first, label_last, section, boxes = row[6:]
        return Pages(
            int(first),
            int(last),
            _text(label_first),
            _text(label_last),
            section=_maybe(section),
            boxes=tuple(
                Box(int(page), float(x0), float(y0), float(x1), float(y1))
                for page, x0, y0, x1, y1 in boxes
            ),
        )
    if kind == "seconds":
        speaker, section = row[6:]
        return Seconds(float(first), float(last), speaker=_maybe(speaker), section=_maybe(section))
    if kind == "chars":
        section, anchor = row[6:]
        return Chars(int(first), int(last), section=_maybe(section), anchor=_maybe(anchor))
    raise ValueError(f"{kind!r} is not a kind of place")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _maybe(value: object) -> str | None:
    return None if value is None else _text(value)
