"""Printed lines of scanned pages: drawn, recognised by `quoth.ingest.readers.ocr`, measured."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from statistics import mean, median

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.errors import DocumentError
from quoth.core.types import Box
from quoth.ingest.readers.ocr import DPI, OcrLine, OcrParagraph, missing_program, recognise
from quoth.ingest.readers.pdf.glyphs import clean_text
from quoth.ingest.readers.pdf.lines import HYPHENS, PrintedLine

MAX_PIXELS = 24_000_000
"""A page of A3 at 300 dpi has 17 million; larger ones are drawn smaller."""
MAX_DRAWINGS = 3
"""Pages without a letter or a scan that are tried for letters that are only outlines."""
MIN_CONFIDENCE, LOW_CONFIDENCE = 50.0, 80.0
"""Per cent; clean pages have more than 90, and what is no text less than 50."""
BLANK = "left out, since OCR finds no text there that can be read."
LATE = (
    "left out, because OCR took longer than a file may take; raise the setting parser_seconds or "
    "split the file."
)
_DESCENDING = frozenset("gjpqyçQJ,;()[]{}|/ﬁ$§µ")
_TALL = frozenset("bdfhklt0123456789()[]ßéèêàâîôûëïü")
_CAP_HEIGHT = 0.7
"""Height of capitals, in ems of most fonts."""


@dataclass(slots=True)
class ScannedPages:
    """What became of the pages that were to be recognised: lines and confidence, or why not.

    ``install`` is the command that installs what is missing, in which case no page was tried.
    """

    lines: dict[int, list[PrintedLine]] = field(default_factory=dict)
    confidence: dict[int, float] = field(default_factory=dict)
    left_out: dict[str, set[int]] = field(default_factory=dict)
    install: str | None = None


def read_scans(
    document: pdfium2.PdfDocument,
    numbers: Iterable[int],
    *,
    drawn: Collection[int] = (),
    language: str | None,
    seconds: float,
) -> ScannedPages:
    """Recognise pages, counted from 1, while `PDFIUM` is held, for so many seconds at most.

    Those of ``drawn`` are left out where the first `MAX_DRAWINGS` pages have no words.
    """
    pages = ScannedPages(install=missing_program())
    if pages.install is not None:
        return pages
    end = time.monotonic() + seconds
    for number in numbers:
        has_no_words = not pages.lines and len(pages.left_out.get(BLANK, ())) >= MAX_DRAWINGS
        if has_no_words and number in drawn:
            continue
        reason = LATE
        if time.monotonic() < end:
            with closing(document[number - 1]) as page:
                try:
                    lines, confidence = _recognised(page, number, language=language)
                    reason = BLANK
                except DocumentError as error:
                    lines, reason = [], f"OCR failed: {error}."
            if lines:
                pages.lines[number], pages.confidence[number] = lines, confidence
                continue
        pages.left_out.setdefault(reason, set()).add(number)
    return pages


def said_of(pages: ScannedPages) -> list[tuple[set[int], str]]:
    """Return what is said of pages that were recognised, and of those that could not be."""
    unsure = {number for number, share in pages.confidence.items() if share < LOW_CONFIDENCE}
    sure = pages.confidence.keys() - unsure
    return [
        (sure, f"read by OCR, confidence {_mean(pages, sure)} %."),
        (
            unsure,
            f"read by OCR with low confidence ({_mean(pages, unsure)} %); compare quotations with "
            "the page.",
        ),
        *((numbers, reason) for reason, numbers in pages.left_out.items()),
    ]


def _mean(pages: ScannedPages, numbers: Iterable[int]) -> int:
    shares = [pages.confidence[number] for number in numbers]
    return round(mean(shares)) if shares else 0


def _recognised(
    page: pdfium2.PdfPage, number: int, *, language: str | None
) -> tuple[list[PrintedLine], float]:
    """Return the lines of a page, and the mean confidence of its words in per cent."""
    width, height = page.get_size()
    scale = min(DPI / 72, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
    bitmap = page.render(scale=scale, grayscale=True)
    paragraphs = recognise(_netpbm(bitmap), language=language)
    words = [word for lines in paragraphs for line in lines for word in line]
    confidence = mean([word.confidence for word in words] or [0.0])
    letters = any(character.isalnum() for word in words for character in word.text)
    if not letters or confidence < MIN_CONFIDENCE:
        return [], confidence
    place = _PagePlace(page, number, bitmap.width, bitmap.height, scale)
    lines = [line for paragraph in paragraphs for line in place.lines(paragraph)]
    return lines, confidence


def _netpbm(bitmap: pdfium2.PdfBitmap) -> bytes:
    """Write a grey bitmap as PGM."""
    buffer, width = memoryview(bitmap.buffer), bitmap.width
    starts = range(0, bitmap.height * bitmap.stride, bitmap.stride)
    head = f"P5 {width} {bitmap.height} 255\n".encode()
    return head + b"".join(buffer[at : at + width] for at in starts)


@dataclass(frozen=True, slots=True)
class _PagePlace:
    """A page as drawn; turns pixels into points."""

    page: pdfium2.PdfPage
    number: int
    width: int
    height: int
    scale: float

    def lines(self, paragraph: OcrParagraph) -> list[PrintedLine]:
        """Return the lines of a paragraph, all in one size."""
        size = median(_cap_height(line) for line in paragraph) / self.scale / _CAP_HEIGHT
        return [self._line(line, size) for line in paragraph]

    def _line(self, line: OcrLine, size: float) -> PrintedLine:
        left, right = min(word.left for word in line), max(word.right for word in line)
        top, bottom = min(word.top for word in line), max(word.bottom for word in line)
        words = tuple(
            (text, self._box(word.left, top, word.right, bottom))
            for word in line
            if (text := clean_text(word.text))
        )
        text, hyphen = " ".join(word for word, _box in words), ""
        if len(text) > 1 and text[-1] in HYPHENS and text[-2].isalpha():
            text, hyphen = text[:-1], text[-1]
        return PrintedLine(
            page=self.number,
            text=text,
            box=self._box(left, top, right, bottom),
            x0=left / self.scale,
            y0=(self.height - bottom) / self.scale,
            x1=right / self.scale,
            y1=(self.height - top) / self.scale,
            baseline=(self.height - _baseline(line)) / self.scale,
            size=round(size, 1),
            hyphen=hyphen,
            words=words,
        )

    def _box(self, left: int, top: int, right: int, bottom: int) -> Box:
        corners = [self._point(left, top), self._point(right, bottom)]
        xs, ys = zip(*corners, strict=True)
        return Box(self.number, min(xs), min(ys), max(xs), max(ys))

    def _point(self, across: int, down: int) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDF_DeviceToPage(
            self.page.raw, 0, 0, self.width, self.height, 0, across, down, x, y
        )
        return round(x.value, 1), round(y.value, 1)


def _baseline(line: OcrLine) -> float:
    """Return where the letters of a line stand, in pixels from the top."""
    standing = [word.bottom for word in line if _DESCENDING.isdisjoint(word.text)]
    return median(standing or [word.bottom for word in line])


def _cap_height(line: OcrLine) -> float:
    tall = [word.top for word in line if word.text[0].isupper() or not _TALL.isdisjoint(word.text)]
    return max(1.0, _baseline(line) - median(tall or [word.top for word in line]))
