"""Keys and shares over HTTP, by the real application behind its gate; and that all is behind it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quoth.interfaces.http.request_state import SESSION_PATH
from quoth.pipeline.components import embedding_fingerprint
from quoth.store.catalogue import Catalogue
from tests.support.auth_app import House, gated
from tests.support.service_client import shared_app

MANY = {
    "key_questions_burst": 1000,
    "key_questions_per_minute": 100_000,
    "wrong_keys_per_minute": 1000,
}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with gated(tmp_path, make=shared_app, **MANY) as opened:
        yield opened


async def test_an_admin_makes_lists_and_revokes_keys(house: House) -> None:
    async with house.client(house.key("ada").token) as client:
        made = await client.post("/v1/keys", json={"label": "intranet", "scopes": ["read"]})
        assert made.status_code == 201
        token, key = made.json()["token"], made.json()["key"]
        listed = (await client.get("/v1/keys")).json()
        assert key in listed
        assert {each["tenant"] for each in listed} == {"ada"}
        assert token not in (await client.get("/v1/keys")).text
        async with house.client(token) as other:
            assert (await other.get("/v1/collections")).status_code == 200
            assert (await client.delete(f"/v1/keys/{key['key_id']}")).status_code == 204
            house.clock.now += 1
            assert (await other.get("/v1/collections")).status_code == 401


async def test_a_key_gives_no_more_than_it_has(house: House) -> None:
    async with house.client(house.key(scopes=("read", "admin")).token) as client:
        for scopes in (["ingest"], ["read", "live"]):
            answer = await client.post("/v1/keys", json={"label": "x", "scopes": scopes})
            assert (answer.status_code, answer.json()["code"]) == (403, "denied")
        answer = await client.post("/v1/keys", json={"label": "x", "scopes": ["admin"]})
        assert answer.status_code == 201


async def test_without_the_scope_admin_there_are_no_keys_to_see(house: House) -> None:
    async with house.client(house.key(scopes=("read", "ingest", "live")).token) as client:
        for method, path in (
            ("GET", "/v1/keys"),
            ("POST", "/v1/keys"),
            ("DELETE", "/v1/keys/x"),
            ("GET", "/v1/shares"),
            ("POST", "/v1/shares"),
            ("DELETE", "/v1/shares/x"),
        ):
            assert (await client.request(method, path)).status_code == 403


async def test_another_tenants_keys_and_shares_look_like_none(house: House) -> None:
    theirs = house.key("bob").key.key_id
    make_collection(house, "bob", "talks")
    async with house.client(house.key("bob").token) as client:
        share = (await client.post("/v1/shares", json={"collection": "talks"})).json()["share"]
    async with house.client(house.key("ada").token, x_request_id="same") as client:
        for kind, foreign in (("keys", theirs), ("shares", share["share_id"])):
            found = await client.delete(f"/v1/{kind}/{foreign}")
            absent = await client.delete(f"/v1/{kind}/00000000")
            assert found.status_code == absent.status_code == 404
            assert found.content == absent.content
        found = await client.post("/v1/shares", json={"collection": "talks"})
        absent = await client.post("/v1/shares", json={"collection": "nothing"})
        assert found.status_code == absent.status_code == 404
        assert found.content == absent.content
        assert len((await client.get("/v1/keys")).json()) == 1
        assert (await client.get("/v1/shares")).json() == []


NONSENSE: list[dict[str, Any]] = [
    {},
    {"label": "x"},
    {"label": "", "scopes": ["read"]},
    {"label": "x", "scopes": []},
    {"label": "x", "scopes": ["root"]},
    {"label": "x", "scopes": "read"},
    {"label": "x", "scopes": ["read"], "tenant": "bob"},
    {"label": "x", "scopes": ["read"], "expires_days": 0},
    {"label": "x", "scopes": ["read"], "expires_days": "1"},
    {"label": "x", "scopes": ["read"], "expires_days": 1e300},
]


async def test_a_wish_that_makes_no_sense_is_refused(house: House) -> None:
    async with house.client() as client:
        for body in NONSENSE:
            assert (await client.post("/v1/keys", json=body)).status_code == 422, body
        assert (await client.get("/v1/keys")).json() == []


async def test_a_share_reads_its_collection_and_does_nothing_else(house: House) -> None:
    make_collection(house, "ada", "talks")
    make_collection(house, "ada", "secret")
    async with house.client(house.key("ada").token) as client:
        wanted = {"collection": "talks", "expires_days": 1}
        made = (await client.post("/v1/shares", json=wanted)).json()
        async with house.client(made["token"]) as guest:
            assert (await guest.get("/v1/collections/talks")).status_code == 200
            assert (await guest.get("/v1/collections/secret")).status_code == 404
            assert "secret" not in (await guest.get("/v1/collections")).text
            assert (await guest.get("/v1/keys")).status_code == 403
            assert (await guest.delete("/v1/collections/talks")).status_code == 403
            share = made["share"]["share_id"]
            assert (await client.delete(f"/v1/shares/{share}")).status_code == 204
            house.clock.now += 1
            assert (await guest.get("/v1/collections/talks")).status_code == 401


def make_collection(house: House, tenant: str, name: str) -> None:
    parts = house.tenants.engine(tenant).parts
    assert isinstance(parts.catalogue, Catalogue)
    parts.catalogue.make_collection(name, identity=embedding_fingerprint(parts.embedder))


async def test_nothing_is_answered_without_a_key_but_probes(house: House) -> None:
    """Every operation that the application describes, and what it does not describe."""
    app = shared_app(house.tenants)
    token = house.key().token
    async with house.client() as client:
        described = [
            (method.upper(), re.sub(r"{.*?}", "x", path))
            for path, operations in app.openapi()["paths"].items()
            for method in operations
        ]
        assert len(described) > 20
        hidden = [("GET", path) for path in ("/openapi.json", "/docs", "/redoc", "/mcp")]
        for method, path in [*described, *hidden]:
            if path == SESSION_PATH:
                continue  # test_session.py says what may be asked there
            for sent in ({}, {"authorization": "Bearer qth_x"}):
                open_to_all = path == "/healthz" or (path == "/readyz" and not sent)
                # A link carries its own signature; this one has none.
                refused = 403 if path.startswith("/v1/links/") else 401
                expected = 200 if open_to_all else refused
                answer = await client.request(method, path, headers=sent)
                assert answer.status_code == expected, (method, path)
    async with house.client(token) as client:
        assert (await client.get("/openapi.json")).status_code == 200


async def test_a_body_that_grows_too_large_is_told_so_whatever_reads_it(house: House) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'{"label": "'
        for _ in range(100):
            yield b"x" * 65_536

    for path in ("/v1/keys", "/v1/query", "/v1/search"):
        async with house.client() as client:
            headers = {"content-type": "application/json"}
            answer = await client.post(path, content=endless(), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), path
        assert "1024 kB" in answer.json()["detail"]
