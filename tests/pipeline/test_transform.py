"""A query transformer rewords what is searched, and nothing else, and may fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.answering.answerability import describe_degradation
from quoth.core.errors import RetrievalError
from quoth.core.types import Turn
from quoth.engine import Engine
from quoth.pipeline.egress import list_egress
from quoth.pipeline.retrieve import Request
from quoth.store.privacy_settings import PrivacyStore
from tests.support.small_library import add, open_tour, write_sources

ASKED = "When does a colony swarm?"


class Transformer:
    """Returns what it is given to return, or raises it."""

    name = "test"

    def __init__(self, result: Any, *, wait_s: float = 0, local: bool = True) -> None:
        self.result, self.wait_s, self.local = result, wait_s, local
        self.seen: list[tuple[str, tuple[Turn, ...]]] = []

    async def transform(self, query: str, *, history: Sequence[Turn]) -> str:
        self.seen.append((query, tuple(history)))
        await asyncio.sleep(self.wait_s)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result  # type: ignore[no-any-return]

    async def close(self) -> None:
        pass


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_tour(tmp_path / "home") as opened:
        await add(opened, write_sources(tmp_path / "sources"))
        yield opened


def with_transformer(engine: Engine, transformer: Transformer, **settings: Any) -> Engine:
    chosen = engine.parts.settings.model_copy(update=settings)
    return Engine(replace(engine.parts, transformer=transformer, settings=chosen))


async def test_what_it_returns_is_searched_and_the_query_stays(engine: Engine) -> None:
    transformer = Transformer(" What is honey made from? ")
    other = with_transformer(engine, transformer)
    before = (Turn("Who keeps bees?", "Ada."),)
    answer = await other.answer(Request(ASKED, history=before))
    plain = await engine.answer("What is honey made from?")
    assert transformer.seen == [(ASKED, before)]
    assert (answer.query.original, answer.degraded) == (ASKED, ())
    assert answer.query.standalone == "What is honey made from?"
    assert answer.closest or answer.citations
    assert {each.chunk_id for each in answer.citations} == {
        each.chunk_id for each in plain.citations
    }


async def test_places_and_filters_are_read_from_the_query_as_it_was(engine: Engine) -> None:
    asked = "What is on page 1 of the book?"
    other = with_transformer(engine, Transformer("What does page 3 say about honey?"))
    answer, plain = await other.answer(asked), await engine.answer(asked)
    assert answer.query.filters == plain.query.filters != ()
    assert answer.query.kind == plain.query.kind


@pytest.mark.parametrize(
    "result", [RetrievalError("down"), KeyError("bug"), None, "", "  ", "x" * 2000, 7]
)
async def test_a_failure_leaves_the_query_as_it_was(engine: Engine, result: Any) -> None:
    answer = await with_transformer(engine, Transformer(result)).answer(ASKED)
    plain = await engine.answer(ASKED)
    assert answer.degraded == ("transform:retrieval_failed:query",)
    assert (answer.query.standalone, answer.text) == (plain.query.standalone, plain.text)
    said = describe_degradation(answer.degraded[0], language="en")
    assert said == "A part of the search failed: the query was searched as it was asked."


async def test_it_has_a_time_limit(engine: Engine) -> None:
    slow = with_transformer(engine, Transformer("honey", wait_s=30), transform_seconds=0.05)
    answer = await slow.answer(ASKED)
    assert answer.degraded == ("transform:deadline:query",)
    assert answer.query.standalone == ASKED


@pytest.mark.parametrize("local", [True, False])
async def test_one_on_a_server_is_not_called_where_texts_may_not_leave(
    engine: Engine, local: bool
) -> None:
    store = PrivacyStore.of(engine.parts.catalogue)
    store.decide(history="full", retention_days=90, may_leave=False)
    transformer = Transformer("What is honey made from?", local=local)
    other = with_transformer(engine, transformer)
    assert [each.to for each in list_egress(other.parts)] == ([] if local else ["test"])
    answer = await other.answer(ASKED)
    assert (len(transformer.seen), answer.degraded) == (int(local), ())
    assert (answer.query.standalone == ASKED) is not local


async def test_an_answer_of_another_transformer_is_not_given_again(engine: Engine) -> None:
    await engine.answer(ASKED)
    assert (await engine.answer(ASKED)).cached
    assert not (await with_transformer(engine, Transformer(ASKED)).answer(ASKED)).cached
