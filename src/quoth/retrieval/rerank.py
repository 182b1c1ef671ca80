"""Reranking: reorders the pool by reranker scores mixed with first-stage scores.

Measurements: docs/decisions/013-late-interaction-reranking.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from quoth.core.protocols import Matrix, Reranker
from quoth.core.types import (
    Candidate,
    Chunk,
    LegScore,
    Query,
)

RERANK = "rerank"
FUSED = "fused"
"""The leg under which later stages store the previous score."""
KEEP = 8
"""Scoring ends after a block that adds nothing to this many best candidates."""


@runtime_checkable
class ProgressiveReranker(Protocol):
    """A reranker called with ``block`` chunks at a time, because each chunk is expensive.

    A chunk's score must not depend on the others in its block.
    """

    block: int


async def rerank(
    candidates: Sequence[Candidate],
    *,
    query: Query,
    chunks: Mapping[str, Chunk],
    reranker: Reranker,
    weight: float,
    tokens: Matrix | None = None,
    keep: int = KEEP,
) -> list[Candidate]:
    """Reorder a ranking, best first, by both stages' scores; raises RerankError.

    ``tokens`` holds the query's token vectors, for rerankers that compare those. Each stage's
    scores are normalized to 0 to 1 and mixed, the reranker's with ``weight``: at 0 the order stays,
    at 1 the reranker alone decides. It scores against the complete query (``query.standalone``),
    never an expansion of it.

    A `ProgressiveReranker` is called in blocks, in first-stage order, until a block has put none of
    its own among the best ``keep``: later ones hardly would. Candidates without a chunk, and
    unscored ones, keep their ranks.

    The result has the kind "rerank" and the legs "rerank" (rank and raw score among those scored)
    and "fused" (rank and score before).
    """
    known = [at for at, each in enumerate(candidates) if each.chunk_id in chunks]
    if not known:
        return list(candidates)
    first = spread([candidate.score for candidate in candidates])
    block = reranker.block if isinstance(reranker, ProgressiveReranker) else len(known)
    raw: list[float] = []
    for start in range(0, len(known), block):
        part = known[start : start + block]
        texts = [chunks[candidates[at].chunk_id] for at in part]
        raw += await reranker.score(query.standalone, texts, tokens=tokens)
        scored = known[: len(raw)]
        mixed = mix([first[at] for at in scored], spread(raw), weight=weight)
        order = sorted(range(len(scored)), key=mixed.__getitem__, reverse=True)
        if len(order) > keep and not any(at >= start for at in order[:keep]):
            break
    return _in_rank_order(candidates, scored=scored, order=order, mixed=mixed, raw=raw)


def spread(scores: Sequence[float]) -> list[float]:
    """Scale scores so that the lowest is 0 and the highest 1; equal scores give 0."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if high <= low:
        return [0.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def mix(first: Sequence[float], second: Sequence[float], *, weight: float) -> list[float]:
    """Return ``(1 − weight) · first + weight · second`` for each pair."""
    return [(1 - weight) * a + weight * b for a, b in zip(first, second, strict=True)]


def _in_rank_order(
    candidates: Sequence[Candidate],
    *,
    scored: Sequence[int],
    order: Sequence[int],
    mixed: Sequence[float],
    raw: Sequence[float],
) -> list[Candidate]:
    """Redistribute the ranks of the scored candidates in their new order."""
    by_raw = sorted(range(len(raw)), key=raw.__getitem__, reverse=True)
    ranks = {at: rank for rank, at in enumerate(by_raw, start=1)}
    coming = iter(order)
    places = set(scored)
    result: list[Candidate] = []
    lowest = max((mixed[at] for at in order), default=0.0)
    for place, held in enumerate(candidates):
        who, legs = place, dict(held.legs)
        if place in places:
            at = next(coming)
            who, lowest = scored[at], mixed[at]
            legs = {**candidates[who].legs, RERANK: LegScore(ranks[at], raw[at])}
        # An unscored candidate takes the score of the one above it, and keeps its rank.
        before = LegScore(who + 1, candidates[who].score)
        result.append(
            candidates[who]._replace(score=lowest, score_kind="rerank", legs=legs | {FUSED: before})
        )
    return result
