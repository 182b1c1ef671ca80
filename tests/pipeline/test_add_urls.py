"""A page of the web becomes a document whose citations lead to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.ingest.sources.http import Internet
from quoth.pipeline.remote import RemoteOptions, clear_mirrors, fetch_items
from tests.ingest.test_outbound import World, moved, open_world, page
from tests.support.service_client import House
from tests.support.small_library import add, open_tour
from tests.support.upload_service import drained, files_in, open_house, working

Asking = tuple[House, httpx.AsyncClient]

TEXT = b"<title>Bees</title><main><h1 id=queen>Queens</h1><p>A beehive has one queen, named Ada."


async def fetch_and_add(engine: Engine, world: World, url: str) -> list[Document]:
    items = fetch_items(
        engine.parts,
        url,
        collection="default",
        options=RemoteOptions(),
        internet=Internet(world.resolve, world.connect),
    )
    return await add(engine, *[item.path async for item in items if item.path])


async def test_a_page_is_added_and_cited_by_its_address(tmp_path: Path) -> None:
    chosen = Settings(home=tmp_path / "home", chunk_tokens=32, allow_urls=True)
    async with open_world() as world, open_tour(tmp_path / "home", settings=chosen) as engine:
        world.pages["/"] = moved("/bees")
        world.pages["/bees"] = page(TEXT)
        for _ in range(2):  # what has not changed is there once
            (document,) = await fetch_and_add(engine, world, "http://bees.example/")
        assert (document.status, document.title) == ("unchanged", "Bees")
        answer = await engine.answer("How many queens has a beehive?")
        link = "http://bees.example/bees#queen:~:text=A%20beehive%20has%20one%20queen%2C%20named%20Ada."
        assert answer.citations[0].link == link
        there = Path(document.source).exists
        await engine.remove([document.document_id])
        assert not there()
        await fetch_and_add(engine, world, "http://bees.example/")
        assert there()
        await engine.remove_collection("default")
        assert not there()


async def test_a_purge_deletes_fetched_files_without_a_document(tmp_path: Path) -> None:
    chosen = Settings(home=tmp_path / "home", chunk_tokens=32, allow_urls=True)
    async with open_world() as world, open_tour(tmp_path / "home", settings=chosen) as engine:
        world.pages["/"] = page(TEXT)
        (document,) = await fetch_and_add(engine, world, "http://bees.example/")
        world.pages["/wasps"] = page(TEXT)
        items = fetch_items(
            engine.parts,
            "http://bees.example/wasps",
            collection="default",
            options=RemoteOptions(),
            internet=Internet(world.resolve, world.connect),
        )
        (stray,) = [item.path async for item in items]
        assert await clear_mirrors(engine.parts) == 1
        there = [path.exists() for path in (Path(document.source), stray) if path]
        assert there == [True, False]


async def test_nothing_is_fetched_where_it_is_off(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine, open_world() as world:
        with pytest.raises(InputError, match="QUOTH_ALLOW_URLS"):
            await fetch_and_add(engine, world, "http://bees.example/")
        assert not world.asked


@asynccontextmanager
async def asking(home: Path, world: World, **choices: Any) -> AsyncIterator[Asking]:
    """A service that fetches, as far as the choices let it, from the world of the test."""
    async with open_house(home, **choices) as house, house.client(house.key("ada")) as client:
        house.app.state.internet = Internet(world.resolve, world.connect)
        yield house, client


async def test_an_address_that_is_sent_becomes_a_document(tmp_path: Path) -> None:
    async with open_world() as world, asking(tmp_path, world, allow_urls=True) as (house, client):
        world.pages["/"] = moved("/bees")
        world.pages["/bees"] = page(TEXT)
        said = {"url": "http://bees.example/", "title": "My bees", "collection": "garden"}
        sent = await client.post("/v1/uploads", json=said)
        assert (sent.status_code, sent.json()["name"]) == (202, "bees.html")
        again = await client.post("/v1/uploads", json=said)
        assert (again.status_code, again.json()["id"]) == (200, sent.json()["id"])
        async with working(house.tenants):
            (task,) = await drained(house.tenants, tenant="ada")
        document = (await client.get(f"/v1/documents/{task.document_id}")).json()
        assert (document["title"], document["url"]) == ("My bees", "http://bees.example/bees")
        asked = {"query": "How many queens has a beehive?", "collection": "garden"}
        answer = (await client.post("/v1/query", json=asked)).json()
    assert answer["citations"][0]["link"].startswith("http://bees.example/bees#queen:~:text=A%20")


async def test_an_address_is_refused_where_none_are_fetched(tmp_path: Path) -> None:
    async with open_world() as world, asking(tmp_path, world) as (_house, client):
        refused = await client.post("/v1/uploads", json={"url": "http://bees.example/"})
        assert (refused.status_code, refused.json()["code"]) == (403, "denied")
        assert "QUOTH_ALLOW_URLS" in refused.json()["detail"]
        assert not world.asked


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost:8765/v1/keys",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_INFO",
        "http://inside.example/",
        "http://bees.example/inside",
    ],
)
async def test_no_address_leads_into_the_house(tmp_path: Path, url: str) -> None:
    async with open_world() as world, asking(tmp_path, world, allow_urls=True) as (house, client):
        world.names["inside.example"] = [["10.0.0.7"]]
        world.pages["/inside"] = moved(f"http://127.0.0.1:{world.canary}/")
        refused = await client.post("/v1/uploads", json={"url": url})
        assert refused.status_code == 422
        assert (world.hits, files_in(house.home)) == ([], [])
        assert (await client.get("/v1/uploads")).json()["total"] == 0


async def test_why_a_page_could_not_be_fetched_is_told(tmp_path: Path) -> None:
    async with open_world() as world, asking(tmp_path, world, allow_urls=True) as (_house, client):
        world.pages["/gone"] = page(b"", status="404 Not Found")
        gone = await client.post("/v1/uploads", json={"url": "http://bees.example/gone"})
    assert (gone.status_code, gone.json()["code"]) == (422, "not_fetched")
    assert "no page at “http://bees.example/gone”" in gone.json()["detail"]
