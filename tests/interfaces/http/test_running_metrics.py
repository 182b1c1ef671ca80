"""Satisfaction, citation accuracy and precision@k of a running service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.interfaces.http.server.run import create_server_app, server_state
from quoth.testing import ScriptedGenerator
from tests.support.counting import samples
from tests.support.service_client import PATIENT
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"
FALSE = "It was moved to Norway in 1999 by forty men. [Source 1]"


@asynccontextmanager
async def serving(tmp_path: Path, **choices: Any) -> AsyncIterator[tuple[FastAPI, Any]]:
    """The application with its metrics and the small library, and a client of it."""
    settings = Settings(
        home=tmp_path / "home", embedder="fake", keys_needed="never", **{**PATIENT, **choices}
    )
    state = server_state(settings)
    async with open_tenants(settings, observe=state.observe) as tenants:
        app = create_server_app(tenants, state=state, settings=settings)
        async for _step in tenants.engine("local").add([write_sources(tmp_path / "sources")]):
            pass
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield app, client


async def ask(client: httpx.AsyncClient, **body: Any) -> Any:
    return (await client.post("/v1/query", json={"query": QUESTION, **body})).json()


async def figures(client: httpx.AsyncClient) -> Any:
    return (await client.get("/v1/analytics")).json()


async def counters(client: httpx.AsyncClient, beginning: str) -> dict[str, float]:
    """The samples of /metrics whose name begins so."""
    found = samples((await client.get("/metrics")).text)
    return {name: value for name, value in found.items() if name.startswith(beginning)}


async def test_satisfaction_is_stored_with_the_rating_that_follows_from_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_app, client):
        assert (await figures(client))["satisfaction"] == {"mean": None, "count": 0}
        ids = [(await ask(client))["query_id"] for _turn in range(5)]
        sent = [
            {"satisfaction": 5},
            {"satisfaction": 3},
            {"satisfaction": 2, "comment": "Too long."},
            {"satisfaction": 4, "rating": -1},
            {"rating": 1},
        ]
        for query_id, body in zip(ids, sent, strict=True):
            rated = await client.post("/v1/feedback", json={"query_id": query_id, **body})
            assert rated.status_code == 204
        kept = [(await client.get(f"/v1/queries/{each}")).json()["feedback"] for each in ids]
        shown = [(each["rating"], each["satisfaction"], each["comment"]) for each in kept]
        assert shown == [(1, 5, ""), (0, 3, ""), (-1, 2, "Too long."), (-1, 4, ""), (1, None, "")]
        found = await figures(client)
        assert found["satisfaction"] == {"mean": 3.5, "count": 4}
        assert (found["liked"], found["disliked"]) == (2, 2)
        counted = await counters(client, "quoth_satisfaction")
        assert (counted["quoth_satisfaction_sum"], counted["quoth_satisfaction_count"]) == (14, 4)
        assert counted['quoth_satisfaction_bucket{le="3.0"}'] == 2
        # The last feedback on an answer counts.
        await client.post("/v1/feedback", json={"query_id": ids[0], "satisfaction": 1})
        assert (await figures(client))["satisfaction"] == {"mean": 2.5, "count": 4}


async def test_feedback_without_a_rating_or_with_a_wrong_one_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_app, client):
        query_id = (await ask(client))["query_id"]
        french = {"accept-language": "fr"}
        for body, said in [
            ({}, "donnez une note (rating), 1 ou -1, ou une satisfaction de 1 à 5"),
            ({"comment": "Just so."}, "donnez une note (rating)"),
            ({"satisfaction": 0}, "satisfaction : 1 au moins"),
            ({"satisfaction": 6}, "satisfaction : 5 au plus"),
            ({"satisfaction": 2.5}, "satisfaction"),
            ({"satisfaction": True}, "satisfaction"),
            ({"rating": 0}, "rating : la valeur attendue est : 1 "),
        ]:
            given = {"query_id": query_id, **body}
            found = await client.post("/v1/feedback", json=given, headers=french)
            assert found.status_code == 422, body
            assert said in found.json()["detail"].replace("\u202f", " "), body
        assert (await figures(client))["satisfaction"]["count"] == 0
        assert await counters(client, "quoth_satisfaction_count") == {"quoth_satisfaction_count": 0}


async def test_quotations_are_accurate_and_a_cached_answer_is_not_counted_again(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as (_app, client):
        empty = await figures(client)
        assert (empty["citation_accuracy"], empty["precision_at_k"]) == (None, None)
        answer = await ask(client)
        cited = {each["chunk_id"] for each in answer["citations"]}
        for turn in range(2):
            found = await figures(client)
            assert found["queries"] == turn + 1
            assert found["citation_accuracy"] == 1.0
            sentences = await counters(client, "quoth_answer_sentences_total")
            assert sentences == {
                'quoth_answer_sentences_total{support="supported"}': len(answer["sentences"])
            }
            passages = await counters(client, "quoth_context_passages_total")
            yes = passages['quoth_context_passages_total{cited="yes"}']
            no = passages['quoth_context_passages_total{cited="no"}']
            assert 1 <= yes <= len(cited)
            assert no >= 1
            assert found["precision_at_k"] == round(yes / (yes + no), 4)
            assert (await ask(client))["cached"]


@pytest.mark.parametrize("history", ["full", "hash"])
async def test_a_sentence_without_support_lowers_citation_accuracy(
    tmp_path: Path, history: str
) -> None:
    async with serving(tmp_path, history=history) as (app, client):
        quoted = await ask(client)
        assert len(quoted["sentences"]) >= 1
        engine = app.state.tenants.engine("local")
        first = quoted["sentences"][0]
        said = quoted["text"][first["start"] : first["end"]]
        model = ScriptedGenerator(f"{said} [Source 1] {FALSE}")
        engine.parts = replace(engine.parts, generator=model)
        written = await ask(client)
        assert (await ask(client))["cached"]  # it does not count again
        assert [each["support"] for each in written["sentences"]] == ["supported", "unsupported"]
        right = len(quoted["sentences"]) + 1
        found = await figures(client)
        assert found["citation_accuracy"] == round(right / (right + 1), 4)
        counted = await counters(client, "quoth_answer_sentences_total")
        assert counted == {
            'quoth_answer_sentences_total{support="supported"}': right,
            'quoth_answer_sentences_total{support="unsupported"}': 1,
        }
        passages = await counters(client, "quoth_context_passages_total")
        yes = passages['quoth_context_passages_total{cited="yes"}']
        assert found["precision_at_k"] == round(yes / sum(passages.values()), 4)
