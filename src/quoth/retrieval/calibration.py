"""Calibration: the probability that the collection answers a question.

It is a logistic model over a few features of a ranking (docs/decisions/017, 057); it holds for the
embedder that it was fitted on, in hybrid and in semantic search. Where none applies no probability
is claimed.
No probability of the relevance of a hit is claimed at all: none held on other collections than
those that it was fitted on (docs/decisions/041).

The most informative features are the reranker's scores, so a reranked ranking is calibrated by
these, and another ("unread") by the retrievers' scores. In each case cross-lingual queries have
their own features, whose names begin with that of the group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from types import MappingProxyType

from quoth.core.calibration import Calibration, Tuning, logistic
from quoth.core.protocols import Reranker
from quoth.core.types import Candidate, IndexIdentity, Mode, Scored
from quoth.retrieval.rerank import RERANK

E5 = ("multilingual-e5-small-int8", "1e8f0dda296a589c")
"""Name and revision of the default embedder."""

SOURCE = "eight collections of five judged sets, three of them also cut down to 90 to 200 passages"

DEFAULT_CALIBRATION: Mapping[tuple[str, str], Tuning] = MappingProxyType(
    {
        E5: Tuning(
            answerable=Calibration(
                bias=-20.87,
                weights=MappingProxyType(
                    {
                        "covered": 2.485,
                        "best": 18.806,
                        "read": 3.157,
                        "ahead": 13.081,
                        "foreign": 3.15,
                        "foreign_read": 33.432,
                        "foreign_ahead": 33.785,
                        "unread": -4.73,
                        "unread_matched": 1.846,
                        "unread_gap": 11.466,
                        "unread_best": 24.137,
                        "unread_meets": 0.94,
                        "foreign_unread": 14.08,
                        "foreign_unread_gap": 23.203,
                        "foreign_unread_coverage": 4.795,
                    }
                ),
                questions=7425,
                source=SOURCE,
            ),
            answer_from=0.25,
        )
    }
)


Signals = Mapping[str, float]
"""Features of a ranking by name. A higher value never makes an answer less likely,
except for the group's indicator, which is 1 for rankings of the group."""

MIN_COMPARED = 20
"""Minimum vector search results for which scores are meaningful."""
FIRST_READ, FEWEST_READ = 8, 5
"""First ranks whose reranker scores are compared, and how many of them must have one."""
READER = "late"
"""The reranker whose scores are features; other rerankers use other scales."""
FOREIGN, UNREAD, FOREIGN_UNREAD = "foreign", "unread", "foreign_unread"
GROUPS = (FOREIGN, UNREAD, FOREIGN_UNREAD)
"""Groups of rankings with features other than those of reranked, same-language queries."""
QUESTION_SIGNALS = (
    *("covered", "matched", "best", "read", "ahead"),
    *("foreign", "foreign_read", "foreign_ahead"),
    *("unread", "unread_matched", "unread_gap", "unread_best", "unread_meets", "unread_agree"),
    *("foreign_unread", "foreign_unread_gap", "foreign_unread_coverage"),
)
TOP_RANKS = 10
"""The first ranks of both retrievers that are compared."""
MAX_RANK = 100
"""The vector search rank from which a keyword hit counts as not found there."""


def probability(calibration: Calibration, signals: Signals) -> float:
    """Return P = 1 / (1 + exp(−(bias + Σ weight · signal))), in [0, 1]."""
    total = calibration.bias + sum(
        weight * signals.get(name, 0.0) for name, weight in calibration.weights.items()
    )
    return logistic(total)


def answer_probability(tuning: Tuning | None, signals: Signals | None) -> float | None:
    """Return the probability that the collection answers; None if it cannot be estimated.

    That is without a calibration, without features, and for a group (`GROUPS`) that the calibration
    was not fitted on.
    """
    if tuning is None or tuning.answerable is None or signals is None:
        return None
    if signals.keys().isdisjoint(tuning.answerable.weights):
        return None
    return probability(tuning.answerable, signals)


