"""The reading view of every kind of document: its stored text in blocks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.support.service_client import House, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")
COURSE = Path(__file__).parents[3] / "examples" / "hf-course"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("reading") / "sources")
    async with served(tmp_path_factory.mktemp("house")) as opened:
        await opened.add("ada", sources, COURSE / "books" / "course.fr.pdf")
        yield opened


def stored_text(house: House, document_id: str) -> str:
    chunks = house.tenants.engine("ada").parts.catalogue.document_chunks(document_id)
    return "".join(chunk.text for chunk in chunks)


async def listed(ada: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await ada.get("/v1/documents")).json()["documents"])


async def test_the_pages_of_every_document_hold_its_whole_text_once(
    ada: httpx.AsyncClient, house: House
) -> None:
    documents = await listed(ada)
    assert {each["kind"] for each in documents} >= {"pdf", "transcript", "markdown"}
    for document in documents:
        path, text = f"/v1/documents/{document['document_id']}/reading", ""
        whole = stored_text(house, document["document_id"])
        begin, blocks = 0, []
        while begin < len(whole):
            page = (await ada.get(path, params={"start": begin, "context": 5000})).json()
            assert page["total_chars"] == len(whole)
            assert begin < page["end"]
            begin = page["end"]
            blocks += page["blocks"]
        for block in blocks:
            assert block["text"] == whole[block["start"] : block["end"]]
            assert not whole[len(text) : block["start"]].strip()
            text = whole[: block["end"]]
        assert not whole[len(text) :].strip()


async def test_a_span_is_shown_in_whole_blocks_with_their_context(
    ada: httpx.AsyncClient, house: House
) -> None:
    for document in await listed(ada):
        whole = stored_text(house, document["document_id"])
        middle = len(whole) // 2
        path = f"/v1/documents/{document['document_id']}/reading"
        asked = {"start": middle, "end": middle + 20, "context": 100}
        found = (await ada.get(path, params=asked)).json()
        assert found["span"] == {"start": middle, "end": middle + 20}
        assert found["start"] == found["blocks"][0]["start"] <= max(0, middle - 98)
        assert found["end"] >= min(middle + 118, len(whole.rstrip()))
        pages = {
            (block["locator"]["first"], block["locator"]["last"])
            for block in found["blocks"]
            if document["kind"] == "pdf"
        }
        assert all(first == last for first, last in pages)


@pytest.mark.parametrize(
    "asked",
    [
        {"start": 10, "end": 10},
        {"start": 20, "end": 10},
        {"start": 10**9},
        {"start": 0, "end": 10**9},
        {"start": -1},
        {"context": 50_001},
        {"start": "a"},
    ],
)
async def test_a_bad_range_is_a_problem(ada: httpx.AsyncClient, asked: dict[str, Any]) -> None:
    document = (await listed(ada))[0]
    found = await ada.get(f"/v1/documents/{document['document_id']}/reading", params=asked)
    assert found.status_code == 422
    assert found.headers["content-type"] == "application/problem+json"
