from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("ir_measures", reason="the extra 'eval' is not installed")

from quoth.evaluation.retrieval import mean, per_question

JUDGMENTS = {"q1": {"a": 1, "b": 4, "c": 3, "d": 0}, "q2": {"a": 1}}


def test_by_hand() -> None:
    found = per_question({"q1": ["a", "b", "d"]}, judgments=JUDGMENTS)["q1"]
    gained = 1 + 4 / math.log2(3)
    ideal = 4 + 3 / math.log2(3) + 1 / 2
    assert found == pytest.approx(
        {"ndcg@10": gained / ideal, "recall@20": 2 / 3, "recall@100": 2 / 3, "mrr@10": 1.0}
    )


def test_empty_lists_count_and_unjudged_questions_do_not() -> None:
    found = mean(per_question({"q1": [], "q2": ["a"], "q3": ["a"]}, judgments=JUDGMENTS))
    assert found == {"ndcg@10": 0.5, "recall@20": 0.5, "recall@100": 0.5, "mrr@10": 0.5}


@given(
    st.permutations("abcdefghijkl"),
    st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 4)),
)
def test_ndcg_is_the_standard_graded_one(ranking: list[str], grades: dict[str, int]) -> None:
    def gain(ids: list[str]) -> float:
        top = enumerate(ids[:10], start=2)
        return sum(grades.get(each, 0) / math.log2(place) for place, each in top)

    ideal = gain(sorted(grades, key=lambda each: -grades[each]))
    expected = gain(ranking) / ideal if ideal else 0.0
    found = mean(per_question({"q": ranking}, judgments={"q": grades}))
    assert found["ndcg@10"] == pytest.approx(expected)
