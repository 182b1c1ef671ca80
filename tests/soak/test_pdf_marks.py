"""Marks on PDF pages: the glyphs under them spell the span, else nothing is marked."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium
import pytest

from quoth.ingest.readers.pdf.marks import spelled
from quoth.text.sentences import sentences
from tests.support.service_client import served

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
SOURCES = [ROOT / "examples" / "hf-course" / "books", ROOT / "tests" / "fixtures" / "pdf"]
WANTED = 300
SIDE = 100_000
"""Units of a page's width and height to which positions are converted."""


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_three_hundred_citations_are_marked_by_their_glyphs_or_not_at_all(
    tmp_path: Path,
) -> None:
    sources = [*SOURCES, *(each for each in [DATA / "pdfs"] if each.is_dir())]
    checked = exact = 0
    chance = random.Random(300)
    async with served(tmp_path / "house") as house:
        await house.add("ada", *sources)
        parts = house.tenants.engine("ada").parts
        async with house.client(house.key("ada")) as client:
            listed = (await client.get("/v1/documents", params={"limit": 100})).json()["documents"]
            pdfs = [each for each in listed if each["kind"] == "pdf" and each["status"] == "ready"]
            found = [span for each in pdfs for span in spans_of(each, parts, chance=chance)]
            for document_id, source, span, words in chance.sample(found, min(WANTED, len(found))):
                query = {"start": span[0], "end": span[1]}
                answer = await client.get(f"/v1/documents/{document_id}/marks", params=query)
                marks = answer.json()
                checked += 1
                exact += marks["exact"]
                assert marks["exact"] == any(page["rectangles"] for page in marks["pages"])
                if marks["exact"]:
                    with pdfium2.PdfDocument(source) as pdf:
                        under = "".join(glyphs_under(pdf, page) for page in marks["pages"])
                    assert sorted(under) == sorted(spelled(words)), (source, span)
    assert checked == WANTED
    assert exact >= 0.9 * checked, f"{exact} of {checked}"


def spans_of(document: Any, parts: Any, *, chance: random.Random) -> list[Any]:
    """Return up to 30 sentences of a document, with its file."""
    key = document["document_id"]
    text = "".join(chunk.text for chunk in parts.catalogue.document_chunks(key))
    source = parts.catalogue.documents_by_id(parts.catalogue.collection("default"), [key])[key]
    spans = [span for span in sentences(text) if text[slice(*span)].strip()]
    return [
        (key, source.source, span, text[slice(*span)])
        for span in chance.sample(spans, min(30, len(spans)))
    ]


def glyphs_under(pdf: pdfium2.PdfDocument, marked: dict[str, Any]) -> str:
    """Return what the glyphs spell whose middle is in a rectangle, on pages turned any way."""
    page = pdf[marked["page"] - 1]
    textpage = page.get_textpage()
    found = ""
    for index in range(textpage.count_chars()):
        left, bottom, right, top = textpage.get_charbox(index)
        across, down = ctypes.c_int(), ctypes.c_int()
        middle = (left + right) / 2, (bottom + top) / 2
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, SIDE, SIDE, 0, *middle, across, down)
        x, y = across.value / SIDE, down.value / SIDE
        if any(a <= x <= c and b <= y <= d for a, b, c, d in marked["rectangles"]):
            found += spelled(textpage.get_text_range(index, 1))
    return found
