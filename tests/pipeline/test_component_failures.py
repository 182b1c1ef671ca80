"""A part is down: the service answers without it and says so; without the store it does not."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from quoth.backends.embedders.cached import CachedEmbedder
from quoth.backends.generators.guarded import guard_generator
from quoth.backends.rerankers.registry import GuardedReranker
from quoth.core.errors import EmbeddingError
from quoth.core.protocols import Matrix, Reranker, Role
from quoth.core.types import Chunk
from quoth.pipeline.answer_cache import AnswerCache
from quoth.testing import HashEmbedder, ScriptedGenerator, WordReranker
from tests.support.failing_backends import FailingIndex, FailingReranker, SlowReranker
from tests.support.service_client import House
from tests.support.small_library import write_sources
from tests.support.upload_service import drained, open_house, working

QUESTION = "What is honey made from?"
UNCACHED = {"query": QUESTION, "cache": "none"}


class Moody(HashEmbedder):
    """An embedder that works when it is well."""

    fault: Exception | None = None

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        if self.fault is not None:
            raise self.fault
        return await super().embed(texts, role=role)


class Broken(WordReranker):
    """A reranker with a bug."""

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        raise KeyError(query)


@asynccontextmanager
async def asking(home: Path, **choices: Any) -> AsyncIterator[tuple[House, httpx.AsyncClient]]:
    """A house with a few documents, and a client with a key of their tenant.

    The choices are of the service that is asked, not of the one that adds the documents: a test
    with little patience must not depend on how fast this disk writes.
    """
    embedder = choices.get("embedder")
    async with open_house(home / "house", embedder=embedder) as house:
        await house.add("ada", write_sources(home / "sources"))
    async with (
        open_house(home / "house", **choices) as house,
        house.client(house.key("ada")) as client,
    ):
        yield house, client


async def timed(client: httpx.AsyncClient, **more: Any) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    response = await client.post("/v1/query", json={**UNCACHED, **more})
    assert response.status_code == 200
    return response.json(), time.monotonic() - began


# --- a part that can be done without ----------------------------------------------------------


@pytest.mark.parametrize("fault", [EmbeddingError("The embedder is down."), KeyError("down")])
async def test_without_the_embedder_words_are_searched_at_once(
    tmp_path: Path, fault: Exception
) -> None:
    embedder = Moody()
    async with asking(tmp_path, embedder=CachedEmbedder(embedder)) as (_house, client):
        embedder.fault = fault
        answer, seconds = await timed(client)
    assert "embed:embedding_failed:keyword" in answer["degraded"]
    assert "nectar" in answer["citations"][0]["snippet"]
    assert seconds < 10


@pytest.mark.parametrize("reranker", [FailingReranker(), Broken(), SlowReranker(30.0)])
async def test_without_the_reranker_the_order_of_the_search_stays(
    tmp_path: Path, reranker: Reranker
) -> None:
    async with asking(tmp_path) as (house, client):
        plain, _seconds = await timed(client, rerank=False)
        engine = house.tenants.engine("ada")
        engine.parts = replace(engine.parts, reranker=GuardedReranker(reranker, limit_s=0.2))
        answer, seconds = await timed(client)
    assert answer["degraded"] == ["rerank:rerank_failed:fused order"]
    assert answer["used_chunks"] == plain["used_chunks"]
    assert answer["citations"]
    assert seconds < 10


@pytest.mark.parametrize("stream", [False, True])
async def test_a_bug_in_a_language_model_leaves_the_extractive_answer(
    tmp_path: Path, stream: bool
) -> None:
    async with asking(tmp_path) as (house, client):
        engine = house.tenants.engine("ada")
        model = guard_generator(ScriptedGenerator(ValueError("boom")))
        engine.parts = replace(engine.parts, generator=model)
        response = await client.post("/v1/query", json={**UNCACHED, "stream": stream})
    assert response.status_code == 200
    assert "generate:generation_failed:extractive" in response.text
    assert "nectar" in response.text


# --- the store --------------------------------------------------------------------------------


def is_refused(response: httpx.Response, *, code: str) -> None:
    """Check that a response says that the store is down, when to come again, and nothing else."""
    told = response.json()
    assert (response.status_code, told["code"]) == (503, code)
    assert int(response.headers["retry-after"]) >= 1
    assert told["detail"].endswith("Try again later.")
    assert not {"citations", "text", "sentences"} & set(told)
    assert "sqlite" not in response.text.casefold()


@contextmanager
def moved(house: House) -> Iterator[None]:
    """Put a link to nowhere in the catalogue's place, and the file back; no moment is between."""
    house.tenants.database.engine.dispose()
    file, away, nowhere = (house.home / name for name in ("catalogue.sqlite", "away", "nowhere"))
    away.hardlink_to(file)
    nowhere.symlink_to(house.home / "gone" / file.name)
    nowhere.replace(file)
    try:
        yield
    finally:
        away.replace(file)
        house.tenants.database.engine.dispose()


@contextmanager
def emptied(house: House) -> Iterator[None]:
    """Take the catalogue away, so that an empty one comes into its place."""
    with moved(house):
        house.home.joinpath("catalogue.sqlite").unlink()
        try:
            yield
        finally:
            house.tenants.database.engine.dispose()
            for each in house.home.glob("catalogue.sqlite*"):
                each.unlink()


@contextmanager
def locked(house: House) -> Iterator[None]:
    """Keep the catalogue for another program alone."""
    house.tenants.database.engine.dispose()
    with closing(sqlite3.connect(house.home / "catalogue.sqlite")) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("CREATE TABLE ours (x)")
        other.commit()
        yield


@pytest.mark.parametrize(
    ("gone", "code"),
    [(moved, "store_down"), (emptied, "retrieval_failed"), (locked, "busy")],
)
@pytest.mark.parametrize("known", [True, False])
async def test_without_the_catalogue_nothing_is_answered_until_it_is_back(
    tmp_path: Path, gone: Any, code: str, known: bool
) -> None:
    async with asking(tmp_path, patience_s=0.1) as (house, client):
        assert (await client.post("/v1/query", json={"query": QUESTION})).status_code == 200
        if not known:
            client.headers["authorization"] = f"Bearer {house.key('ada')}"
        with gone(house):
            for body in ({"query": QUESTION}, UNCACHED, {**UNCACHED, "stream": True}):
                is_refused(await client.post("/v1/query", json=body), code=code)
            is_refused(await client.get("/v1/documents"), code=code)
        assert (await client.post("/v1/query", json=UNCACHED)).json()["citations"]


async def test_workers_wait_for_the_catalogue(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client), working(house.tenants) as work:
        with moved(house):
            await asyncio.sleep(0.3)
            assert not work.done()
        await client.post("/v1/uploads?name=a.md", content=b"Bees make honey.")
        (task,) = await drained(house.tenants, tenant="ada")
    assert task.state == "ready"


async def test_without_the_index_nothing_is_answered(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client):
        engine = house.tenants.engine("ada")
        down = replace(engine.parts, open_index=lambda _table: FailingIndex(), cache=AnswerCache())
        engine.parts = down
        for body in (UNCACHED, {**UNCACHED, "stream": True}):
            is_refused(await client.post("/v1/query", json=body), code="retrieval_failed")
