"""A tenant sees what is kept and what leaves, decides it, takes everything, deletes everything."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quoth.operations.tenant_data import digest_of
from quoth.pipeline.egress import apply_privacy_settings, list_egress
from quoth.testing import ScriptedGenerator
from tests.support.service_client import House, audit_rows, served
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"


class Provider(ScriptedGenerator):
    """A language model that is not on this machine."""

    endpoint = "models.example.com"
    local = False


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("private") / "sources")


@pytest_asyncio.fixture
async def house(tmp_path: Path, sources: Path) -> AsyncIterator[House]:
    async with served(tmp_path / "house", audit=True) as opened:
        await opened.add("ada", sources)
        yield opened


@pytest_asyncio.fixture
async def ada(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with house.client(house.key("ada")) as client:
        yield client


def _with_provider(house: House, tenant: str) -> Provider:
    engine = house.tenants.engine(tenant)
    provider = Provider("A model wrote this. [1]")
    engine.parts = replace(engine.parts, generator=provider)
    return provider


async def test_nothing_leaves_without_a_language_model(ada: httpx.AsyncClient) -> None:
    said = (await ada.get("/v1/privacy")).json()
    assert said == {
        "history": "full",
        "retention_days": 90,
        "audit_days": 365,
        "may_leave": True,
        "leaves": [],
        "telemetry": False,
        "decided_at": None,
    }


async def test_what_leaves_and_to_whom_is_listed(ada: httpx.AsyncClient, house: House) -> None:
    _with_provider(house, "ada")
    (place,) = (await ada.get("/v1/privacy")).json()["leaves"]
    assert (place["to"], place["local"]) == ("models.example.com", False)
    assert "the question" in place["what"]


async def test_who_lets_nothing_leave_is_answered_without_the_model(
    ada: httpx.AsyncClient, house: House
) -> None:
    provider = _with_provider(house, "ada")
    await ada.post("/v1/query", json={"query": QUESTION})
    asked = len(provider.told)
    assert asked > 0
    wanted = {"history": "full", "retention_days": 90, "may_leave": False}
    assert (await ada.put("/v1/privacy", json=wanted)).json()["may_leave"] is False
    for body in ({"query": QUESTION}, {"query": QUESTION, "stream": True}):
        response = await ada.post("/v1/query", json=body)
        assert response.status_code == 200
        assert "A model wrote this" not in response.text
    assert len(provider.told) == asked
    parts = house.tenants.engine("ada").parts
    assert apply_privacy_settings(parts).generator is None
    assert list_egress(parts)[0].to == "models.example.com"


async def test_a_model_on_this_machine_may_still_be_asked(house: House) -> None:
    provider = _with_provider(house, "ada")
    provider.local = True
    async with house.client(house.key("ada")) as ada:
        wanted = {"history": "full", "retention_days": 90, "may_leave": False}
        await ada.put("/v1/privacy", json=wanted)
    assert apply_privacy_settings(house.tenants.engine("ada").parts).generator is provider


@pytest.mark.parametrize(("history", "kept"), [("full", 1), ("hash", 1), ("off", 0)])
async def test_no_more_is_kept_than_the_tenant_wants(
    history: str, kept: int, ada: httpx.AsyncClient, house: House
) -> None:
    wanted = {"history": history, "retention_days": 90, "may_leave": True}
    await ada.put("/v1/privacy", json=wanted)
    await ada.post("/v1/query", json={"query": QUESTION})
    asked = (await ada.get("/v1/queries")).json()["queries"]
    assert len(asked) == kept
    assert (QUESTION in str(asked)) is (history == "full")
    answered = await house.tenants.engine("ada").answer("Who is the mother of every bee?")
    del answered
    texts = [each.text for each in house.tenants.engine("ada").parts.catalogue.asked(limit=9)]
    assert ("Who is the mother of every bee?" in texts) is (history == "full")


async def test_bad_decisions_are_refused(ada: httpx.AsyncClient) -> None:
    good: dict[str, Any] = {"history": "full", "retention_days": 90, "may_leave": True}
    for wrong in (
        {**good, "history": "some"},
        {**good, "retention_days": 0},
        {**good, "retention_days": 10_000},
        {**good, "may_leave": "yes"},
        {**good, "more": 1},
        {},
    ):
        assert (await ada.put("/v1/privacy", json=wrong)).status_code == 422


async def test_only_admins_decide_take_and_delete(house: House) -> None:
    async with house.client(house.key("ada", scopes=("read", "ingest"))) as reader:
        assert (await reader.get("/v1/privacy")).status_code == 200
        for method, path in (
            ("PUT", "/v1/privacy"),
            ("GET", "/v1/privacy/export"),
            ("DELETE", "/v1/privacy/data"),
            ("POST", "/v1/privacy/purge"),
        ):
            assert (await reader.request(method, path)).status_code == 403
    async with house.client(house.share("ada", collection="default")) as share:
        assert (await share.get("/v1/privacy")).status_code == 403


async def test_a_tenant_takes_and_deletes_everything_with_a_proof(
    ada: httpx.AsyncClient, house: House, sources: Path
) -> None:
    await house.add("bob", sources)
    token = house.key("bob")
    async with house.client(token) as bob:
        answer = (await bob.post("/v1/query", json={"query": QUESTION})).json()
        await bob.post("/v1/feedback", json={"query_id": answer["query_id"], "rating": 1})
        response = await bob.get("/v1/privacy/export")
        rows = [json.loads(line) for line in response.text.splitlines()]
        tables = {each["table"] for each in rows}
        assert {"documents", "chunks", "queries", "answers", "feedback", "audit"} <= tables
        assert token not in response.text
        assert str(sources) not in response.text
        assert str(house.home) not in response.text
        assert QUESTION in response.text

        said = (await bob.request("DELETE", "/v1/privacy/data")).json()
        assert said["complete"], said["purged"]["left"]
        documents = [each for each in rows if each["table"] == "documents"]
        assert said["proof"]["rows"]["documents"] == len(documents)
        assert said["proof"]["digest"] == digest_of(rows)
        assert (await bob.get("/v1/queries")).json()["queries"] == []
        left = {
            json.loads(line)["table"]
            for line in (await bob.get("/v1/privacy/export")).text.splitlines()
        }
        assert left <= {"keys", "audit", "privacy"}
    last = [each for each in audit_rows(house, "bob") if each.action == "privacy.delete"]
    assert [each.object_id for each in last] == [said["proof"]["digest"]]
    assert len((await ada.get("/v1/documents")).json()["documents"]) == len(documents)
    assert (await ada.post("/v1/query", json={"query": QUESTION})).json()["status"] == "answered"


async def test_a_purge_can_be_asked_for(ada: httpx.AsyncClient, house: House) -> None:
    listed = (await ada.get("/v1/documents")).json()["documents"]
    (notes,) = [each for each in listed if each["source"] == "notes.md"]
    await ada.post("/v1/query", json={"query": QUESTION})
    await ada.delete(f"/v1/documents/{notes['document_id']}")
    done = (await ada.post("/v1/privacy/purge")).json()
    assert done["left"] == []
    words = next(iter(write_sources(house.home / "again").glob("notes.md"))).read_bytes()
    line = max(words.splitlines(), key=len)[:60]
    (house.home / "again" / "notes.md").unlink()
    holding = [p for p in house.home.rglob("*") if p.is_file() and line in p.read_bytes()]
    assert [p for p in holding if "again" not in p.parts] == []
