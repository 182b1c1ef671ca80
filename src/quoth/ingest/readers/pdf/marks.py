"""Rectangles of the very glyphs of a span on PDF pages.

A line is found by its text in the page's own glyphs, at its box: the glyphs that are marked spell
what is marked, without white space, hyphens and accents, or nothing is marked.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import closing
from functools import cache
from itertools import groupby
from pathlib import Path

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.errors import DocumentError
from quoth.core.types import Box
from quoth.ingest.readers.pdf.glyphs import (
    clean_character,
    page_characters,
    text_page,
    turn_of,
    turned,
)
from quoth.ingest.readers.pdf.lines import DOTLESS, HYPHENS, SPACING_ACCENTS
from quoth.ingest.readers.pdf.page_marks import MarkedLine, PageMarks, Rectangle
from quoth.ingest.readers.pdf.reader import PDFIUM, open_pdf

SLACK = 1.5
"""Points by which the middle of a glyph may lie outside the box of its line."""
_SCALE = 1_000_000
_Area = tuple[float, float, float, float]
"""Left, bottom, right and top of a rectangle, in points of the page."""


def mark_lines(path: Path, lines: Sequence[MarkedLine]) -> list[PageMarks]:
    """Return the marks of lines, by page; raises DocumentError."""
    with PDFIUM, closing(open_pdf(path)) as document:
        return [
            _mark_page(document, number, list(on_page))
            for number, on_page in groupby(lines, key=lambda line: line.box.page)
        ]


def _mark_page(
    document: pdfium2.PdfDocument, number: int, lines: Sequence[MarkedLine]
) -> PageMarks:
    with text_page(document, number) as (page, textpage):
        if not textpage:
            raise DocumentError("damaged", f"Page {number} cannot be opened.")
        glyphs = _PageGlyphs(textpage)
        found = {line: glyphs.find(line) for line in lines}
        scanned = [line for line in lines if found[line] is None and glyphs.is_empty(line.box)]
        marked: tuple[Rectangle, ...] | None = None
        if sum(indices is None for indices in found.values()) == len(scanned):
            indices = sorted({index for line in found.values() for index in line or ()})
            if (areas := glyphs.areas(indices)) is not None:
                drawn = (_drawn_area(page, area) for area in areas)
                marked = (*_joined(_part(page, line) for line in scanned), *drawn)
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        return PageMarks(number, width, height, marked)


@cache
def _letters(character: str) -> str:
    """Return what is compared of a character: no white space, hyphen or accent."""
    plain = unicodedata.normalize("NFKD", clean_character(character))
    return "".join(
        DOTLESS.get(each, each)
        for each in plain
        if not (each.isspace() or unicodedata.combining(each))
        and each not in HYPHENS
        and each not in SPACING_ACCENTS
    )


def spelled(text: str) -> str:
    """Return what is compared of a text."""
    return "".join(map(_letters, text))


class _PageGlyphs:
    """The glyphs of a page by the letters that they spell, in PDFium's order."""

    def __init__(self, textpage: object) -> None:
        self._textpage = textpage
        parts = [_letters(character) for character in page_characters(textpage)]
        self._text = "".join(parts)
        self._indices = [index for index, part in enumerate(parts) for _letter in part]

    def find(self, line: MarkedLine) -> list[int] | None:
        """Return the indices of the marked glyphs of a line, None where they are not there."""
        wanted = spelled(line.text)
        first, last = len(spelled(line.text[: line.start])), len(spelled(line.text[: line.end]))
        at = self._text.find(wanted) if wanted else -1
        while at >= 0:
            indices = self._indices[at : at + len(wanted)]
            if all(self._is_inside(index, line.box) for index in indices):
                return indices[first:last]
            at = self._text.find(wanted, at + 1)
        within = self._within(line.box)
        if "".join(letter for letter, _index in within) != wanted:
            return None
        return [index for _letter, index in within[first:last]]

    def is_empty(self, box: Box) -> bool:
        """Return whether no glyph is in a box: what is printed there is a part of an image."""
        return not any(self._is_inside(index, box) for index in set(self._indices))

    def areas(self, indices: Sequence[int]) -> list[_Area] | None:
        """Return rectangles with the middles of these glyphs and no others, or None.

        Each covers a stretch of glyphs, or a word where other glyphs stand between the words.
        """
        own = set(indices)
        if not own:
            return []
        boxes = {index: self._box(index) for index in set(self._indices)}
        for apart in (boxes.keys() - own, set(range(indices[0], indices[-1])) - own):
            areas = list(_areas(self._textpage, _stretches(indices, apart=apart)))
            if {index for index, box in boxes.items() if _is_under(areas, box)} == own:
                return areas
        return None

    def _within(self, box: Box) -> list[tuple[str, int]]:
        """Return the letters in a box in the direction of reading: one line out of many parts."""
        inside = [
            (letter, index)
            for letter, index in zip(self._text, self._indices, strict=True)
            if self._is_inside(index, box)
        ]
        if not inside:
            return []
        turn = turn_of(self._textpage, inside[0][1])
        return sorted(inside, key=lambda each: turned(self._box(each[1]), turn=turn)[0])

    def _is_inside(self, index: int, box: Box) -> bool:
        x0, y0, x1, y1 = self._box(index)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        across = box.x0 - SLACK <= x <= box.x1 + SLACK
        return across and box.y0 - SLACK <= y <= box.y1 + SLACK

    def _box(self, index: int) -> _Area:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self._textpage, index, left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value


