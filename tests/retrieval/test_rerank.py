"""The stage: a reranker's opinion reorders the pool, and never more than it should."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.rerankers.registry import GuardedReranker
from quoth.core.errors import RerankError
from quoth.core.types import (
    Candidate,
    Chars,
    Chunk,
    LegScore,
    Query,
)
from quoth.pipeline.retrieve import Request
from quoth.retrieval.rerank import rerank, spread
from quoth.testing import WordReranker
from tests.support.failing_backends import FailingReranker
from tests.support.small_library import open_tour, write_sources

QUERY = Query(original="and it?", standalone="What is it?", language="en")


class Table:
    """Scores by a table from texts; remembers what it was asked."""

    name = "table"

    def __init__(self, scores: dict[str, float]) -> None:
        self._scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: object = None
    ) -> list[float]:
        self.asked.append((query, [chunk.text for chunk in chunks]))
        return [self._scores[chunk.text] for chunk in chunks]

    def close(self) -> None:
        pass


class Blocks(Table):
    """The same, a few at a time."""

    def __init__(self, scores: dict[str, float], block: int) -> None:
        super().__init__(scores)
        self.block = block


def pool(scores: Sequence[float]) -> list[Candidate]:
    legs = {"semantic": LegScore(1, 0.5)}
    return [Candidate(f"c{at}", score, "convex", legs) for at, score in enumerate(scores)]


def chunk(name: str) -> Chunk:
    return Chunk(name, "d", 0, 0, 1, name, Chars(0, 1), "text")


async def run(
    scores: Sequence[float],
    table: dict[str, float],
    *,
    weight: float = 0.5,
    keep: int = 5,
    block: int | None = None,
    missing: Sequence[str] = (),
) -> tuple[list[Candidate], Table]:
    reranker = Table(table) if block is None else Blocks(table, block)
    chunks = {name: chunk(name) for name in table if name not in missing}
    found = await rerank(
        pool(scores),
        query=QUERY,
        chunks=chunks,
        reranker=reranker,
        weight=weight,
        keep=keep,
    )
    return found, reranker


def ids(candidates: Sequence[Candidate]) -> list[str]:
    return [each.chunk_id for each in candidates]


async def test_an_example_by_hand() -> None:
    found, _ = await run([0.9, 0.8, 0.4], {"c0": -3.0, "c1": 1.0, "c2": 5.0}, weight=0.5)
    # spread: 1, .8, 0 and 0, .5, 1
    assert ids(found) == ["c1", "c0", "c2"]
    assert [each.score for each in found] == pytest.approx([0.65, 0.5, 0.5])
    assert {each.score_kind for each in found} == {"rerank"}
    assert found[0].legs["rerank"] == LegScore(2, 1.0)
    assert found[0].legs["fused"] == LegScore(2, 0.8)
    assert found[0].legs["semantic"] == LegScore(1, 0.5)


async def test_candidates_without_a_chunk_keep_their_places() -> None:
    table = {"c0": 0.0, "c1": 9.0, "c2": 1.0, "c3": 2.0}
    found, _ = await run([4, 3, 2, 1], table, weight=1.0, missing=["c1"])
    assert ids(found) == ["c3", "c1", "c2", "c0"]
    assert "rerank" not in found[1].legs


async def test_a_failure_is_left_to_the_trace() -> None:
    with pytest.raises(RerankError):
        await rerank(
            pool([1.0]),
            query=QUERY,
            chunks={"c0": chunk("c0")},
            reranker=FailingReranker(),
            weight=0.5,
        )


async def test_blocks_stop_when_one_brings_nothing_new() -> None:
    table = {f"c{at}": -float(at) for at in range(12)}
    found, reranker = await run(list(range(12, 0, -1)), table, keep=2, block=3)
    assert [len(texts) for _, texts in reranker.asked] == [3, 3]
    assert ids(found) == [f"c{at}" for at in range(12)]


scores = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(st.tuples(scores, scores), max_size=12), st.floats(0, 1), st.integers(1, 4))
def test_it_is_a_reordering_with_falling_scores(
    pairs: list[tuple[float, float]], weight: float, block: int
) -> None:
    first = sorted((a for a, _ in pairs), reverse=True)
    table = {f"c{at}": b for at, (_, b) in enumerate(pairs)}
    found, _ = asyncio.run(run(first, table, weight=weight, keep=3, block=block))
    assert sorted(ids(found)) == sorted(ids(pool(first)))
    falling = [each.score for each in found]
    assert falling == sorted(falling, reverse=True)


@given(st.lists(st.tuples(scores, scores), max_size=12))
def test_weight_nothing_keeps_the_order(pairs: list[tuple[float, float]]) -> None:
    first = sorted((a for a, _ in pairs), reverse=True)
    table = {f"c{at}": b for at, (_, b) in enumerate(pairs)}
    found, _ = asyncio.run(run(first, table, weight=0.0))
    assert ids(found) == ids(pool(first))


@given(st.lists(scores, min_size=1, max_size=12))
def test_weight_one_is_the_rerankers_order(raw: list[float]) -> None:
    table = {f"c{at}": each for at, each in enumerate(raw)}
    found, _ = asyncio.run(run([float(-at) for at in range(len(raw))], table, weight=1.0))
    spreaded = dict(zip(table, spread(raw), strict=True))
    assert [spreaded[each] for each in ids(found)] == sorted(spreaded.values(), reverse=True)


@given(st.lists(scores, max_size=12), st.floats(0, 1))
def test_a_reranker_that_agrees_changes_nothing(first: list[float], weight: float) -> None:
    first = sorted(first, reverse=True)
    table = {f"c{at}": each for at, each in enumerate(first)}
    found, _ = asyncio.run(run(first, table, weight=weight))
    assert ids(found) == ids(pool(first))


@pytest.mark.parametrize("collections", [("default",), ("default", "more")])
async def test_an_answer_tells_once_that_another_reranker_stood_in(
    collections: tuple[str, ...], tmp_path: Path
) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        for name in collections:
            assert [step async for step in engine.add([sources], collection=name)]
        request = Request("What is honey made from?", {"cache": "none"}, collections=collections)
        chain = GuardedReranker(FailingReranker(), WordReranker())
        for reranker, told in (
            (chain, ("rerank:rerank_failed:next reranker",)),
            (GuardedReranker(WordReranker(), FailingReranker()), ()),
        ):
            engine.parts = replace(engine.parts, reranker=reranker)
            assert (await engine.answer(request)).degraded == told
