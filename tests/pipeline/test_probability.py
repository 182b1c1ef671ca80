"""The probability that several collections answer is that of the likeliest one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quoth.answering.answerability import AnswerEvidence
from quoth.core.calibration import Calibration, Tuning
from quoth.core.plan import Plan
from quoth.core.trace import Trace
from quoth.core.types import IndexIdentity, Query, Scored
from quoth.pipeline.rank import RankedList
from quoth.pipeline.retrieve import Retrieved
from quoth.pipeline.scores import estimate_probability, is_calibrated
from quoth.retrieval.search import RetrieverResults
from quoth.store.rows import Collection

TUNING = Tuning(
    answerable=Calibration(-10.0, {"unread": 0.0, "unread_best": 12.0}), answer_from=0.3
)
EVIDENCE = AnswerEvidence(coverage=1.0, gap=0.5, cross_lingual=False, terms=3)


def ranking(
    name: str, best: float, *, tuning: Tuning | None = TUNING, count: int = 30
) -> RankedList:
    semantic: list[Scored] = [(f"{name}{at}", best - at / 100) for at in range(count)]
    collection = Collection(name, name, name, IndexIdentity("e", "1", 2, "", "", "t"), 1)
    return RankedList(collection, tuning, RetrieverResults([], semantic), (), (), {})


def estimate(*ranked: RankedList, trace: Trace | None = None) -> tuple[float | None, float | None]:
    found = Retrieved(Query("why", "why", "en"), Plan(), None, ranked)
    return estimate_probability(found, EVIDENCE, reranker=None, trace=trace or Trace())


def test_the_collection_furthest_above_its_threshold_decides() -> None:
    near, far, small = ranking("near", 0.9), ranking("far", 0.7), ranking("small", 0.99, count=3)
    alone = estimate(near)
    assert alone[0] is not None
    assert alone[0] > 0.5
    assert alone == estimate(near, far) == estimate(far, near) == estimate(small, near)
    strict = ranking("strict", 0.9, tuning=replace(TUNING, answer_from=0.9))
    assert estimate(strict, near)[1] == 0.3


@pytest.mark.parametrize("ranked", [(), (ranking("a", 0.9), ranking("b", 0.9, tuning=None))])
def test_without_a_calibration_of_each_there_is_none(ranked: tuple[RankedList, ...]) -> None:
    assert estimate(*ranked) == (None, None)
    assert not is_calibrated(Retrieved(Query("why", "why", "en"), Plan(), None, ranked))
