"""Fusion: one ranking from several retrievers. The default was measured: docs/decisions/003."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from quoth.core.types import (
    Candidate,
    LegScore,
    Scored,
    ScoreKind,
    Variant,
)

KEYWORD = "keyword"
SEMANTIC = "semantic"
SPARSE = "sparse"
PAGES = "pages"

FULL_SPREAD = 0.05
"""Cosine difference of the first and the last of `FULL_LIST` hits, from which vector search keeps
its full weight."""
FULL_LIST = 100
MIN_SEPARATION = 0.1
"""Remaining share where all cosines are equal: the list still shows which chunks are similar."""

Rankings = Mapping[str, Sequence[Scored]]
"""Results by retriever, best first; each contains a chunk at most once."""


def reciprocal_rank_fusion(rankings: Rankings, *, k: int = 60) -> list[Candidate]:
    """Sum ``1 / (k + rank)`` over the retrievers, ranks from 1 (Cormack et al., SIGIR 2009).

    Equal sums are ordered by chunk id.
    """
    sums: dict[str, float] = {}
    for leg in sorted(rankings):
        for rank, (chunk_id, _score) in enumerate(rankings[leg], start=1):
            sums[chunk_id] = sums.get(chunk_id, 0.0) + 1.0 / (k + rank)
    return _ordered(sums, rankings=rankings, kind="rrf")


def convex_combination(
    rankings: Rankings,
    *,
    dense_weight: float,
    sparse_weight: float = 0.0,
    page_weight: float = 0.0,
) -> list[Candidate]:
    """Mix the retrievers' normalized scores by weight (Bruch et al., TOIS 2023); returns 0 to 1.

    Cosines are normalized from 0 (the last of the list) to 1 (the first), because models use only a
    narrow band of them; BM25 scores, which have a meaningful zero, are divided by the best. A chunk
    that a retriever did not find has 0 there. ``dense_weight`` is the weight of vector search, of
    which it loses the part that its cosines do not separate (`score_separation`). ``sparse_weight``
    and ``page_weight`` are the shares of the lists by lexical weights and by pictures of pages,
    where there are any; the others have the rest. Equal scores are ordered by chunk id.
    """
    trusted = dense_weight * score_separation(rankings.get(SEMANTIC, ()))
    share = trusted / (1.0 - dense_weight + trusted) if trusted > 0 else 0.0
    sparse = sparse_weight if rankings.get(SPARSE) else 0.0
    pages = page_weight if rankings.get(PAGES) else 0.0
    texts = max(0.0, 1.0 - sparse - pages)
    sums: dict[str, float] = {}
    for leg, weight, low in (
        (SEMANTIC, texts * share, None),
        (KEYWORD, texts * (1.0 - share), 0.0),
        (SPARSE, sparse, 0.0),
        (PAGES, pages, None),
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


def lift(ranking: Sequence[Candidate], *, above: Sequence[Candidate]) -> list[Candidate]:
    """Reorder a ranking by reciprocal rank fusion with another one of some of its candidates.

    Scores are redistributed in the new order; candidates keep their retriever scores.
    """
    legs = {
        name: [(each.chunk_id, each.score) for each in candidates]
        for name, candidates in (("all", ranking), ("above", above))
    }
    known = {each.chunk_id: each for each in (*above, *ranking)}
    order = [known[each.chunk_id] for each in reciprocal_rank_fusion(legs)]
    scores = sorted((each.score for each in order), reverse=True)
    return [each._replace(score=score) for each, score in zip(order, scores, strict=True)]


def _named(candidate: Candidate, name: str) -> Candidate:
    if not name:
        return candidate
    return candidate._replace(
        legs={f"{name}: {leg}": score for leg, score in candidate.legs.items()}
    )


def passthrough(rankings: Rankings, *, leg: str, kind: ScoreKind) -> list[Candidate]:
    """Turn one retriever's ranking into candidates with its own scores."""
    return _ordered(dict(rankings.get(leg, ())), rankings=rankings, kind=kind)


def _spread(ranking: Sequence[Scored], *, low: float | None) -> Iterable[Scored]:
    """Scale scores to 0…1: ``low``, or else the last, gives 0, the best gives 1."""
    scores = [score for _chunk_id, score in ranking]
    high = max(scores, default=0.0)
    low = min(scores, default=0.0) if low is None else low
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
