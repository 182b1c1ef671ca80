"""From scores to probabilities: signs, bounds, order, and where nothing may be claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.calibration import Calibration, Tuning
from quoth.core.types import (
    Candidate,
    Chunk,
    IndexIdentity,
    LegScore,
    Scored,
)
from quoth.retrieval.calibration import (
    DEFAULT_CALIBRATION,
    E5,
    FIRST_READ,
    GROUPS,
    QUESTION_SIGNALS,
    READER,
    answer_probability,
    feature_group,
    find_tuning,
    probability,
    question_signals,
    reranker_scores,
)
from quoth.retrieval.rerank import RERANK

SHIPPED_E5 = DEFAULT_CALIBRATION[E5]
ANSWERABLE = SHIPPED_E5.answerable
assert ANSWERABLE is not None
SEMANTIC: list[Scored] = [("best", 0.9), *((f"s{each}", 0.8) for each in range(30))]
KEYWORD: list[Scored] = [("best", 12.0), ("s1", 6.0)]
READ = (0.6, 0.4, 0.4, 0.4, 0.3)
IDENTITY = IndexIdentity(*E5, 384, "query: ", "passage: ", "quoth-terms-1")

finite = st.floats(-1e3, 1e3)
models = st.builds(
    Calibration, finite, st.dictionaries(st.sampled_from("abc"), st.floats(0, 1e3), max_size=3)
)
signs = st.fixed_dictionaries({name: st.floats(0, 10) for name in "abc"})


def candidate(key: str, *, score: float = 0.5) -> Candidate:
    legs = {}
    if key in dict(SEMANTIC):
        legs["semantic"] = LegScore(1, dict(SEMANTIC)[key])
    if key in dict(KEYWORD):
        legs["keyword"] = LegScore(1, dict(KEYWORD)[key])
    return Candidate(key, score, "convex", legs)


@given(models, signs, st.sampled_from("abc"), st.floats(0, 5))
def test_more_of_a_sign_never_lowers_it(
    model: Calibration, signals: dict[str, float], name: str, more: float
) -> None:
    stronger = {**signals, name: signals[name] + more}
    assert probability(model, stronger) >= probability(model, signals)


def read(key: str, score: float) -> Candidate:
    """A candidate that the reranker has scored."""
    each = candidate(key)
    return each._replace(legs={**each.legs, RERANK: LegScore(1, score)})


def signals_of(*, foreign: bool, read: tuple[float, ...] = ()) -> dict[str, float]:
    found = question_signals(
        keyword=KEYWORD,
        semantic=SEMANTIC,
        coverage=0.5,
        terms=3,
        gap=0.5,
        foreign=foreign,
        read=read,
    )
    assert found is not None
    return dict(found)


def test_the_signs_of_a_question() -> None:
    assert signals_of(foreign=False, read=READ) == pytest.approx(
        {"covered": 0.5, "matched": 0.6931, "best": 0.9, "read": 0.6, "ahead": 0.2}, abs=1e-4
    )
    assert signals_of(foreign=True, read=READ) == pytest.approx(
        {"foreign": 1.0, "foreign_read": 0.6, "foreign_ahead": 0.2}
    )


def test_without_a_reranker_the_legs_speak() -> None:
    assert signals_of(foreign=False) == pytest.approx(
        {
            "unread": 1.0,
            "unread_matched": 0.6931,
            "unread_gap": 0.5,
            "unread_best": 0.9,
            "unread_meets": 1.0,
            "unread_agree": 0.2,
        },
        abs=1e-4,
    )
    assert signals_of(foreign=True) == pytest.approx(
        {"foreign_unread": 1.0, "foreign_unread_gap": 0.5, "foreign_unread_coverage": 0.5}
    )


@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("scores", [(), (0.6, 0.4, 0.4, 0.4, 0.4)])
def test_a_questions_signs_are_of_one_group_and_named_among_all(
    foreign: bool, scores: tuple[float, ...]
) -> None:
    found = signals_of(foreign=foreign, read=scores)
    assert found.keys() <= set(QUESTION_SIGNALS)
    assert {feature_group([name]) for name in found} == {feature_group(found)}


class Scorer:
    """A reranker of some name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: object = None
    ) -> list[float]:
        return [0.5 for _ in chunks]

    def close(self) -> None: ...


def test_the_scores_of_one_reranker_are_signs_and_those_of_others_are_not() -> None:
    ranking = [*(read("s1", 0.5) for _ in range(9)), candidate("s2")]
    assert reranker_scores(ranking, reranker=Scorer(READER)) == (0.5,) * FIRST_READ
    assert reranker_scores([candidate("s2")], reranker=Scorer(READER)) == ()
    assert reranker_scores(ranking, reranker=Scorer("another")) == ()
    assert reranker_scores(ranking, reranker=None) == ()


def test_the_shipped_calibrations_use_the_signs_there_are_and_no_sign_counts_against() -> None:
    assert ANSWERABLE.weights.keys() <= set(QUESTION_SIGNALS)
    assert min(each for name, each in ANSWERABLE.weights.items() if name not in GROUPS) > 0


def test_a_calibration_is_bound_to_its_embedder() -> None:
    other = replace(IDENTITY, revision="another")
    assert find_tuning(IDENTITY, mode="hybrid", tuned=None) == SHIPPED_E5
    assert find_tuning(other, mode="hybrid", tuned=None) is None


def test_a_calibration_holds_wherever_vectors_are_searched() -> None:
    assert find_tuning(IDENTITY, mode="semantic", tuned=None) == SHIPPED_E5
    assert find_tuning(IDENTITY, mode="keyword", tuned=None) is None


def test_what_a_collection_learnt_goes_before_what_is_shipped() -> None:
    found = find_tuning(IDENTITY, mode="hybrid", tuned=Tuning({"en": 0.3}, answer_from=0.7))
    assert found is not None
    assert (found.answer_from, found.dense_weight) == (0.7, {"en": 0.3})
    assert found.answerable == ANSWERABLE


@pytest.mark.parametrize("group", GROUPS)
def test_a_calibration_claims_nothing_about_a_group_that_it_has_not_seen(group: str) -> None:
    tuned, signals = Tuning(answerable=Calibration(0.0, {"read": 1.0})), {group: 1.0}
    assert answer_probability(tuned, {"read": 0.0}) == 0.5
    assert answer_probability(tuned, signals) is None
    assert answer_probability(SHIPPED_E5, signals) is not None
