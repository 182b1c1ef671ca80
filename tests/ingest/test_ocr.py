"""Scans and pictures are recognised, page by page, with boxes and confidence."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from shutil import which
from typing import cast

import matplotlib
import pypdfium2 as pdfium2
import pytest
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.textpath import TextPath
from matplotlib.transforms import IdentityTransform
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from quoth.core.errors import DocumentError
from quoth.core.types import Pages
from quoth.ingest.readers.formats import install_line, is_wanted
from quoth.ingest.readers.ocr import OcrParagraph, recognise
from quoth.ingest.readers.pdf.marks import mark_lines
from quoth.ingest.readers.pdf.page_marks import MarkedLine
from quoth.ingest.readers.pictures import open_picture
from quoth.ingest.readers.registry import read

HERE = Path(__file__).parents[1]
PDFS = HERE / "fixtures" / "pdf"
FONT = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSerif.ttf"
CORPUS = HERE / "data/hf-course/corpus.jsonl"
DPI = 300
ocr = pytest.mark.skipif(which("tesseract") is None, reason="the program tesseract is not there")


def text_of(key: str) -> str:
    rows = map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    text = next(str(row["text"]) for row in rows if row["id"] == key)
    return " ".join(text.split()[:60])


def page_of(text: str, *, blur: float = 0) -> Image.Image:
    """Draw a text on a page of 5 by 3 inches."""
    picture = Image.new("L", (5 * DPI, 3 * DPI), 255)
    font, draw, line, top = ImageFont.truetype(FONT, 42), ImageDraw.Draw(picture), "", 150
    for word in [*text.split(), ""]:
        longer = f"{line} {word}".strip()
        if word and draw.textlength(longer, font) < 4 * DPI:
            line = longer
            continue
        draw.text((150, top), line, fill=0, font=font)
        line, top = word, top + 58
    return picture.filter(ImageFilter.GaussianBlur(blur)) if blur else picture


def recall(expected: str, text: str) -> float:
    words, there = (Counter(re.findall(r"\w+", each)) for each in (expected, text))
    return (words & there).total() / words.total()


def outlined(path: Path) -> Path:
    """Write a PDF whose letters are only outlines, as they are prepared for printing."""
    figure = Figure(figsize=(8, 4))
    words = TextPath((30, 150), "The harbour was built in 1871.", size=30)
    figure.add_artist(PathPatch(words, color="black", transform=IdentityTransform()))
    figure.savefig(path)
    return path


@ocr
def test_letters_that_are_only_outlines_are_read(tmp_path: Path) -> None:
    assert "harbour was built in 1871" in read(outlined(tmp_path / "a.pdf")).text


@ocr
@pytest.mark.parametrize("pages", [1, 12])
def test_the_first_pages_of_a_pdf_of_drawings_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    tried = 0

    def counted(content: bytes, *, language: str | None) -> list[OcrParagraph]:
        nonlocal tried
        tried += 1
        return recognise(content, language=language)

    monkeypatch.setattr("quoth.ingest.readers.pdf.scans.recognise", counted)
    with PdfPages(tmp_path / "a.pdf") as file:
        for number in range(pages):
            figure = Figure(figsize=(2, 2))
            figure.add_artist(Rectangle((0.1, 0.1), 0.5, 0.3 + 0.02 * number, color="black"))
            file.savefig(figure)
    with pytest.raises(DocumentError, match="have no text, only drawings or images") as failure:
        read(tmp_path / "a.pdf")
    assert failure.value.code == "empty"
    assert tried == min(pages, 3)


def test_without_the_program_a_pdf_without_text_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.ingest.readers.ocr.PROGRAM", "no-such-program")
    with pytest.raises(DocumentError, match="Install OCR and add it again: ") as failure:
        read(outlined(tmp_path / "a.pdf"))
    assert failure.value.code == "needs_ocr"


@ocr
def test_a_scan_of_two_languages_is_read_with_accents_and_boxes(tmp_path: Path) -> None:
    texts = [text_of("book-en-006"), text_of("book-fr-004")]
    first, second = map(page_of, texts)
    path = tmp_path / "two_pages.tiff"
    first.save(path, save_all=True, append_images=[second], dpi=(DPI, DPI))
    document = read(path)
    assert (document.kind, document.pages, document.title) == ("pdf", 2, "two pages")
    for number, expected in enumerate(texts, 1):
        words = [each for each in document.places if cast(Pages, each.locator).first == number]
        assert recall(expected, " ".join(document.text[p.start : p.end] for p in words)) >= 0.95
        for word in words:
            (box,) = cast(Pages, word.locator).boxes
            assert 30 < box.x0 < box.x1 < 5 * 72 - 30
            assert 0 < box.y1 - box.y0 < 20
    assert "\n\n" not in document.text.split(texts[1].split()[0])[0].strip()
    (warning,) = document.warnings
    assert re.fullmatch(r"Pages 1–2: read by OCR, confidence 9\d %\.", warning)


@ocr
def test_a_mixed_file_keeps_its_text_and_marks_the_words_of_its_scans(tmp_path: Path) -> None:
    sentence = "The harbour gate closes at a quarter past nine in winter."
    picture = page_of(sentence)
    picture.save(tmp_path / "page.png", dpi=(DPI, DPI))
    written = pdfium2.PdfDocument(PDFS / "partly_scanned.pdf")
    with open_picture((tmp_path / "page.png").read_bytes(), name="page.png") as scanned:
        mixed = pdfium2.PdfDocument.new()
        mixed.import_pages(written, [0])
        mixed.import_pages(scanned)
        mixed.save(tmp_path / "mixed.pdf")
    document = read(tmp_path / "mixed.pdf")
    own = read(PDFS / "partly_scanned.pdf").text
    assert document.text == f"{own}\n\n{sentence}"
    assert document.warnings[0].startswith("Page 2: read by OCR")
    words = {document.text[each.start : each.end]: each for each in document.places}
    (box,) = cast(Pages, words["closes"].locator).boxes
    (page,) = mark_lines(tmp_path / "mixed.pdf", [MarkedLine("closes", 0, 6, box)])
    ((left, _top, right, _bottom),) = page.rectangles or ()
    font = ImageFont.truetype(FONT, 42)
    start, end = (150 + font.getlength(each) for each in (sentence[:17], sentence[:23]))
    assert left * picture.width == pytest.approx(start, abs=6)
    assert right * picture.width == pytest.approx(end, abs=6)


@ocr
@pytest.mark.parametrize("blur", [5, 9])
def test_an_unsure_or_blank_page_is_named(blur: int, tmp_path: Path) -> None:
    path = tmp_path / "faint.png"
    page_of("Wind over the estuary turns at noon.", blur=blur).crop((0, 100, 1500, 300)).save(path)
    if blur == 5:
        (warning,) = read(path).warnings
        assert warning.startswith("Page 1: read by OCR with low confidence (")
        return
    with pytest.raises(DocumentError, match="OCR finds no text there") as caught:
        read(path)
    assert caught.value.code == "empty"


def test_without_the_program_scans_are_refused_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    picture = tmp_path / "page.png"
    page_of("Nine").save(picture)
    install = "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-fra"
    assert (install_line(".png"), is_wanted(picture)) == (install, False)
    for path, code in ((picture, "missing_extra"), (PDFS / "scan.pdf", "needs_ocr")):
        with pytest.raises(DocumentError, match=install) as caught:
            read(path)
        assert caught.value.code == code
    (warning,) = read(PDFS / "partly_scanned.pdf").warnings
    assert warning == (
        f"Page 2: an image with almost no text; install OCR to have these pages read: {install}"
    )


@ocr
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "damaged"),
        (bytes(range(256)) * 9, "unsupported"),
        (b"\xff\xd8\xff", "damaged"),
    ],
)
def test_a_picture_that_is_none_is_refused(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert caught.value.code == code


def test_a_picture_of_too_many_pixels_is_refused() -> None:
    from io import BytesIO

    content = BytesIO()
    Image.new("1", (9_000, 8_000)).save(content, "PNG")
    with pytest.raises(DocumentError, match="million pixels") as caught:
        open_picture(content.getvalue(), name="wall.png")
    assert caught.value.code == "too_large"
