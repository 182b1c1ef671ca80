"""The service writes exactly one row for all that changes something, asks, or is turned away."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from quoth.interfaces.http.middleware.audit import ACTIONS, ANONYMOUS_PER_MINUTE
from quoth.interfaces.http.request_state import READING_METHODS
from quoth.store.audit import Audit, load_head
from tests.support.service_client import House, audit_rows, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")

BODIES = {"POST /v1/query": {"query": "How does a colony stay warm in winter?"}}
"""Bodies that are good; every other route is sent an empty one, and may refuse that."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("audited") / "sources")
    async with served(tmp_path_factory.mktemp("house"), audit=True) as opened:
        await opened.add("ada", sources)
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def ada(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with house.client(house.key("ada"), loud=False) as client:
        yield client


def changing(app: FastAPI) -> list[tuple[str, str]]:
    """Every method and route of the application that is not a mere look."""
    return [
        (method, str(route.path))
        for route in iter_route_contexts(app.routes)
        for method in sorted(route.methods or ())
        if method not in READING_METHODS
    ]


async def test_every_changing_route_writes_exactly_one_row(
    house: House, ada: httpx.AsyncClient
) -> None:
    routes = changing(house.app)
    assert len(routes) >= 10
    for method, template in sorted(routes, key=lambda each: "privacy/data" in each[1]):
        before = audit_rows(house, "ada")
        path = re.sub(r"\{[^}]+\}", "absent", template)
        body = BODIES.get(f"{method} {template}", {})
        response = await ada.request(method, path, json=body)
        added = audit_rows(house, "ada")[len(before) :]
        assert len(added) == 1, (method, template, response.status_code, added)
        assert added[0].result.endswith(str(response.status_code))
        assert (
            added[0].action
            == ACTIONS.get(f"{method} {template}", f"{method} {template}".casefold())[:40]
        )
        assert added[0].request_id == response.headers["x-request-id"]
    assert Audit(house.tenants.database, tenant="ada").verify().whole


async def test_looking_writes_nothing(house: House, ada: httpx.AsyncClient) -> None:
    before = audit_rows(house, "ada")
    for path in ("/v1/documents", "/v1/collections", "/v1/privacy", "/nowhere"):
        await ada.get(path)
    assert audit_rows(house, "ada") == before


async def test_a_question_is_noted_without_its_words(house: House, tmp_path: Path) -> None:
    token = house.key("eve")
    await house.add("eve", write_sources(tmp_path / "sources") / "notes.md")
    async with house.client(token) as eve:
        secret = "Where did the zeppelin land in secret?"
        await eve.post("/v1/query", json={"query": secret})
        await eve.post("/v1/query", json={"query": secret, "stream": True})
    rows = audit_rows(house, "eve")
    assert [each.action for each in rows] == ["ask", "ask"]
    assert {each.result for each in rows} == {"done 200"}
    assert token.startswith(f"qth_{rows[0].key_id}_") or rows[0].key_id in token
    assert "zeppelin" not in str(rows)


async def test_whoever_is_turned_away_is_noted(house: House) -> None:
    operator = house.tenants.settings.tenant
    before = audit_rows(house, operator)
    async with house.client("qth_aaaaaaaa_" + "x" * 43) as stranger:
        await stranger.get("/v1/documents/zeppelin?page_number=1")
        await stranger.post("/v1/query", json={"query": "May I come in?"})
    added = audit_rows(house, operator)[len(before) :]
    assert [(each.action, each.object_id, each.result) for each in added] == [
        ("auth", "GET /v1/documents/{document_id}", "refused 401"),
        ("ask", "", "refused 401"),
    ]
    before = audit_rows(house, "ada")
    async with house.client(house.key("ada", scopes=("read",))) as reader:
        await reader.get("/v1/keys")
    (row,) = audit_rows(house, "ada")[len(before) :]
    assert (row.action, row.object_id, row.result) == ("auth", "GET /v1/keys", "refused 403")


async def test_strangers_cannot_fill_the_disk(house: House) -> None:
    operator = house.tenants.settings.tenant
    before = audit_rows(house, operator)
    async with house.client("") as stranger:
        for _ in range(ANONYMOUS_PER_MINUTE + 20):
            response = await stranger.post("/v1/query", json={})
            assert response.status_code == 401
    assert len(audit_rows(house, operator)) - len(before) <= ANONYMOUS_PER_MINUTE + 1


async def test_requests_at_once_make_one_chain_and_a_head(
    house: House, ada: httpx.AsyncClient
) -> None:
    audit = Audit(house.tenants.database, tenant="ada")
    before = audit.head().number
    await asyncio.gather(*(ada.post("/v1/feedback", json={}) for _ in range(40)))
    found = audit.verify(kept=load_head(house.home, "ada"))
    assert found.whole
    assert found.head.number == before + 40
    assert load_head(house.home, "ada") == found.head