def feature_group(signals: Iterable[str]) -> str:
    """Return the group of features by their names, "" for reranked, same-language queries."""
    name = f"{next(iter(signals), '')}_"
    return max((group for group in GROUPS if name.startswith(f"{group}_")), key=len, default="")


def reranker_scores(
    candidates: Sequence[Candidate], *, reranker: Reranker | None
) -> tuple[float, ...]:
    """Return the reranker's raw scores of the first candidates; empty if not `READER`'s.

    The ranking is the pool in its final order, with or without near-duplicates.
    """
    if reranker is None or reranker.name != READER:
        return ()
    first = candidates[:FIRST_READ]
    return tuple(each.legs[RERANK].score for each in first if RERANK in each.legs)


def question_signals(
    *,
    keyword: Sequence[Scored],
    semantic: Sequence[Scored],
    coverage: float,
    terms: int,
    gap: float | None,
    foreign: bool,
    read: Sequence[float] = (),
) -> Signals | None:
    """Return the features of answerability; None for too few scores.

    ``coverage``, ``terms``, ``gap`` and ``foreign`` are those of
    `quoth.answering.answerability.AnswerEvidence`, ``read`` the `reranker_scores`. ``covered``
    is the coverage, ``matched`` coverage · ln(1 + terms), as in calibrations of earlier versions,
    which punishes a short question; ``best`` the best cosine,
    ``read`` the reranker's best score and ``ahead`` how far that exceeds the median. Words
    of a cross-lingual query prove little, and are no feature there.

    Without a reranker, ``meets`` is the rank of the keyword retriever's best hit in vector search
    (1 is the top, 0 is rank `MAX_RANK`, on a logarithmic scale) and ``agree`` the share of the
    first ten ranks that both retrievers give to the same chunks.
    """
    if gap is None or len(semantic) < MIN_COMPARED:
        return None
    matched = coverage * math.log1p(terms)
    best = max(score for _key, score in semantic)
    if len(read) >= FEWEST_READ:
        signs = {"read": max(read), "ahead": max(read) - median(read)}
        return (
            _prefix_features(FOREIGN, signs)
            if foreign
            else {"covered": coverage, "matched": matched, "best": best, **signs}
        )
    if foreign:
        return _prefix_features(FOREIGN_UNREAD, {"gap": max(0.0, gap), "coverage": coverage})
    places = {key: place for place, (key, _score) in enumerate(semantic)}
    first = places.get(keyword[0][0], MAX_RANK) if keyword else MAX_RANK
    shared = {key for key, _score in keyword[:TOP_RANKS]} & {
        key for key, _score in semantic[:TOP_RANKS]
    }
    signs = {
        "matched": matched,
        "gap": max(0.0, gap),
        "best": best,
        "meets": max(0.0, 1 - math.log1p(first) / math.log1p(MAX_RANK)),
        "agree": len(shared) / TOP_RANKS,
    }
    return _prefix_features(UNREAD, signs)


def _prefix_features(group: str, signs: Signals) -> Signals:
    return {group: 1.0, **{f"{group}_{name}": value for name, value in signs.items()}}


def find_tuning(identity: IndexIdentity, *, mode: Mode, tuned: Tuning | None) -> Tuning | None:
    """Return the applicable calibration: the collection's own, else the default one.

    A calibration is bound to the embedder's name and revision, and needs vectors; None means that
    no probability may be shown and no threshold applied.
    """
    shipped = DEFAULT_CALIBRATION.get((identity.embedder, identity.revision))
    if mode == "keyword":
        return None
    if shipped is None or tuned is None:
        return tuned or shipped
    return replace(
        tuned,
        answerable=tuned.answerable or shipped.answerable,
        answer_from=tuned.answer_from if tuned.answer_from is not None else shipped.answer_from,
    )
