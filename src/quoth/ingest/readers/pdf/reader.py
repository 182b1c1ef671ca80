"""Read PDF files through PDFium: text, page labels, outline, and a box for every printed line.

Boxes are in the user space of the page, in points, *before* the page's /Rotate is applied: x to
the right and y up from the lower left corner of a page whose box begins at 0, 0, as nearly all
do. These are the numbers that pages are written in and that viewers convert to the screen (in
pdf.js, ``viewport.convertToViewportRectangle([x0, y0, x1, y1])``), for turned and cropped pages
too.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from pathlib import Path

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.errors import DocumentCode, DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.enrich.chapters import names_matter
from quoth.ingest.readers.formats import PICTURES, SUFFIX_FORMATS
from quoth.ingest.readers.metadata import EMPTY, Metadata, names_author
from quoth.ingest.readers.pdf.furniture import find_furniture, printed_labels
from quoth.ingest.readers.pdf.glyphs import clean_text, is_unreadable, read_string, text_page
from quoth.ingest.readers.pdf.lines import PrintedLine, page_lines, page_pieces
from quoth.ingest.readers.pdf.outline import (
    PdfOutlineEntry,
    find_headings,
    find_lines,
    read_outline,
    sections,
)
from quoth.ingest.readers.pdf.reflow import body_size, flow
from quoth.ingest.readers.pdf.scans import BLANK, ScannedPages, read_scans, said_of
from quoth.ingest.readers.source_file import SourceFile, password_error

_SCAN_CHARACTERS = 25
"""A page with an image and fewer characters than this is taken for a scan without a text layer."""

_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft \w+ - |slide 1$|no title|document\d*$)|\.\w{2,4}$|^\S*_\S*$", re.I
)


PDFIUM = threading.Lock()
"""PDFium works for one thread at a time."""


def read_pdf(
    path: Path,
    *,
    meta: Metadata = EMPTY,
    data: bytes | None = None,
    ocr_seconds: float = 300.0,
) -> ParsedDocument:
    """Read a PDF file; one place per printed line, sections from the outline.

    Pages that are images without text are recognised, within ``ocr_seconds`` of wall time in all.

    ``data`` is the content of a file within another one, of which ``path`` is only the name.
    Raises DocumentError: ``not_found``, ``unreadable``, ``empty``, ``unsupported``, ``damaged``,
    ``encrypted``, ``needs_ocr``.
    """
    with PDFIUM, closing(open_pdf(path, data)) as document:
        numbers = range(1, len(document) + 1)
        pages, left_out = _pages(document)
        scanned = _recognised(document, left_out, language=meta.language, seconds=ocr_seconds)
        pages = dict(sorted({**pages, **scanned.lines}.items()))
        _refuse_without_text(path, pages, left_out, scanned)
        labels = {n: clean_text(_label(document, n - 1))[:40] for n in numbers}
        outline = read_outline(document)
        stated, author = (clean_text(_metadata(document, key)) for key in (b"Title", b"Author"))
    furniture = find_furniture(pages, labels=labels, body=body_size(_all(pages)))
    kept = {
        page: lines
        for page, pieces in pages.items()
        if (lines := page_lines([piece for piece in pieces if piece not in furniture.pieces]))
    }
    if all(label in ("", str(page)) for page, label in labels.items()):
        labels = printed_labels(furniture.folios, pages=len(numbers)) or labels
    headings = find_lines(outline, kept)
    if not headings:
        headings = find_headings(kept)
    result = flow(
        kept,
        labels=labels,
        heads=frozenset(heading.line for heading in headings if heading.line is not None),
        tails=frozenset(heading.tail for heading in headings if heading.tail is not None),
    )
    return ParsedDocument(
        kind="pdf",
        title=meta.title or _title(stated, headings=headings, pages=kept) or path.stem,
        text=result.text,
        places=result.places,
        sections=sections(headings, starts=result.starts, end=len(result.text)),
        language=meta.language,
        url=meta.url,
        # One word is the name of an account: programs write it into what they print.
        speaker=author[:300] if " " in author and names_author(author) else None,
        pages=len(numbers),
        labels=tuple(labels[n] or str(n) for n in numbers) if any(labels.values()) else (),
        warnings=_warnings(left_out, scanned),
    )


def read_pdf_file(file: SourceFile) -> ParsedDocument:
    """Read a PDF file that is a part of another one; raises DocumentError as `read_pdf`."""
    return read_pdf(Path(file.name), meta=file.meta, data=file.data, ocr_seconds=file.ocr_seconds)


# --- opening ----------------------------------------------------------------------------------


def open_pdf(path: Path, data: bytes | None = None) -> pdfium2.PdfDocument:
    """Open a PDF file, while `PDFIUM` is held; raises DocumentError."""
    name = path.name
    try:
        head = data[:1024] if data is not None else _head(path)
    except FileNotFoundError:
        raise DocumentError("not_found", f"There is no file {path}.") from None
    except OSError as error:
        raise DocumentError(
            "unreadable", f"{name} cannot be opened ({error.strerror}); check its permissions."
        ) from None
    if not head:
        raise DocumentError("empty", f"{name} is empty: it has no bytes. Get the file again.")
    if head.startswith(PICTURES):
        from quoth.ingest.readers.pictures import open_picture  # its package is in an extra

        return open_picture(path.read_bytes() if data is None else data, name=name)
    try:
        return pdfium2.PdfDocument(path if data is None else data)
    except pdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise password_error(name) from None
        if b"%PDF-" not in head:
            raise DocumentError(
                "unsupported", f"{name} is not a PDF file, despite its name."
            ) from None
        raise DocumentError(
            "damaged",
            f"{name} is damaged and cannot be opened as a PDF; get the file again or repair it.",
        ) from None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


@dataclass(slots=True)
class _LeftOut:
    """The pages whose text cannot be had, or only in part."""

    scans: set[int] = field(default_factory=set)
    unmapped: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)
    drawn: set[int] = field(default_factory=set)
    """Pages with something else on them than text or a scan, where no page has text."""


def _pages(document: pdfium2.PdfDocument) -> tuple[dict[int, list[PrintedLine]], _LeftOut]:
    """Return the pieces of the lines of each page that has any, and the pages without text."""
    pages: dict[int, list[PrintedLine]] = {}
    left_out = _LeftOut()
    for number in range(1, len(document) + 1):
        with text_page(document, number) as (page, textpage):
            if not textpage:
                left_out.broken.add(number)
            elif is_unreadable(textpage):
                left_out.unmapped.add(number)
            else:
                pieces = page_pieces(textpage, page=number)
                if pieces:
                    pages[number] = pieces
                letters = sum(len(piece.text) for piece in pieces)
                if letters < _SCAN_CHARACTERS and _has_image(page):
                    left_out.scans.add(number)
                elif not pieces and pdfium.FPDFPage_CountObjects(page):
                    left_out.drawn.add(number)
    if pages or left_out.unmapped:  # Else they may be scans in strips, or letters in outlines.
        left_out.drawn.clear()
    return pages, left_out


def _recognised(
    document: pdfium2.PdfDocument, left_out: _LeftOut, *, language: str | None, seconds: float
) -> ScannedPages:
    """Recognise the pages that are left out; those whose text is found are so no longer."""
    numbers = sorted(left_out.scans | left_out.unmapped | left_out.drawn)
    drawn = left_out.drawn
    scanned = read_scans(document, numbers, drawn=drawn, language=language, seconds=seconds)
    left_out.scans -= scanned.lines.keys()
    left_out.unmapped -= scanned.lines.keys()
    return scanned


def _all(pages: Mapping[int, Sequence[PrintedLine]]) -> list[PrintedLine]:
    return [line for lines in pages.values() for line in lines]


def _has_image(page: object) -> bool:
    """Return whether an image covers a large part of the page, also inside a form object."""
    area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)
    edges = [ctypes.c_float() for _ in range(4)]
    for index in range(min(pdfium.FPDFPage_CountObjects(page), 2000)):
        part = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(part) not in (
            pdfium.FPDF_PAGEOBJ_IMAGE,
            pdfium.FPDF_PAGEOBJ_FORM,
        ):
            continue
        if pdfium.FPDFPageObj_GetBounds(part, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            if abs((right - left) * (top - bottom)) > 0.25 * area:
                return True
    return False


def _refuse_without_text(
    path: Path,
    pages: Mapping[int, Sequence[PrintedLine]],
    left_out: _LeftOut,
    scanned: ScannedPages,
) -> None:
    if set(pages) - left_out.scans:
        return
    is_drawn = bool(left_out.drawn) and not left_out.scans
    if is_drawn and set(scanned.left_out) == {BLANK}:
        raise DocumentError(
            "empty", f"The pages of {path.name} have no text, only drawings or images."
        )
    if left_out.scans or left_out.unmapped or is_drawn:
        why = "are images without text"
        if is_drawn:
            why = "have no text, only drawings or images"
        elif not left_out.scans:
            why = (
                "have fonts that do not say which characters they show, so their text is unreadable"
            )
        if scanned.install is not None:
            raise DocumentError(
                "needs_ocr",
                f"The pages of {path.name} {why}. Install OCR and add it again: {scanned.install}",
            )
        said = _warnings(left_out, scanned)
        # Pictures often have no text; a scan in which OCR finds none is a failure.
        is_picture = SUFFIX_FORMATS.get(path.suffix.lower()) == "picture"
        blank = is_picture and set(scanned.left_out) == {BLANK}
        code: DocumentCode = "empty" if blank else "needs_ocr"
        raise DocumentError(code, f"The pages of {path.name} {why}. {' '.join(said)}")
    if left_out.broken:
        raise DocumentError(
            "damaged", f"No page of {path.name} can be opened; get the file again or repair it."
        )
    raise DocumentError("empty", f"{path.name} has no text on any of its pages.")


# --- metadata of the file -------------------------------------------------------------


def _label(document: pdfium2.PdfDocument, index: int) -> str:
    return read_string(
        lambda buffer, size: pdfium.FPDF_GetPageLabel(document.raw, index, buffer, size)
    )


def _metadata(document: pdfium2.PdfDocument, key: bytes) -> str:
    return read_string(
        lambda buffer, size: pdfium.FPDF_GetMetaText(document.raw, key, buffer, size)
    )


def _title(
    stated: str, *, headings: Sequence[PdfOutlineEntry], pages: Mapping[int, Sequence[PrintedLine]]
) -> str | None:
    """Return the embedded title if it is plausible, else the largest line of the first page.

    A book without a title page begins with its preface or contents, whose names are no title.
    """
    letters = sum(character.isalpha() for character in stated)
    if letters >= 3 and letters >= 0.5 * len(stated) and not _NO_TITLE.search(stated):
        return stated[:300]
    first = next(iter(pages.values()), ())
    largest = max((line.size for line in first), default=0.0)
    if largest > 1.15 * body_size(_all(pages)):
        from_largest = dropwhile(lambda line: line.size <= 0.95 * largest, first)
        lines = [*takewhile(lambda line: line.size > 0.95 * largest, from_largest)][:3]
        found = " ".join(line.text + line.hyphen for line in lines)
        if sum(character.isalpha() for character in found) >= 3 and not names_matter(found):
            return found[:300]
    first_heading = headings[0].path[0] if headings else ""
    return None if names_matter(first_heading) else first_heading or None


def _warnings(left_out: _LeftOut, scanned: ScannedPages) -> tuple[str, ...]:
    missing = f"; install OCR to have these pages read: {scanned.install}"
    reasons = (
        *said_of(scanned),
        (left_out.scans if scanned.install else set(), f"an image with almost no text{missing}"),
        (
            left_out.unmapped if scanned.install else set(),
            "unreadable and left out, because the fonts do not say which characters they show"
            f"{missing}",
        ),
        (left_out.broken, "damaged, and left out."),
    )
    return tuple(f"{_named(pages)}: {reason}" for pages, reason in reasons if pages)


def _named(pages: set[int]) -> str:
    """Name pages as people do: "Page 3", "Pages 3, 5–9"."""
    spans: list[list[int]] = []
    for page in sorted(pages):
        if spans and page == spans[-1][-1] + 1:
            spans[-1][1:] = [page]
        else:
            spans.append([page])
    names = ", ".join("–".join(map(str, span)) for span in spans)
    return f"{'Page' if len(pages) == 1 else 'Pages'} {names}"
