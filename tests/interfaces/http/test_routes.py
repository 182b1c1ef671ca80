"""The routes of the service, each asked as a client would ask it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from email.message import Message
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quoth.pipeline.retrieve import Request
from quoth.store.blobs import Blobs
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("served") / "sources")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory, sources: Path) -> AsyncIterator[House]:
    async with served(tmp_path_factory.mktemp("house")) as opened:
        await opened.add("ada", sources)
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(
    house: House, sources: Path, request: pytest.FixtureRequest
) -> AsyncIterator[httpx.AsyncClient]:
    """A tenant of the test's own, with the notes alone."""
    tenant = request.node.name
    await house.add(tenant, sources / "notes.md")
    async with house.client(house.key(tenant)) as client:
        yield client


def events_of(text: str) -> list[tuple[str, Any]]:
    """Read server-sent events."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    parts = [block.split("\n", 1) for block in blocks]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in parts
    ]


async def test_no_path_of_the_disk_leaves_the_service(
    ada: httpx.AsyncClient, house: House, sources: Path
) -> None:
    said = [await ada.post("/v1/query", json={"query": QUESTION, "cache": "none"})]
    query_id = said[0].json()["query_id"]
    said += [await ada.post("/v1/search", json={"query": QUESTION})]
    said += [await ada.post("/v1/query", json={"query": QUESTION, "stream": True})]
    document = said[0].json()["citations"][0]["document_id"]
    for path in (
        *("/v1/documents", f"/v1/documents/{document}", f"/v1/documents/{document}/passages"),
        f"/v1/documents/{document}/reading",
        *(f"/v1/queries/{query_id}", f"/v1/queries/{query_id}/explain?why_not=colony"),
        *(f"/v1/queries/{query_id}/export?format={each}" for each in ("md", "html", "json", "csv")),
    ):
        said.append(await ada.get(path))
    assert {each.status_code for each in said} == {200}
    for each in said:
        assert "file:" not in each.text
        assert str(sources) not in each.text
        assert str(house.home) not in each.text


async def test_a_stream_has_the_events_of_the_command_line(
    ada: httpx.AsyncClient, house: House
) -> None:
    asked = {"query": QUESTION, "stream": True, "cache": "none"}
    response = await ada.post("/v1/query", json=asked)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    names = [name for name, _data in events]
    assert names[0] == "status"
    assert names[-1] == "done"
    assert "error" not in names
    engine = house.tenants.engine("ada")
    told = [each.event async for each in engine.stream(Request(QUESTION, {"cache": "none"}))]
    assert {"hits", "token", "citation"} <= set(names)
    assert names == told
    assert all(data["event"] == name for name, data in events)
    assert events[-1][1]["answer"]["citations"]


async def test_a_question_that_is_not_to_be_kept_is_not(
    fresh: httpx.AsyncClient, house: House
) -> None:
    cache = house.tenants.engine("ada").parts.cache
    known = len(cache)
    await fresh.post("/v1/query", json={"query": QUESTION, "store": False})
    assert len(cache) == known
    assert (await fresh.get("/v1/queries")).json()["queries"] == []
    assert (await fresh.get("/v1/analytics")).json()["queries"] == 0


async def test_history_is_listed_shown_rated_and_forgotten(fresh: httpx.AsyncClient) -> None:
    answer = (await fresh.post("/v1/query", json={"query": QUESTION})).json()
    key = answer["query_id"]
    (listed,) = (await fresh.get("/v1/queries")).json()["queries"]
    assert (listed["query_id"], listed["text"]) == (key, QUESTION)
    behind = (await fresh.get("/v1/queries", params={"skip": 1})).json()
    assert (behind["queries"], behind["total"]) == ([], 1)
    assert (await fresh.get("/v1/queries", params={"words": "zeppelin"})).json()["total"] == 0
    rated = {"query_id": key, "rating": -1, "comment": "Not warm enough."}
    assert (await fresh.post("/v1/feedback", json=rated)).status_code == 204
    kept = (await fresh.get(f"/v1/queries/{key}")).json()
    assert kept["answer"]["text"] == answer["text"]
    assert kept["changed"] == []
    assert kept["options"] == {
        "collections": ["default"],
        "filters": {},
        **dict.fromkeys(("profile", "llm", "mode", "max_ms", "max_usd")),
    }
    assert kept["feedback"]["comment"] == "Not warm enough."
    assert (await fresh.patch(f"/v1/queries/{key}", json={"title": "Ruhe"})).status_code == 204
    said = max(answer["text"].split(), key=len).strip(".,").upper()
    assert said.casefold() not in QUESTION.casefold()
    searched = [("ruhe", 1), (f"RÙHÉ {QUESTION.split()[0]} {said}", 1), ("other", 0)]
    for words, count in searched:
        found = (await fresh.get("/v1/queries", params={"words": words})).json()["queries"]
        assert [query["title"] for query in found] == ["Ruhe"] * count
    assert (await fresh.patch("/v1/queries/q_none", json={"title": "x"})).status_code == 404
    assert (await fresh.delete(f"/v1/queries/{key}")).status_code == 204
    assert (await fresh.get(f"/v1/queries/{key}")).status_code == 404


async def test_the_history_keeps_what_a_question_was_asked_with(fresh: httpx.AsyncClient) -> None:
    chosen = {"mode": "keyword", "max_ms": 15_000, "llm": "none", "filters": {"page": "any"}}
    answer = (await fresh.post("/v1/query", json={"query": QUESTION, **chosen})).json()
    kept = (await fresh.get(f"/v1/queries/{answer['query_id']}")).json()["options"]
    assert kept == {"collections": ["default"], "profile": None, "max_usd": None, **chosen}
    named = {"query": QUESTION, "mode": "bm25", "max_usd": 0.25}
    answer = (await fresh.post("/v1/query", json=named)).json()
    kept = (await fresh.get(f"/v1/queries/{answer['query_id']}")).json()["options"]
    assert (kept["mode"], kept["max_usd"], kept["llm"]) == ("keyword", 0.25, None)


async def test_a_collection_that_was_deleted_leaves_nothing_to_its_namesake(
    ada: httpx.AsyncClient, house: House, sources: Path, tmp_path: Path
) -> None:
    await house.add("ada", sources / "notes.md", collection="bees")
    asked = {"query": QUESTION, "collection": "bees"}
    assert (await ada.post("/v1/query", json=asked)).json()["citations"]
    assert (await ada.delete("/v1/collections/bees")).status_code == 204
    assert (await ada.get("/v1/collections/bees")).status_code == 404
    assert (await ada.get("/v1/queries", params={"collection": "bees"})).status_code == 404
    made = await ada.post("/v1/collections", json={"name": "bees"})
    assert made.status_code == 201
    assert made.json()["documents"] == 0
    assert (await ada.post("/v1/query", json=asked)).status_code == 409
    other = tmp_path / "other.md"
    other.write_text("# Whales\n\nA colony of seals rests on the ice in winter.\n", "utf-8")
    await house.add("ada", other, collection="bees")
    answer = (await ada.post("/v1/query", json=asked)).json()
    assert {each["document_name"] for each in answer["citations"]} <= {"Whales"}
    assert not answer["cached"]


async def test_an_original_is_given_out_as_an_attachment(
    ada: httpx.AsyncClient, sources: Path
) -> None:
    documents = (await ada.get("/v1/documents")).json()["documents"]
    (book,) = [each for each in documents if each["kind"] == "pdf"]
    found = await ada.get(f"/v1/documents/{book['document_id']}/original")
    assert found.content == (sources / "book.pdf").read_bytes()
    assert found.headers["content-disposition"].startswith("attachment;")
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in found.headers["content-security-policy"]
    assert book["source"] == "book.pdf"


async def test_passages_around_a_citation_are_read(ada: httpx.AsyncClient) -> None:
    cited = (await ada.post("/v1/query", json={"query": QUESTION})).json()["citations"][0]
    path = f"/v1/documents/{cited['document_id']}/passages"
    found = (await ada.get(path, params={"around": cited["chunk_id"], "window": 1})).json()
    assert cited["chunk_id"] in [each["chunk_id"] for each in found["passages"]]
    assert cited["snippet"] in "".join(each["text"] for each in found["passages"])
    whole = (await ada.get(path, params={"limit": 100})).json()
    assert len(whole["passages"]) == whole["total"]


async def test_a_deleted_document_is_not_found_again(
    fresh: httpx.AsyncClient, house: House, sources: Path, request: pytest.FixtureRequest
) -> None:
    await house.add(request.node.name, sources / "miel.md")
    cited = (await fresh.post("/v1/query", json={"query": QUESTION})).json()["citations"][0]
    assert (await fresh.delete(f"/v1/documents/{cited['document_id']}")).status_code == 204
    assert (await fresh.get(f"/v1/documents/{cited['document_id']}")).status_code == 404
    again = (await fresh.post("/v1/query", json={"query": QUESTION})).json()
    assert cited["document_id"] not in [each["document_id"] for each in again["citations"]]


async def test_a_share_opens_its_collection_and_nothing_else(
    house: House, ada: httpx.AsyncClient, sources: Path
) -> None:
    await house.add("ada", sources / "notes.md", collection="shared")
    asked = (await ada.post("/v1/query", json={"query": QUESTION})).json()
    elsewhere = asked["citations"][0]["document_id"]
    async with house.client(house.share("ada", collection="shared")) as guest:
        own = (await guest.post("/v1/query", json={"query": QUESTION})).json()
        assert own["status"] == "answered"
        there = (await guest.get("/v1/collections")).json()["collections"]
        assert [each["name"] for each in there] == ["shared"]
        assert (await guest.get(f"/v1/documents/{elsewhere}")).status_code == 404
        other = {"query": QUESTION, "collection": "default"}
        assert (await guest.post("/v1/query", json=other)).status_code == 404
        assert (
            await guest.get("/v1/documents", params={"collection": "default"})
        ).status_code == 404
        assert (await guest.get("/v1/queries")).status_code == 403
        assert (await guest.get(f"/v1/queries/{own['query_id']}")).status_code == 403
        assert (await guest.get("/v1/suggestions")).status_code == 403
        assert (await guest.delete("/v1/collections/shared")).status_code == 403


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": QUESTION, "topK": 60}, "top_k"),
        ({"query": QUESTION, "topK": 3, "top_k": 4}, "top_k"),
        ({"query": QUESTION, "top_k": "3"}, "top_k"),
        ({"query": QUESTION, "top_k": True}, "top_k"),
        ({"query": QUESTION, "stream": "true"}, "stream"),
        ({"query": QUESTION, "tenant": "bob"}, "tenant"),
        ({"query": QUESTION, "collection": "a\x00b"}, "collection"),
        ({"query": QUESTION, "filters": {"tenant": "bob"}}, "tenant"),
        ({"query": QUESTION, "filters": {"page": "9-3"}}, "range"),
        ({"query": QUESTION, "collection": "default", "scope": {}}, "one of"),
        ({"query": QUESTION, "llm": "gpt-of-somebody"}, "language model"),
        ({"query": "?!"}, "query"),
        ({"query": "x" * 1001}, "query"),
        ({"query": "bees\x00"}, "control"),
        ({"query": 17}, "query"),
        ([], "body"),
    ],
)
async def test_a_wrong_body_is_refused_by_the_name_of_what_is_wrong(
    ada: httpx.AsyncClient, body: Any, named: str
) -> None:
    refused = await ada.post("/v1/query", json=body)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert named in refused.json()["detail"]
    assert refused.json()["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"query": "\\ud800 what is this"}', 422),
        (b'{"\\ud800": "what is this", "query": "what is this"}', 422),
        (b'{"query": "\xff\xfe what"}', 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b'{"query": "what is this", "mmr_lambda": NaN}', 422),
        (b'{"query": "what is this", "mmr_lambda": 1e999}', 422),
        (b'{"query": "what is this", "top_k": ' + b"9" * 5000 + b"}", 400),
        (b'{"query": ', 422),
        (b"", 422),
        (b"null", 422),
        (b'"text"', 422),
    ],
)
async def test_bytes_that_are_no_good_json_are_refused(
    ada: httpx.AsyncClient, body: bytes, status: int
) -> None:
    headers = {"content-type": "application/json"}
    refused = await ada.post("/v1/query", content=body, headers=headers)
    assert refused.status_code == status
    refused.json()


async def test_what_nobody_expected_is_told_by_its_id_only(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: Any, **_names: Any) -> None:
        raise RuntimeError("SELECT secret FROM /etc/passwd")

    monkeypatch.setattr(type(house.tenants.engine("ada")), "retrieve", fail)
    async with house.client(house.key("ada"), loud=False) as client:
        found = await client.post("/v1/search", json={"query": QUESTION})
    assert found.status_code == 500
    assert "passwd" not in found.text
    assert "Traceback" not in found.text
    assert found.json()["request_id"] == found.headers["x-request-id"] != ""
    assert "content-security-policy" in found.headers


HOSTILE_NAMES = (
    'quo"te.md',
    "semi;filename=evil.exe;.md",
    "line\nbreak: x.md",
    "car\rriage.md",
    "\u202egpj.md",
    "CON.md",
    "..md",
    "...hidden.md",
    "per%0d%0acent.md",
    "per%2e%2e%2fcent.md",
    "umlaut-ä-é-漢字.md",
    "back\\slash.md",
    "tab\tbed.md",
    "<script>alert(1)<script>.md",
    "n" * 240 + ".md",
)


async def test_no_name_of_a_file_gets_out_of_the_header(house: House, tmp_path: Path) -> None:
    for number, name in enumerate(HOSTILE_NAMES):
        (tmp_path / name).write_text(f"# Note {number}\n\nBees number {number}.\n", "utf-8")
    ids = await house.add("names", *(tmp_path / name for name in HOSTILE_NAMES))
    assert len(ids) == len(HOSTILE_NAMES)
    async with house.client(house.key("names")) as client:
        for key in ids:
            found = await client.get(f"/v1/documents/{key}/original")
            assert found.status_code == 200
            assert found.text.startswith("# Note")
            disposition = found.headers["content-disposition"]
            assert disposition.startswith("attachment; filename")
            assert disposition.isascii()
            assert disposition.isprintable()
            message = Message()
            message["content-disposition"] = disposition
            shown = message.get_filename() or ""
            assert shown.endswith(".md")
            assert not set(shown) & set("/\\\r\n\t\u202e")
            assert found.headers["content-type"] == "application/octet-stream"


async def test_history_is_the_tenants_and_answers_are_not_shared_between_sessions(
    house: House, fresh: httpx.AsyncClient, request: pytest.FixtureRequest
) -> None:
    asked = {"query": QUESTION, "cache": "semantic", "session": "s1"}
    await fresh.post("/v1/query", json=asked)
    async with house.client(house.key(request.node.name)) as colleague:
        kept = (await colleague.get("/v1/queries")).json()["queries"]
        assert [each["text"] for each in kept] == [QUESTION]
        again = (await colleague.post("/v1/query", json=asked)).json()
    assert not again["cached"]
    assert (await fresh.post("/v1/query", json=asked)).json()["cached"]


@pytest.mark.parametrize("path", ["/v1/queries", "/v1/documents"])
async def test_pages_are_no_longer_than_a_hundred(ada: httpx.AsyncClient, path: str) -> None:
    assert (await ada.get(path, params={"limit": 101})).status_code == 422
    assert (await ada.get(path, params={"limit": 100})).status_code == 200


async def test_the_file_of_an_upload_goes_with_its_document(
    house: House, fresh: httpx.AsyncClient, request: pytest.FixtureRequest
) -> None:
    blobs = Blobs(house.home, tenant=request.node.name).folder
    for delete in ("document", "collection"):
        text = f"# Wasps\n\nA wasp is no bee, says the {delete}.\n"
        sent = await fresh.post(
            "/v1/uploads", params={"name": "wasps.md", "collection": "wasps"}, content=text
        )
        async with house.working():
            task = await ended(fresh, sent.json()["id"])
        key = task["document_id"]
        assert (await fresh.get(f"/v1/documents/{key}/original")).text == text
        asked = {"query": "Is a wasp a bee?", "upload_id": task["id"]}
        cited = (await fresh.post("/v1/query", json=asked)).json()["citations"]
        assert {each["document_id"] for each in cited} == {key}
        assert cited[0]["link"].startswith(f"/v1/documents/{key}/original")
        listed = (await fresh.get("/v1/queries", params={"upload_id": task["id"]})).json()
        assert [each["text"] for each in listed["queries"]] == ["Is a wasp a bee?"]
        gone = {"document": f"/v1/documents/{key}", "collection": "/v1/collections/wasps"}
        for path in blobs.rglob("*.md"):
            os.utime(path, (1, 1))
        assert (await fresh.delete(gone[delete])).status_code == 204
        assert not list(blobs.rglob("*.md"))


async def ended(client: httpx.AsyncClient, upload_id: str) -> Any:
    """Wait until the fate of an upload is known."""
    async with asyncio.timeout(20):
        while True:
            task = (await client.get(f"/v1/uploads/{upload_id}")).json()
            if task["state"] in ("ready", "failed"):
                assert task["state"] == "ready", task
                return task
            await asyncio.sleep(0.05)
