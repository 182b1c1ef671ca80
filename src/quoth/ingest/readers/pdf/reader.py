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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.pdf.glyphs import clean_text
from quoth.ingest.readers.pdf.lines import PrintedLine, page_lines
from quoth.ingest.readers.pdf.outline import (
    PdfOutlineEntry,
    find_headings,
    find_lines,
    read_outline,
    sections,
)
from quoth.ingest.readers.pdf.reflow import body_size, flow, without_running_heads

_SCAN_CHARACTERS = 25
"""A page with an image and fewer characters than this is taken for a scan without a text layer."""

_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft \w+ - |slide 1$|no title|document\d*$)|\.\w{2,4}$|^\S*_\S*$", re.I
)


def read_pdf(
    path: Path, *, title: str | None = None, url: str | None = None, language: str | None = None
) -> ParsedDocument:
    """Read a PDF file; one place per printed line, sections from the outline.

    Raises DocumentError: ``not_found``, ``unreadable``, ``empty``, ``unsupported``, ``damaged``,
    ``encrypted``, ``needs_ocr``.
    """
    document = _open(path)
    try:
        numbers = range(1, len(document) + 1)
        pages, scans, broken = _pages(document)
        _refuse_without_text(path, pages, scans=scans, broken=broken)
        labels = {n: clean_text(_label(document, n - 1))[:40] for n in numbers}
        outline = read_outline(document)
        stated = clean_text(_metadata(document, b"Title"))
    finally:
        document.close()
    kept = without_running_heads(pages, labels)
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
        title=title or _title(stated, headings=headings, pages=kept) or path.stem,
        text=result.text,
        places=result.places,
        sections=sections(headings, starts=result.starts, end=len(result.text)),
        language=language,
        url=url,
        pages=len(numbers),
        labels=tuple(labels[n] or str(n) for n in numbers) if any(labels.values()) else (),
        warnings=_warnings(pages, scans=scans, broken=broken),
    )


# --- opening ----------------------------------------------------------------------------------


def _open(path: Path) -> pdfium2.PdfDocument:
    name = path.name
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except FileNotFoundError:
        raise DocumentError("not_found", f"There is no file {path}.") from None
    except OSError as error:
        raise DocumentError(
            "unreadable", f"{name} cannot be opened ({error.strerror}); check its permissions."
        ) from None
    if not head:
        raise DocumentError("empty", f"{name} is empty: it has no bytes. Get the file again.")
    try:
        return pdfium2.PdfDocument(path)
    except pdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise DocumentError(
                "encrypted",
                f"{name} is protected by a password; save a copy without one and add that.",
            ) from None
        if b"%PDF-" not in head:
            raise DocumentError(
                "unsupported", f"{name} is not a PDF file, despite its name."
            ) from None
        raise DocumentError(
            "damaged",
            f"{name} is damaged and cannot be opened as a PDF; get the file again or repair it.",
        ) from None


def _pages(
    document: pdfium2.PdfDocument,
) -> tuple[dict[int, list[PrintedLine]], set[int], set[int]]:
    """Return the lines of each page that has any, the pages that are scans, and the broken ones."""
    pages: dict[int, list[PrintedLine]] = {}
    scans: set[int] = set()
    broken: set[int] = set()
    for index in range(len(document)):
        page = pdfium.FPDF_LoadPage(document.raw, index)
        textpage = pdfium.FPDFText_LoadPage(page) if page else None
        if textpage:
            lines = page_lines(textpage, page=index + 1)
            if lines:
                pages[index + 1] = lines
            if sum(len(ln.text) for ln in lines) < _SCAN_CHARACTERS and _has_image(page):
                scans.add(index + 1)
            pdfium.FPDFText_ClosePage(textpage)
        else:
            broken.add(index + 1)
        if page:
            pdfium.FPDF_ClosePage(page)
    return pages, scans, broken


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
    path: Path, pages: Mapping[int, Sequence[PrintedLine]], *, scans: set[int], broken: set[int]
) -> None:
    texts = set(pages) - scans
    if texts:
        return
    if scans:
        raise DocumentError(
            "needs_ocr",
            f"The pages of {path.name} are images without text; run OCR on the file first "
            "(for example with ocrmypdf) and add the result.",
        )
    if broken:
        raise DocumentError(
            "damaged", f"No page of {path.name} can be opened; get the file again or repair it."
        )
    raise DocumentError("empty", f"{path.name} has no text on any of its pages.")


# --- metadata of the file -------------------------------------------------------------


def _string(ask: Callable[[object, int], int]) -> str:
    size = ask(None, 0)
    buffer = ctypes.create_string_buffer(max(size, 2))
    ask(buffer, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")


def _label(document: pdfium2.PdfDocument, index: int) -> str:
    return _string(lambda buffer, size: pdfium.FPDF_GetPageLabel(document.raw, index, buffer, size))


def _metadata(document: pdfium2.PdfDocument, key: bytes) -> str:
    return _string(lambda buffer, size: pdfium.FPDF_GetMetaText(document.raw, key, buffer, size))


def _title(
    stated: str, *, headings: Sequence[PdfOutlineEntry], pages: Mapping[int, Sequence[PrintedLine]]
) -> str | None:
    """Return the embedded title if it is plausible, else the largest line of the first page."""
    letters = sum(character.isalpha() for character in stated)
    if letters >= 3 and letters >= 0.5 * len(stated) and not _NO_TITLE.search(stated):
        return stated[:300]
    first = next(iter(pages.values()), ())
    largest = max((line.size for line in first), default=0.0)
    if largest > 1.15 * body_size([line for lines in pages.values() for line in lines]):
        lines = [line for line in first if line.size > 0.95 * largest][:3]
        found = " ".join(line.text + line.hyphen for line in lines)
        if sum(character.isalpha() for character in found) >= 3:
            return found[:300]
    return headings[0].path[0] if headings else None


def _warnings(
    pages: Mapping[int, Sequence[PrintedLine]], *, scans: set[int], broken: set[int]
) -> tuple[str, ...]:
    found = []
    if scans:
        found.append(
            f"{_named(scans)}: an image with almost no text; these pages need OCR to be found."
        )
    if broken:
        found.append(f"{_named(broken)}: damaged, and left out.")
    return tuple(found)


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
