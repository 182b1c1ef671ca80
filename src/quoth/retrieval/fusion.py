"""Fusion: one ranking from several retrievers. The default was measured: docs/decisions/003."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from quoth.core.types import (
    Candidate,
    Chunk,
    LegScore,
    Scored,
    ScoreKind,
    Variant,
)
from quoth.text.analyzer import analyze, analyze_query

KEYWORD = "keyword"
SEMANTIC = "semantic"

FULL_TRUST = 0.5
"""Coverage from which keyword search keeps its full weight."""
FULL_SPREAD = 0.05
"""Cosine difference of the first and the last of `FULL_LIST` hits, from which vector search keeps
its full weight."""
FULL_LIST = 100
MIN_SEPARATION = 0.1
"""Remaining share where all cosines are equal: the list still shows which chunks are similar."""

Rankings = Mapping[str, Sequence[Scored]]
"""Results by retriever, best first; each contains a chunk at most once."""


def reciprocal_rank_fusion(
    rankings: Rankings, *, k: int = 60, weights: Mapping[str, float] | None = None
) -> list[Candidate]:
    """Sum ``weight / (k + rank)`` over the retrievers, ranks from 1 (Cormack et al., SIGIR 2009).

    A retriever without a weight has weight 1. Equal sums are ordered by chunk id.
    """
    given = weights or {}
    sums: dict[str, float] = {}
    for leg in sorted(rankings):
        for rank, (chunk_id, _score) in enumerate(rankings[leg], start=1):
            sums[chunk_id] = sums.get(chunk_id, 0.0) + given.get(leg, 1.0) / (k + rank)
    return _ordered(sums, rankings=rankings, kind="rrf")


def convex_combination(
    rankings: Rankings, *, dense_weight: float, coverage: float = 1.0
) -> list[Candidate]:
    """Mix the retrievers' normalized scores by weight (Bruch et al., TOIS 2023); returns 0 to 1.

    Cosines are normalized from 0 (the last of the list) to 1 (the first), because models use only a
    narrow band of them; BM25 scores, which have a meaningful zero, are divided by the best. A chunk
    that a retriever did not find has 0 there. ``dense_weight`` is the weight of vector search, as
    long as ``coverage`` (0 to 1, see `term_coverage`) is at least `FULL_TRUST`; below, keyword
    search loses its weight in proportion, down to none at 0. Vector search loses the part of its
    weight that its cosines do not separate (`score_separation`). Equal scores are ordered by chunk
    id.
    """
    keyword_weight = (1.0 - dense_weight) * min(1.0, coverage / FULL_TRUST)
    dense_weight *= score_separation(rankings.get(SEMANTIC, ()))
    whole = dense_weight + keyword_weight
    share = dense_weight / whole if whole > 0 else 0.0
    sums: dict[str, float] = {}
    for leg, weight, low in (
        (SEMANTIC, share, _last(rankings.get(SEMANTIC, ()))),
        (KEYWORD, 1.0 - share, 0.0),
    ):
        for chunk_id, score in _spread(rankings.get(leg, ()), low=low):
            sums[chunk_id] = sums.get(chunk_id, 0.0) + weight * score
    return _ordered(sums, rankings=rankings, kind="convex")


def score_separation(ranking: Sequence[Scored]) -> float:
    """Return how well the cosines separate a ranking's chunks, from `MIN_SEPARATION` to 1.

    Fusion spreads the cosines of a list over 0 to 1, however close they are; where they lie within
    less than `FULL_SPREAD`, most of the spread is noise. The result is the list's range divided by
    the one expected of its length, which grows with the logarithm of the length. A list of one is
    not discounted. Measured: docs/decisions/014.
    """
    if len(ranking) < 2:
        return 1.0
    scores = [score for _chunk_id, score in ranking]
    expected = FULL_SPREAD * math.log(len(ranking)) / math.log(FULL_LIST)
    return min(1.0, max(MIN_SEPARATION, (max(scores) - min(scores)) / expected))


def weighted_sum(
    rankings: Sequence[Sequence[Candidate]], *, variants: Sequence[Variant]
) -> list[Candidate]:
    """Combine the fused rankings of several query variants by weight.

    A candidate keeps the retriever scores of the first variant that found it, under that variant's
    name.

    Every ranking was fused from its own variant's lists only: scores of different variants are
    never compared before that. Sums are divided by the sum of the weights, so that a convex score
    stays within 0 to 1. Equal sums are ordered by chunk id.
    """
    whole = sum(each.weight for each in variants)
    sums: dict[str, float] = {}
    first: dict[str, Candidate] = {}
    for ranking, variant in zip(rankings, variants, strict=True):
        for candidate in ranking:
            share = variant.weight * candidate.score / whole
            sums[candidate.chunk_id] = sums.get(candidate.chunk_id, 0.0) + share
            if candidate.chunk_id not in first:
                first[candidate.chunk_id] = _named(candidate, variant.name)
    best_first = sorted(sums, key=lambda chunk_id: (-sums[chunk_id], chunk_id))
    return [first[chunk_id]._replace(score=sums[chunk_id]) for chunk_id in best_first]


def _named(candidate: Candidate, name: str) -> Candidate:
    if not name:
        return candidate
    return candidate._replace(
        legs={f"{name}: {leg}": score for leg, score in candidate.legs.items()}
    )


def passthrough(rankings: Rankings, *, leg: str, kind: ScoreKind) -> list[Candidate]:
    """Turn one retriever's ranking into candidates with its own scores."""
    return _ordered(dict(rankings.get(leg, ())), rankings=rankings, kind=kind)


def term_coverage(question: str, *, best: Chunk | None) -> float:
    """Return the share of the query's terms that the best keyword hit contains, 0 to 1.

    It measures the reliability of keyword search without relevance judgments: where query and
    collection do not share a language, even the best hit shares little more than names.
    """
    if best is None:
        return 0.0
    sought = set(analyze_query(question, languages=(best.language,)))
    found = set(analyze(f"{best.prefix}\n{best.text}", language=best.language))
    return sum(term in found for term in sought) / len(sought) if sought else 0.0


def _last(ranking: Sequence[Scored]) -> float:
    return min((score for _chunk_id, score in ranking), default=0.0)


def _spread(ranking: Sequence[Scored], *, low: float) -> Iterable[Scored]:
    """Scale scores to 0…1: ``low`` gives 0, the best gives 1."""
    high = max((score for _chunk_id, score in ranking), default=0.0)
    if high <= low:
        return [(chunk_id, 1.0) for chunk_id, _score in ranking]
    return [(chunk_id, (score - low) / (high - low)) for chunk_id, score in ranking]


def _ordered(sums: Mapping[str, float], *, rankings: Rankings, kind: ScoreKind) -> list[Candidate]:
    legs: dict[str, dict[str, LegScore]] = {chunk_id: {} for chunk_id in sums}
    for leg in sorted(rankings):
        for rank, (chunk_id, score) in enumerate(rankings[leg], start=1):
            if chunk_id in legs:
                legs[chunk_id][leg] = LegScore(rank, score)
    best_first = sorted((-score, chunk_id) for chunk_id, score in sums.items())
    return [Candidate(each, -score, kind, legs[each]) for score, each in best_first]