def _part(page: object, line: MarkedLine) -> Rectangle:
    """Return the rectangle of the marked characters of a word or line in an image, all as wide."""
    corners = _drawn(page, line.box.x0, line.box.y0), _drawn(page, line.box.x1, line.box.y1)
    xs, ys = zip(*corners, strict=True)
    width = (max(xs) - min(xs)) / max(1, len(line.text))
    return min(xs) + line.start * width, min(ys), min(xs) + line.end * width, max(ys)


def _joined(parts: Iterable[Rectangle]) -> Iterator[Rectangle]:
    """Join the rectangles of words that stand beside each other."""
    last: Rectangle | None = None
    for part in parts:
        left, top, right, bottom = part
        if last and last[1::2] == (top, bottom) and abs(left - last[2]) < bottom - top:
            part = (last[0], top, right, bottom)
        elif last:
            yield last
        last = part
    if last:
        yield last


def _stretches(indices: Sequence[int], *, apart: Set[int]) -> Iterator[tuple[int, int]]:
    """Return the first index and the number of glyphs of each stretch without those `apart`."""
    first = last = -1
    for index in indices:
        if first >= 0 and not apart.isdisjoint(range(last, index)):
            yield first, last - first + 1
            first = -1
        first, last = (index if first < 0 else first), index
    if first >= 0:
        yield first, last - first + 1


def _areas(textpage: object, stretches: Iterable[tuple[int, int]]) -> Iterator[_Area]:
    """Return the left, bottom, right and top of stretches of glyphs, in points of the page."""
    edges = [ctypes.c_double() for _ in range(4)]
    for first, count in stretches:
        for number in range(pdfium.FPDFText_CountRects(textpage, first, count)):
            if pdfium.FPDFText_GetRect(textpage, number, *edges):
                left, top, right, bottom = (edge.value for edge in edges)
                yield left, bottom, right, top


def _is_under(areas: Iterable[_Area], box: _Area) -> bool:
    """Return whether the middle of a glyph is in one of the rectangles."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in areas)


def _drawn_area(page: object, area: _Area) -> Rectangle:
    """Return where a rectangle of the page is drawn."""
    xs, ys = zip(_drawn(page, *area[:2]), _drawn(page, *area[2:]), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _drawn(page: object, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the page is drawn, in shares of the width and height."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, _SCALE, _SCALE, 0, x, y, across, down)
    return across.value / _SCALE, down.value / _SCALE
