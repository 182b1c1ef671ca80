"""Pools of several collections are merged by one scale of scores."""

from __future__ import annotations

import pytest

from quoth.core.plan import Plan
from quoth.core.types import Candidate, IndexIdentity, LegScore, Scored
from quoth.pipeline.rank import RankedList
from quoth.pipeline.selection import merge_pools
from quoth.retrieval.search import RetrieverResults
from quoth.store.rows import Collection

IDENTITY = IndexIdentity("e", "1", 2, "", "", "t")
PLAN = Plan()


def ranking(
    name: str,
    order: str,
    *,
    keyword: list[Scored],
    semantic: list[Scored],
    late: dict[str, float] | None = None,
    whole: bool = False,
) -> RankedList:
    pool = tuple(
        Candidate(
            key,
            1.0 - place / 10,
            "rerank",
            {} if late is None else {"rerank": LegScore(1, late[key])},
        )
        for place, key in enumerate(order)
    )
    legs = RetrieverResults(keyword, semantic)
    collection = Collection(name, name, name, IDENTITY, 1)
    return RankedList(collection, None, legs, pool, pool, {}, whole=whole)


GOOD = ranking("good", "ab", keyword=[("a", 9.0), ("b", 8.0)], semantic=[("a", 0.9), ("b", 0.88)])
POOR = ranking("poor", "xy", keyword=[("x", 2.0), ("y", 1.0)], semantic=[("x", 0.8), ("y", 0.7)])


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_a_collection_that_fits_better_comes_first_as_a_whole(mode: str, fusion: str) -> None:
    plan = Plan(mode=mode, fusion=fusion)  # type: ignore[arg-type]
    for ranked in ([GOOD, POOR], [POOR, GOOD]):
        assert [each.chunk_id for each, _ in merge_pools(ranked, plan)] == ["a", "b", "x", "y"]


def test_each_hit_keeps_its_collection_and_scores_fall() -> None:
    merged = merge_pools([POOR, GOOD], PLAN)
    assert [collection.name for _, collection in merged] == ["good", "good", "poor", "poor"]
    scores = [each.score for each, _ in merged]
    assert scores == sorted(scores, reverse=True)


def test_the_reranker_has_its_weight_where_it_has_scored_all() -> None:
    legs = {"keyword": GOOD.legs.keyword, "semantic": GOOD.legs.semantic}
    one = ranking("good", "ab", late={"a": 0.2, "b": 0.1}, **legs)
    two = ranking(
        "poor",
        "xy",
        keyword=POOR.legs.keyword,
        semantic=POOR.legs.semantic,
        late={"x": 0.9, "y": 0.1},
    )
    alone = Plan(rerank_weight=1.0)
    assert next(each.chunk_id for each, _ in merge_pools([one, two], alone)) == "x"
    assert next(each.chunk_id for each, _ in merge_pools([GOOD, two], alone)) == "a"


def test_one_collection_stays_as_it_is_and_complete_places_take_turns() -> None:
    assert [each for each, _ in merge_pools([POOR], PLAN)] == list(POOR.pool)
    place = ranking("place", "pq", keyword=[], semantic=[], whole=True)
    found = [each.chunk_id for each, _ in merge_pools([place, GOOD], PLAN)]
    assert found == ["p", "a", "q", "b"]
