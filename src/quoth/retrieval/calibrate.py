"""From scores to probabilities: that a hit is relevant, that the collection answers the question.

A score of one leg says little by itself: cosines of one model crowd together, BM25 grows with the
question, a fused score compares the hits of one question only. A calibration is a logistic model
over a few signs of a ranking (docs/decisions/017); it holds for the embedder that it was fitted
on and for searches with both legs. Where none applies nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from quoth.retrieval.shipped import SHIPPED
from quoth.tuning import Calibration, Tuning
from quoth.types import Candidate, IndexIdentity, LegScore, Mode, Scored

Signals = Mapping[str, float]
"""Signs of a ranking by name. More of one never makes relevance or an answer less likely."""

FEWEST = 20
"""Passages that the semantic leg must have compared before its scores mean anything."""
HIT_SIGNALS = ("gap", "words", "place")
QUESTION_SIGNALS = (
    *("foreign", "foreign_gap", "foreign_coverage"),
    *("matched", "gap", "best", "meets", "agree"),
)
TOP = 10
"""The first places of both legs, in which they are compared."""
DEPTH = 100
"""The place in the semantic leg from which a hit of the keyword leg counts as not found there."""
FUSED = "fused"
"""The name under which a candidate keeps the score that it was ranked by."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a question's hits are measured by.

    ``middle`` is the median cosine of the semantic leg, ``best_bm25`` the keyword leg's highest
    score, ``covered`` the share of the question's terms that its best hit holds.
    """

    middle: float
    best_bm25: float
    covered: float

    @classmethod
    def of(
        cls, *, keyword: Sequence[Scored], semantic: Sequence[Scored], covered: float
    ) -> Yardstick | None:
        """Take the measure of both legs, best first; None when too little was compared."""
        if len(semantic) < FEWEST:
            return None
        middle = median(score for _key, score in semantic)
        return cls(middle, max((score for _key, score in keyword), default=0.0), covered)

    def above_middle(self, cosine: float) -> float:
        """Give how far a cosine stands above the median, as a part of what is possible."""
        return max(0.0, (cosine - self.middle) / (1 - self.middle)) if self.middle < 1 else 0.0


def probability(calibration: Calibration, signals: Signals) -> float:
    """Give P = 1 / (1 + exp(−(bias + Σ weight · signal))), in [0, 1]."""
    total = calibration.bias + sum(
        weight * signals.get(name, 0.0) for name, weight in calibration.weights.items()
    )
    if total >= 0:
        return 1 / (1 + math.exp(-total))
    return math.exp(total) / (1 + math.exp(total))


def answer_probability(tuning: Tuning | None, signals: Signals | None) -> float | None:
    """Give the probability that the collection answers; None where nothing can be claimed.

    That is without a calibration, without signs, and for a question in another language where the
    calibration has seen none.
    """
    if tuning is None or tuning.answerable is None or signals is None:
        return None
    if signals.get("foreign") and "foreign" not in tuning.answerable.weights:
        return None
    return probability(tuning.answerable, signals)


def hit_signals(candidate: Candidate, *, rank: int, yardstick: Yardstick) -> Signals:
    """Give the signs of one hit; ``rank`` is its place from 1 in the ranking that is shown.

    ``gap`` is its cosine above the median, ``words`` its part of the best BM25 score times what
    the best hit covers of the question, ``place`` is 1 / log2(1 + rank).
    """
    semantic, keyword = candidate.legs.get("semantic"), candidate.legs.get("keyword")
    words = 0.0
    if keyword is not None and yardstick.best_bm25 > 0:
        words = max(0.0, keyword.score / yardstick.best_bm25) * yardstick.covered
    return {
        "gap": 0.0 if semantic is None else yardstick.above_middle(semantic.score),
        "words": words,
        "place": 1 / math.log2(1 + rank),
    }


def question_signals(
    *,
    keyword: Sequence[Scored],
    semantic: Sequence[Scored],
    coverage: float,
    terms: int,
    gap: float | None,
    foreign: bool,
) -> Signals | None:
    """Give the signs that the collection answers a question; None when too little was compared.

    ``coverage``, ``terms``, ``gap`` and ``foreign`` are those of
    `quoth.answering.quality.Evidence`. ``matched`` is coverage · ln(1 + terms), since half of eight
    words is more than half of two; ``best`` the best cosine; ``meets`` how high the semantic leg
    ranks the keyword leg's best hit (1 is the top, 0 is place `DEPTH`, on a logarithmic scale);
    ``agree`` the share of the first ten places that both legs give to the same chunks. The words
    of a question in another language prove little, so that other signs stand for it.
    """
    if gap is None or len(semantic) < FEWEST:
        return None
    if foreign:
        return {"foreign": 1.0, "foreign_gap": max(0.0, gap), "foreign_coverage": coverage}
    places = {key: place for place, (key, _score) in enumerate(semantic)}
    first = places.get(keyword[0][0], DEPTH) if keyword else DEPTH
    shared = {key for key, _score in keyword[:TOP]} & {key for key, _score in semantic[:TOP]}
    return {
        "matched": coverage * math.log1p(terms),
        "gap": max(0.0, gap),
        "best": max(score for _key, score in semantic),
        "meets": max(0.0, 1 - math.log1p(first) / math.log1p(DEPTH)),
        "agree": len(shared) / TOP,
    }


def calibrated(
    candidates: Sequence[Candidate], *, calibration: Calibration, yardstick: Yardstick
) -> list[Candidate]:
    """Replace the scores of a ranking by probabilities of relevance; the order stays.

    Earlier stages know more than these signs (a reranker reads the passage), so a probability
    never exceeds the one above it. The score that the hit was ranked by is kept as the leg
    `FUSED`, with its rank.
    """
    found: list[Candidate] = []
    most = 1.0
    for rank, each in enumerate(candidates, start=1):
        signals = hit_signals(each, rank=rank, yardstick=yardstick)
        most = min(most, probability(calibration, signals))
        legs = {**each.legs, FUSED: LegScore(rank, each.score)}
        found.append(replace(each, score=most, score_kind="probability", legs=legs))
    return found


def tuning_for(identity: IndexIdentity, *, mode: Mode, tuned: Tuning | None) -> Tuning | None:
    """Give the calibration that a search may claim: the collection's own, else the shipped one.

    A calibration is bound to the embedder's name and revision and to searches with both legs;
    None means that no probability may be shown and no threshold applied.
    """
    shipped = SHIPPED.get((identity.embedder, identity.revision))
    if mode != "hybrid":
        return None
    if shipped is None or tuned is None:
        return tuned or shipped
    return replace(
        tuned,
        relevance=tuned.relevance or shipped.relevance,
        answerable=tuned.answerable or shipped.answerable,
        answer_from=tuned.answer_from if tuned.answer_from is not None else shipped.answer_from,
    )


def dense_weight_for(tuned: Tuning | None, *, language: str, otherwise: float) -> float:
    """Give the semantic leg's share that a collection was tuned to for a language."""
    if tuned is None:
        return otherwise
    return tuned.dense_weight.get(language, tuned.dense_weight.get("", otherwise))
