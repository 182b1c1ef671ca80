from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import (
    LegScore,
    Scored,
)
from quoth.retrieval.fusion import (
    convex_combination,
    reciprocal_rank_fusion,
)

KEYWORD = [("a", 8.0), ("b", 4.0), ("c", 2.0)]
SEMANTIC = [("b", 0.9), ("d", 0.85), ("a", 0.8)]
BOTH = {"keyword": KEYWORD, "semantic": SEMANTIC}

leg = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(0.01, 50, allow_nan=False), max_size=8
).map(lambda scores: sorted(scores.items(), key=lambda each: (-each[1], each[0])))
legs = st.fixed_dictionaries({"keyword": leg, "semantic": leg})


def brute_force(rankings: dict[str, list[Scored]], *, k: int) -> dict[str, float]:
    ids = {chunk_id for ranking in rankings.values() for chunk_id, _ in ranking}
    return {
        each: sum(
            1 / (k + [chunk_id for chunk_id, _ in ranking].index(each) + 1)
            for ranking in rankings.values()
            if each in [chunk_id for chunk_id, _ in ranking]
        )
        for each in ids
    }


def test_rrf_by_hand() -> None:
    found = reciprocal_rank_fusion(BOTH, k=60)
    assert [each.chunk_id for each in found] == ["b", "a", "d", "c"]
    assert found[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert found[0].score_kind == "rrf"


@given(legs)
def test_rrf_equals_brute_force(rankings: dict[str, list[Scored]]) -> None:
    found = {each.chunk_id: each.score for each in reciprocal_rank_fusion(rankings, k=7)}
    assert found == pytest.approx(brute_force(rankings, k=7))


@given(legs)
def test_the_order_of_the_legs_does_not_matter(rankings: dict[str, list[Scored]]) -> None:
    turned = dict(reversed(rankings.items()))
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion(turned)
    assert convex_combination(rankings, dense_weight=0.3) == convex_combination(
        turned, dense_weight=0.3
    )


def test_convex_by_hand() -> None:
    found = convex_combination(BOTH, dense_weight=0.4)
    # b: .4 · 1 + .6 · 4/8; a: .4 · 0 + .6 · 1; d: .4 · (.85 − .8)/(.9 − .8); c: .6 · 2/8
    assert {each.chunk_id: each.score for each in found} == pytest.approx(
        {"b": 0.7, "a": 0.6, "d": 0.2, "c": 0.15}
    )
    assert [each.chunk_id for each in found] == ["b", "a", "d", "c"]


@pytest.mark.parametrize(("weight", "leg"), [(0.0, KEYWORD), (1.0, SEMANTIC)])
def test_the_ends_of_the_weight_are_the_legs(weight: float, leg: list[Scored]) -> None:
    found = convex_combination(BOTH, dense_weight=weight)
    assert [each.chunk_id for each in found][:2] == [chunk_id for chunk_id, _ in leg][:2]


@given(legs, st.floats(0, 1))
def test_convex_scores_lie_between_0_and_1(
    rankings: dict[str, list[Scored]], weight: float
) -> None:
    found = convex_combination(rankings, dense_weight=weight)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
    assert {each.chunk_id for each in found} == {c for leg in rankings.values() for c, _ in leg}


@given(legs, st.floats(0.05, 0.95))
def test_better_in_both_legs_is_never_behind(
    rankings: dict[str, list[Scored]], weight: float
) -> None:
    places = {
        each.chunk_id: rank
        for rank, each in enumerate(convex_combination(rankings, dense_weight=weight))
    }
    scores = [dict(rankings["keyword"]), dict(rankings["semantic"])]
    both = [each for each in places if all(each in leg for leg in scores)]
    for one in both:
        for other in both:
            if all(leg[one] > leg[other] * 1.001 for leg in scores):
                assert places[one] < places[other]


def test_ties_are_ordered_by_id() -> None:
    tied = [(each, 1.0) for each in random.Random(1).sample("hgfedcba", 8)]
    found = convex_combination({"keyword": tied}, dense_weight=0.5)
    assert [each.chunk_id for each in found] == list("abcdefgh")


def test_legs_keep_rank_and_raw_score() -> None:
    first = convex_combination(BOTH, dense_weight=0.4)[0]
    assert first.legs == {"keyword": LegScore(2, 4.0), "semantic": LegScore(1, 0.9)}


def test_lexical_weights_share_the_sum_where_there_are_any() -> None:
    three = {**BOTH, "sparse": [("d", 2.0), ("c", 1.0)]}
    before = {each.chunk_id: each.score for each in convex_combination(BOTH, dense_weight=0.5)}
    mixed = convex_combination(three, dense_weight=0.5, sparse_weight=0.2)
    found = {each.chunk_id: each.score for each in mixed}
    assert found["d"] == pytest.approx(0.8 * before["d"] + 0.2)
    assert found["c"] == pytest.approx(0.8 * before["c"] + 0.1)
    assert found["a"] == pytest.approx(0.8 * before["a"])
    assert convex_combination(BOTH, dense_weight=0.5, sparse_weight=0.2) == convex_combination(
        BOTH, dense_weight=0.5
    )
