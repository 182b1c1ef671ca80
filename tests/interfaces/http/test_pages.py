"""Pages of PDF files: drawn by the server, with the very glyphs of a span marked."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium
import pytest
import pytest_asyncio

from quoth.ingest.readers.pdf.marks import spelled
from quoth.text.sentences import sentences
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")
COURSE = Path(__file__).parents[3] / "examples" / "hf-course" / "books" / "course.fr.pdf"
LINES = [
    "A colony of bees keeps itself warm in winter.",
    "Honey is made from the nectar of many flowers.",
    "The old queen leaves the hive with a swarm.",
    "Wax is built into cells with six equal sides.",
    "A drone has no sting and gathers no nectar.",
]
CROP = (50, 300, 500, 700)


def write_turned(path: Path) -> None:
    """Write a PDF with one line on every page: turned four ways, and cropped."""
    document = pdfium2.PdfDocument.new()
    for number, text in enumerate(LINES):
        page = document.new_page(600, 800)
        line = pdfium.FPDFPageObj_NewTextObj(document.raw, b"Helvetica", 14)
        units = (text + "\x00").encode("utf-16-le")
        pdfium.FPDFText_SetText(line, (pdfium.FPDF_WCHAR * (len(text) + 1)).from_buffer_copy(units))
        pdfium.FPDFPageObj_Transform(line, 1, 0, 0, 1, 80, 620)
        pdfium.FPDFPage_InsertObject(page.raw, line)
        pdfium.FPDFPage_GenerateContent(page.raw)
        page.set_rotation(90 * (number % 4))
        if number in (1, 4):
            page.set_cropbox(*CROP)
    document.save(path)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("pages") / "sources")
    write_turned(sources / "turned.pdf")
    async with served(tmp_path_factory.mktemp("house")) as opened:
        await opened.add("ada", sources, COURSE)
        yield opened


async def address(ada: httpx.AsyncClient, name: str) -> str:
    documents = (await ada.get("/v1/documents", params={"limit": 100})).json()["documents"]
    (found,) = [each["document_id"] for each in documents if each["source"] == name]
    return f"/v1/documents/{found}"


def ink(png: bytes) -> tuple[float, float, float, float]:
    """Return the rectangle of everything dark in a PNG without filters, as shares."""
    width, height = struct.unpack(">II", png[16:24])
    at, packed = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    pixels = zlib.decompress(packed)
    step = 3 if png[25] == 2 else 1  # colour or grey
    length = step * width + 1
    assert len(pixels) == height * length
    rows = [pixels[y * length + 1 : (y + 1) * length : step] for y in range(height)]
    ys = [y for y, row in enumerate(rows) if min(row) < 128]
    xs = [x for x in range(width) if min(row[x] for row in rows) < 128]
    return xs[0] / width, ys[0] / height, (xs[-1] + 1) / width, (ys[-1] + 1) / height


async def test_marks_lie_on_the_ink_of_turned_and_cropped_pages(ada: httpx.AsyncClient) -> None:
    path = await address(ada, "turned.pdf")
    text = (await ada.get(f"{path}/reading")).json()["blocks"]
    assert [block["text"] for block in text] == LINES
    for number, block in enumerate(text, start=1):
        span = {"start": block["start"], "end": block["end"]}
        found = (await ada.get(f"{path}/marks", params=span)).json()
        assert found["exact"]
        (page,) = found["pages"]
        assert (page["page"], page["label"]) == (number, str(number))
        drawn = await ada.get(f"{path}/pages/{number}/image", params={"width": 900})
        assert drawn.headers["content-type"] == "image/png"
        lefts, tops, rights, bottoms = zip(*page["rectangles"], strict=True)
        marked = (min(lefts), min(tops), max(rights), max(bottoms))
        assert marked == pytest.approx(ink(drawn.content), abs=0.006)
        width, height = struct.unpack(">II", drawn.content[16:24])
        assert width == 900
        assert height / width == pytest.approx(page["height"] / page["width"], abs=0.01)


async def test_the_glyphs_under_the_marks_spell_the_span(
    ada: httpx.AsyncClient, house: House
) -> None:
    path = await address(ada, "course.fr.pdf")
    catalogue = house.tenants.engine("ada").parts.catalogue
    chunks = catalogue.document_chunks(path.rpartition("/")[2])
    text = "".join(chunk.text for chunk in chunks)
    exact = 0
    with pdfium2.PdfDocument(COURSE) as document:
        for start, end in random.Random(7).sample(sentences(text), 12):
            found = (await ada.get(f"{path}/marks", params={"start": start, "end": end})).json()
            exact += found["exact"]
            assert found["exact"] == any(page["rectangles"] for page in found["pages"])
            under = "".join(glyphs_under(document, page) for page in found["pages"])
            assert not found["exact"] or sorted(under) == sorted(spelled(text[start:end]))
    assert exact >= 11


def glyphs_under(document: pdfium2.PdfDocument, marked: dict[str, Any]) -> str:
    """Return what the glyphs spell whose middle is in a rectangle; the page is upright."""
    page = document[marked["page"] - 1]
    textpage = page.get_textpage()
    width, height = page.get_size()
    found = ""
    for index in range(textpage.count_chars()):
        left, bottom, right, top = textpage.get_charbox(index)
        x, y = (left + right) / 2 / width, 1 - (bottom + top) / 2 / height
        if any(a <= x <= c and b <= y <= d for a, b, c, d in marked["rectangles"]):
            found += spelled(textpage.get_text_range(index, 1))
    return found


@pytest.mark.parametrize(
    ("page", "status"), [("0", 422), ("10000", 404), ("1?width=199", 422), ("1?width=2001", 422)]
)
async def test_a_page_that_is_not_there_is_a_problem(
    ada: httpx.AsyncClient, page: str, status: int
) -> None:
    number, _, query = page.partition("?")
    found = await ada.get(f"{await address(ada, 'course.fr.pdf')}/pages/{number}/image?{query}")
    assert found.status_code == status
    assert found.headers["cache-control"] == "private, no-store"


async def test_a_file_that_changed_is_not_drawn(
    ada: httpx.AsyncClient, house: House, tmp_path: Path
) -> None:
    write_turned(tmp_path / "changes.pdf")
    (added,) = await house.add("ada", tmp_path / "changes.pdf", collection="changing")
    path = f"/v1/documents/{added}/pages/1/image"
    assert (await ada.get(path)).status_code == 200
    with (tmp_path / "changes.pdf").open("ab") as file:
        file.write(b"%")
    assert (await ada.get(path)).status_code == 410
