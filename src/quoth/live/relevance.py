"""The probability that a page is about what is said in a window of a lecture.

Two logistic models over how the engine ranked the passages, that the collection is about the topic
at all and that this page is the one, and a third over the log odds of both. Features are late
interaction and cosine, how far they stand out among the passages compared, words in relation to the
window's length, agreement of the retrievers, and how many of the other candidates lie in the same
section or nearby. Windows in another language than the book have weights of their own.
`scripts/train_live.py` fits them from real lectures and writes ``data/relevance.json``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from statistics import median

from quoth.core.calibration import logistic
from quoth.core.types import Candidate, Chunk, Pages, Scored
from quoth.retrieval.rerank import RERANK
from quoth.text.analyzer import analyze

CHECKSUM = "da5ce34cb0a3a46dc2c868b998b0a9c70ffe4227a5aad56102cc7552bc18d974"
"""SHA-256 of ``data/relevance.json``, which ``python scripts/train_live.py`` makes."""
MODEL = "multilingual-e5-small"
"""The embedder whose scores the weights are for."""
COMPARED = 10
"""First candidates that are given a probability."""
MIN_COMPARED = 8
"""Fewer passages than this, and their scores say nothing about one another."""
SHARPNESS = 6.0
"""Scale of the ranking's scores when they are shared out among sections."""
NEARBY = 4
"""Pages, or chunks where there are none, that count as near."""
TOPIC = ("late", "late_lead", "cosine", "gap", "agree", "words", "common", "known")
"""Features of the topic; of the first candidate."""
PAGE = (
    *("late", "late_lead", "cosine", "keyword_per_word", "gap", "keyword_share", "near"),
    *("in_section", "agree", "rank", "lead", "keyword_rank", "semantic_rank", "words"),
)
"""Features of a candidate among the others."""
SCALED = frozenset(("late", "late_lead", "cosine", "keyword_per_word"))
"""Features on the scale of the default models; without these, any embedder will do."""
MOST = 9.2
"""Log odds of .9999: nothing counts as surer."""
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LogisticHead:
    """Weights by feature, for standardised values."""

    bias: float
    weights: Mapping[str, float]
    means: Mapping[str, float]
    scales: Mapping[str, float]

    def log_odds(self, features: Features) -> float:
        """Return bias + Σ weight · (feature − mean) / scale, within ±`MOST`."""
        total = self.bias + sum(
            weight * (features[name] - self.means[name]) / self.scales[name]
            for name, weight in self.weights.items()
        )
        return max(-MOST, min(MOST, total))


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The models of the topic, of the page and of both, and the probability that shows a card."""

    topic: LogisticHead
    page: LogisticHead
    both: LogisticHead
    show_from: float

    def probability(self, first: Features, features: Features) -> float:
        """Return the probability of a candidate, given the features of the first one too."""
        odds = {"topic": self.topic.log_odds(first), "page": self.page.log_odds(features)}
        return logistic(self.both.log_odds(odds))


def relevance_features(
    ranking: Sequence[Candidate],
    chunks: Mapping[str, Chunk],
    *,
    keyword: Sequence[Scored],
    semantic: Sequence[Scored],
    spoken: str,
    language: str,
) -> list[tuple[Candidate, Features]] | None:
    """Return the features of the first candidates of a ranking; None where too few can be compared.

    ``keyword`` and ``semantic`` are the retrievers' results for the window; ``common`` is the mean
    share of its words in a passage, ``known`` the share of them in any.
    """
    ranked = [each for each in ranking if each.chunk_id in chunks]
    late = [each.legs[RERANK].score for each in ranked if RERANK in each.legs]
    if min(len(semantic), len(ranked)) < MIN_COMPARED:
        return None
    cosines, terms = dict(semantic), dict(keyword)
    lowest, middle = min(cosines.values()), median(cosines.values())
    most = max(terms.values(), default=0.0)
    ranks = {key: rank for rank, (key, _score) in enumerate(semantic)}
    term_ranks = {key: rank for rank, (key, _score) in enumerate(keyword)}
    shared = {key for key, _ in semantic[:COMPARED]} & {key for key, _ in keyword[:COMPARED]}
    shares = _shares(ranked)
    words = max(1, len(spoken.split()))
    common, known = _shared_words(spoken, [chunks[each.chunk_id] for each in ranked], language)
    rows: list[tuple[Candidate, Features]] = []
    for rank, each in enumerate(ranked[:COMPARED]):
        key = each.chunk_id
        cosine = cosines.get(key, lowest)
        others = [other for other in ranked if other.chunk_id != key]
        features = {
            **_late(each, late),
            "cosine": cosine,
            "gap": (cosine - middle) / max(1e-6, 1 - middle),
            "keyword_share": terms.get(key, 0.0) / most if most else 0.0,
            "keyword_per_word": terms.get(key, 0.0) / words,
            "near": math.fsum(
                shares[other.chunk_id]
                for other in others
                if _are_near(chunks[other.chunk_id], chunks[key])
            ),
            "in_section": math.fsum(
                shares[other.chunk_id]
                for other in others
                if _section(chunks[other.chunk_id]) == _section(chunks[key])
            ),
            "agree": len(shared) / COMPARED,
            "rank": math.log1p(rank),
            "lead": each.score - ranked[1 if rank == 0 else 0].score,
            "keyword_rank": 1 / (1 + term_ranks.get(key, len(keyword) or 100)),
            "semantic_rank": 1 / (1 + ranks.get(key, len(semantic))),
            "words": math.log(words),
            "common": common,
            "known": known,
        }
        rows.append((each, features))
    return rows


def _shared_words(spoken: str, passages: Sequence[Chunk], language: str) -> tuple[float, float]:
    said = Counter(analyze(spoken, language=language))
    held = Counter(
        term for chunk in passages for term in _terms(chunk.indexed, chunk.language) if term in said
    )
    total = sum(said.values())
    if not total:
        return 0.0, 0.0
    common = sum(count * held[term] for term, count in said.items()) / total / len(passages)
    return common, len(held) / len(said)


@lru_cache(maxsize=500)
def _terms(text: str, language: str) -> frozenset[str]:
    """Return the terms of a passage; one window after another finds the same ones."""
    return frozenset(analyze(text, language=language))


def _late(candidate: Candidate, late: Sequence[float]) -> Features:
    if not late:
        return {}
    score = candidate.legs[RERANK].score if RERANK in candidate.legs else min(late)
    return {"late": score, "late_lead": score - median(late)}


def _shares(ranked: Sequence[Candidate]) -> dict[str, float]:
    raised = {each.chunk_id: math.exp(SHARPNESS * each.score) for each in ranked}
    total = sum(raised.values())
    return {key: value / total for key, value in raised.items()}


def _are_near(one: Chunk, other: Chunk) -> bool:
    if one.document_id != other.document_id:
        return False
    if isinstance(one.locator, Pages) and isinstance(other.locator, Pages):
        return abs(one.locator.first - other.locator.first) <= NEARBY
    return abs(one.ordinal - other.ordinal) <= NEARBY


def _section(chunk: Chunk) -> tuple[str, tuple[str, ...]]:
    return chunk.document_id, chunk.section


def relevance_model(*, foreign: bool, read: bool) -> RelevanceModel:
    """Return the model for windows in the language of the book, or in another one.

    ``read`` means that the default embedder and its reranker scored the passages; without, only the
    features that hold for every model count.
    """
    return _models()[f"{'foreign' if foreign else 'same'}{'' if read else '_unread'}"]


@cache
def _models() -> dict[str, RelevanceModel]:
    file = files("quoth.live") / "data" / "relevance.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: RelevanceModel(
            LogisticHead(**values["topic"]),
            LogisticHead(**values["page"]),
            LogisticHead(**values["both"]),
            values["show_from"],
        )
        for name, values in stored["models"].items()
    }
