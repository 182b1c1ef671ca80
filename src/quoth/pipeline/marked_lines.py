"""The printed lines of a span, with the characters of each that are marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quoth.core.types import Box, Chunk, Pages
from quoth.ingest.readers.pdf.page_marks import MarkedLine


@dataclass(frozen=True, slots=True)
class _LinePlace:
    """A printed line: its characters of the stored text, and its box."""

    start: int
    end: int
    box: Box


def marked_lines(chunks: Sequence[Chunk], *, start: int, end: int) -> list[MarkedLine]:
    """Return the lines of the characters from `start` to `end` of a PDF's stored text.

    ``chunks`` are consecutive, with those before and after the span: a line that a chunk cuts is
    put together again.
    """
    if not chunks:
        return []
    offset = chunks[0].start
    text = "".join(chunk.text for chunk in chunks)
    return [
        MarkedLine(
            text[line.start - offset : line.end - offset],
            max(line.start, start) - line.start,
            min(line.end, end) - line.start,
            line.box,
        )
        for line in _lines(chunks, text=text, offset=offset)
        if max(line.start, start) < min(line.end, end)
    ]


def _lines(chunks: Sequence[Chunk], *, text: str, offset: int) -> Iterator[_LinePlace]:
    """Return the whole lines of the chunks in order."""
    open_line: _LinePlace | None = None
    for chunk in chunks:
        for place in chunk.places:
            if not isinstance(place.locator, Pages) or not place.locator.boxes:
                continue
            line = _LinePlace(place.start, place.end, _around(place.locator.boxes))
            if open_line is not None:
                gap = text[open_line.end - offset : line.start - offset]
                if place is chunk.places[0] and "\n" not in gap and _same(open_line.box, line.box):
                    line = _LinePlace(open_line.start, line.end, _around((open_line.box, line.box)))
                else:
                    yield open_line
            open_line = line
    if open_line is not None:
        yield open_line


def _same(one: Box, other: Box) -> bool:
    """Return whether two boxes are parts of one line's: only the width of a line is cut."""
    return (one.page, one.y0, one.y1) == (other.page, other.y0, other.y1)


def _around(boxes: Sequence[Box]) -> Box:
    return Box(
        boxes[0].page,
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )
