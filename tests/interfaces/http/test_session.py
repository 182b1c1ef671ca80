"""Signing in: a browser sends its key once and gets a cookie that stands for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import select, update

from quoth.interfaces.http.middleware.credentials import FRESH_S
from quoth.store import sessions as store
from quoth.store.keys import Keys, split
from quoth.store.schema import sessions
from tests.support.service_client import House, audit_rows, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN = {"origin": "http://127.0.0.1"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("session") / "sources")
    async with served(tmp_path_factory.mktemp("house"), audit=True) as opened:
        opened.key("ada")  # without any key, this machine needs none
        await opened.add("ada", sources / "notes.md")
        await opened.add("ada", sources / "miel.md", collection="shared")
        yield opened


@asynccontextmanager
async def browser(house: House, *, scheme: str = "http") -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key that keeps its cookies, as a page of the service's own."""
    transport = httpx.ASGITransport(app=house.app)
    async with httpx.AsyncClient(
        transport=transport,
        base_url=f"{scheme}://127.0.0.1",
        headers={"origin": f"{scheme}://127.0.0.1"},
    ) as client:
        yield client


async def test_a_key_becomes_a_cookie_with_its_scopes(house: House) -> None:
    key = house.key("ada", scopes=("read",))
    async with browser(house) as page:
        before = await page.get("/v1/session")
        assert before.json() == {
            "key_needed": True,
            "tenant": None,
            "scopes": [],
            "collection": None,
            "operator": False,
        }
        assert (await page.get("/v1/documents")).status_code == 401
        made = await page.post("/v1/session", json={"key": key})
        assert made.status_code == 201
        assert made.json() == (await page.get("/v1/session")).json()
        assert made.json()["scopes"] == ["read"]
        assert made.json()["tenant"] == "ada"
        assert (await page.get("/v1/documents")).json()["total"] == 1
        assert (
            await page.post("/v1/keys", json={"label": "x", "scopes": ["read"]})
        ).status_code == 403
    cookie = made.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age="))
    assert "Secure" not in cookie
    assert key not in cookie
    assert key not in made.text


async def test_the_cookie_is_kept_to_https_where_the_page_is(house: House) -> None:
    async with browser(house, scheme="https") as page:
        made = await page.post("/v1/session", json={"key": house.key("ada")})
    assert "Secure" in made.headers["set-cookie"]


async def test_signing_out_ends_the_session_for_a_copy_of_its_cookie_too(house: House) -> None:
    key = house.key("ada")
    async with browser(house) as page, browser(house) as copy:
        await page.post("/v1/session", json={"key": key})
        copy.cookies = httpx.Cookies(page.cookies)
        assert (await copy.get("/v1/documents")).status_code == 200
        assert (await page.delete("/v1/session")).status_code == 204
        assert not page.cookies
        await asyncio.sleep(FRESH_S)
        assert (await copy.get("/v1/documents")).status_code == 401
    async with house.client(key) as client:
        assert (await client.get("/v1/documents")).status_code == 200


async def test_revoking_the_key_ends_its_sessions(house: House) -> None:
    key = house.key("ada")
    async with browser(house) as page:
        await page.post("/v1/session", json={"key": key})
        Keys(house.tenants.database, tenant="ada").revoke(split(key)[0])
        await asyncio.sleep(FRESH_S)
        assert (await page.get("/v1/documents")).status_code == 401
        assert (await page.get("/v1/session")).json()["key_needed"] is True
        again = await page.post("/v1/session", json={"key": house.key("ada")})
        assert again.status_code == 201


async def test_a_session_expires_and_is_stored_as_a_hash(house: House) -> None:
    async with browser(house) as page:
        await page.post("/v1/session", json={"key": house.key("eve")})
        (token,) = page.cookies.values()
        with house.tenants.database.engine.begin() as connection:
            of_eve = sessions.c.tenant == "eve"
            rows = connection.execute(select(sessions).where(of_eve)).all()
            assert token not in str(rows)
            past = "2020-01-01T00:00:00.000+00:00"
            connection.execute(update(sessions).where(of_eve).values(expires_at=past))
        await asyncio.sleep(FRESH_S)
        assert (await page.get("/v1/documents")).status_code == 401
        await page.post("/v1/session", json={"key": house.key("eve")})
    with house.tenants.database.engine.connect() as connection:
        assert len(connection.execute(select(sessions).where(of_eve)).all()) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:8000"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({}, 403),
        ({"sec-fetch-site": "same-origin"}, 404),
        (OWN, 404),
    ],
)
async def test_a_change_by_cookie_comes_from_our_own_page(
    house: House, headers: dict[str, str], status: int
) -> None:
    async with browser(house) as page:
        await page.post("/v1/session", json={"key": house.key("ada")})
        del page.headers["origin"]
        found = await page.delete("/v1/documents/nothing", headers=headers)
    assert found.status_code == status


async def test_a_session_is_a_cookie_and_nothing_else(house: House) -> None:
    async with browser(house) as page:
        await page.post("/v1/session", json={"key": house.key("ada")})
        (token,) = page.cookies.values()
    async with house.client(token) as client:
        assert (await client.get("/v1/documents")).status_code == 401
        assert (await client.post("/v1/session", json={"key": token})).status_code == 401


async def test_a_share_signs_in_to_its_collection_only(house: House) -> None:
    async with browser(house) as page:
        made = await page.post("/v1/session", json={"key": house.share("ada", collection="shared")})
        assert (made.json()["collection"], made.json()["scopes"]) == ("shared", ["read"])
        names = [each["name"] for each in (await page.get("/v1/collections")).json()["collections"]]
        assert names == ["shared"]


async def test_signing_in_and_out_is_in_the_audit_log(house: House) -> None:
    key = house.key("bob")
    async with browser(house) as page:
        await page.post("/v1/session", json={"key": key})
        await page.get("/v1/session")
        await page.delete("/v1/session")
    rows = [(row.action, row.key_id) for row in audit_rows(house, "bob")]
    assert rows == [("session.begin", split(key)[0]), ("session.end", split(key)[0])]


async def test_wrong_keys_are_refused_and_counted(tmp_path: Path) -> None:
    async with served(tmp_path, wrong_keys_per_minute=3) as house, browser(house) as page:
        house.key("ada")
        found = [
            (await page.post("/v1/session", json={"key": "qth_wrong"})).status_code
            for _attempt in range(5)
        ]
        assert found == [401, 401, 401, 429, 429]
        assert not page.cookies
        page.cookies.set("quoth_session", "qss_" + "a" * 43)
        asked: list[int] = []
        while 429 not in asked and len(asked) < 120:  # one more is allowed for each second
            asked.append((await page.get("/v1/documents")).status_code)
        assert asked[:60] == [401] * 60
        assert asked[-1] == 429


async def test_a_key_signs_in_so_often_and_its_oldest_session_ends(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_SESSIONS", 2)
    made = store.Sessions(house.tenants.database, tenant="fay")
    key = split(house.key("fay"))[0]
    tokens = []
    for _browser in range(3):
        tokens.append(made.add(key).token)
        await asyncio.sleep(0.002)
    found = [store.find_session(house.tenants.database, token) for token in tokens]
    assert [each is not None for each in found] == [False, True, True]


async def test_the_owner_of_the_machine_needs_no_session(tmp_path: Path) -> None:
    async with served(tmp_path) as house, browser(house) as page:
        said = (await page.get("/v1/session")).json()
        assert (said["key_needed"], said["tenant"]) == (False, "local")
        assert "admin" in said["scopes"]
        made = await page.post("/v1/session", json={"key": "anything"})
        assert made.status_code == 201
        assert not page.cookies
