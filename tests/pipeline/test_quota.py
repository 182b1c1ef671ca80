"""The tokens of a day: counted whatever is kept, and beyond them answers without the model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from quoth.core.events import TextAdded
from quoth.core.trace import Trace
from quoth.engine import Engine
from quoth.pipeline.answer_cache import AnswerCache
from quoth.pipeline.retrieve import Request
from quoth.store.database import open_database
from quoth.store.privacy_settings import DailyUsage
from quoth.testing import ScriptedGenerator
from tests.support.service_client import House, listening, served
from tests.support.small_library import write_sources
from tests.support.upload_service import until

QUESTION = "How does a colony stay warm in winter?"
WROTE = "The colony gathers around the queen in a tight ball. [1]"
ENDED = "generate:budget_exhausted:extractive"


class Rewording(ScriptedGenerator):
    """Widens questions by the same words that it writes."""

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        raise AssertionError("only what is counted may be asked")


@asynccontextmanager
async def limited(
    home: Path, model: ScriptedGenerator, *, most: int | None = 1
) -> AsyncIterator[tuple[House, httpx.AsyncClient]]:
    """A house in which a tenant's model may use so many tokens a day; one is less than a call."""
    async with served(home / "house", tokens_per_day=most, history="full") as house:
        await house.add("ada", write_sources(home / "sources"))
        engine = house.tenants.engine("ada")
        engine.parts = replace(engine.parts, generator=model, cache=AnswerCache())
        async with house.client(house.key("ada")) as client:
            yield house, client


def spent(house: House, tenant: str = "ada") -> int:
    return DailyUsage(house.tenants.database, tenant=tenant).tokens()


async def ask(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    found = await client.post("/v1/query", json={"query": QUESTION, **more})
    assert found.status_code == 200
    told: dict[str, Any] = found.json()
    return told


async def test_who_used_up_the_day_is_answered_without_the_model_and_told(tmp_path: Path) -> None:
    model = ScriptedGenerator(WROTE)
    async with limited(tmp_path, model) as (house, client):
        first = await ask(client)
        assert first["degraded"] == []
        used = first["usage"]
        assert spent(house) == used["input_tokens"] + used["output_tokens"] > 1
        then = await ask(client)
        body = {"messages": [{"role": "user", "content": QUESTION}], "model": "quoth"}
        json_mode = {**body, "response_format": {"type": "json_object"}}
        refused = await client.post("/v1/chat/completions", json=json_mode)
    assert (refused.status_code, "used up its tokens" in refused.text) == (400, True)
    assert (then["degraded"], then["provider"]) == ([ENDED], None)
    assert then["citations"]
    assert len(model.told) == 1


@pytest.mark.parametrize("body", [{"store": False}, {"stream": True}, {"llm": "scripted"}])
async def test_no_way_of_asking_is_free(tmp_path: Path, body: dict[str, Any]) -> None:
    model = ScriptedGenerator(WROTE)
    async with limited(tmp_path, model) as (_house, client):
        for _ in range(2):
            response = await client.post("/v1/query", json={"query": QUESTION, **body})
            assert response.status_code == 200
    assert ENDED in response.text
    assert len(model.told) == 1


async def test_what_is_forgotten_was_used_all_the_same(tmp_path: Path) -> None:
    async with limited(tmp_path, ScriptedGenerator(WROTE)) as (house, client):
        asked = await ask(client)
        before = spent(house)
        assert (await client.delete(f"/v1/queries/{asked['query_id']}")).status_code == 204
        assert (await client.delete("/v1/privacy/data")).status_code == 200
        assert spent(house) == before > 0


async def test_who_hangs_up_has_used_what_was_read_and_written(tmp_path: Path) -> None:
    model = ScriptedGenerator(WROTE, pause_s=0.01)
    async with limited(tmp_path, model) as (house, _client):
        async with aclosing(house.tenants.engine("ada").stream(QUESTION)) as events:
            async for event in events:
                if isinstance(event, TextAdded):
                    break
        assert spent(house) > 100


async def test_who_leaves_the_stream_of_the_service_has_used_it_too(tmp_path: Path) -> None:
    async def prepare(house: House) -> str:
        await house.add("ada", write_sources(tmp_path / "sources"))
        engine = house.tenants.engine("ada")
        model = ScriptedGenerator(*[f"{WROTE} "] * 500, pause_s=0.02)
        engine.parts = replace(engine.parts, generator=model)
        return house.key("ada")

    with listening(tmp_path / "house", prepare, tokens_per_day=1) as (url, key, house):
        body = {"query": QUESTION, "stream": True, "store": False}
        headers = {"authorization": f"Bearer {key}"}
        async with (
            httpx.AsyncClient(base_url=url, headers=headers) as client,
            client.stream("POST", "/v1/query", json=body) as stream,
        ):
            async for line in stream.aiter_lines():
                if line == "event: token":
                    break
        await until(lambda: spent(house) > 100)


async def test_a_search_that_the_model_widens_counts(tmp_path: Path) -> None:
    model = Rewording("the warmth of bees\nthe winter of bees")
    async with limited(tmp_path, model) as (house, _client):
        engine: Engine = house.tenants.engine("ada")
        widened = Request(QUESTION, {"expansion": "generated"})
        await engine.retrieve(widened, trace=Trace())
        assert spent(house) > 0
        trace = Trace()
        await engine.retrieve(widened, trace=trace)
    assert trace.degraded == ("expand:budget_exhausted:the question alone",)


async def test_tenants_have_days_of_their_own_and_none_without_a_limit(tmp_path: Path) -> None:
    async with limited(tmp_path, ScriptedGenerator(WROTE)) as (house, client):
        await ask(client)
        assert spent(house, "bob") == 0
    async with limited(tmp_path / "free", ScriptedGenerator(WROTE), most=None) as (house, client):
        for _ in range(2):
            assert (await ask(client, cache="none"))["degraded"] == []
        assert spent(house) == 0


def test_a_day_begins_at_midnight_utc(address: Path | str) -> None:
    now = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    database = open_database(address)
    own = DailyUsage(database, tenant="ada", clock=lambda: now)
    own.add(tokens=3_000_000_000)
    own.add(tokens=4, questions=2)
    assert (own.tokens(), own.questions()) == (3_000_000_004, 2)
    now += timedelta(minutes=1)
    assert (own.tokens(), own.questions()) == (0, 0)
    database.close()
