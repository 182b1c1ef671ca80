"""Both legs of a search at once, each with its own fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quoth.errors import RetrievalError
from quoth.plan import Plan
from quoth.protocols import Embedder, Index, Matrix
from quoth.retrieval.fuse import (
    convex_combination,
    covered,
    reciprocal_rank_fusion,
    single_leg,
)
from quoth.trace import Trace
from quoth.types import Candidate, Chunk, Query, Scored

ChunksOf = Callable[[Sequence[str]], Mapping[str, Chunk]]
"""Gives the chunks of ids, those that are there."""


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, best first.

    ``vector`` is the question's, None where it was not made; ``coverage`` is the share of the
    question's terms that the best keyword hit holds (`quoth.retrieval.fuse.covered`).
    """

    keyword: list[Scored]
    semantic: list[Scored]
    vector: Matrix | None
    coverage: float


async def search(
    query: Query,
    plan: Plan,
    *,
    embedder: Embedder,
    index: Index,
    chunks_of: ChunksOf,
    languages: Sequence[str],
    trace: Trace,
) -> Legs:
    """Search with the legs that the plan's mode names.

    A leg that fails is left out and recorded; raises RetrievalError when none is left.
    """

    async def semantic() -> tuple[Matrix | None, list[Scored] | None]:
        if plan.mode == "keyword":
            return None, []
        vector = await trace.attempt(
            "embed",
            lambda: _embed(query.standalone, embedder),
            otherwise=_nothing,
            fallback="keyword",
        )
        if vector is None:
            return None, None
        row = vector
        found = await trace.attempt(
            "semantic",
            lambda: index.nearest(row, limit=plan.candidates_per_leg, filters=plan.filters),
            otherwise=_no_list,
            fallback="keyword",
        )
        return vector, found

    async def keyword() -> tuple[list[Scored] | None, float]:
        if plan.mode == "semantic":
            return [], 0.0
        found = await trace.attempt(
            "keyword",
            lambda: index.match(
                query.standalone,
                languages=languages,
                limit=plan.candidates_per_leg,
                filters=plan.filters,
            ),
            otherwise=_no_list,
            fallback="semantic",
        )
        # Looked up here, while the other leg is still embedding the question.
        best = await asyncio.to_thread(chunks_of, [key for key, _score in (found or [])[:1]])
        return found, covered(query.standalone, best=next(iter(best.values()), None))

    (vector, dense), (lexical, coverage) = await asyncio.gather(semantic(), keyword())
    if (dense is None and not lexical) or (lexical is None and not dense):
        why = ", ".join(trace.degraded)
        late = all(":deadline:" in each for each in trace.degraded)
        way_out = "Allow more time." if late else "Look at: quoth doctor"
        raise RetrievalError(f"The search is unavailable now: {why}. {way_out}")
    return Legs(lexical or [], dense or [], vector=vector, coverage=coverage)


def merge(legs: Legs, plan: Plan) -> list[Candidate]:
    """Make one ranking of the legs, as the plan's mode and fusion say."""
    rankings = {"keyword": legs.keyword, "semantic": legs.semantic}
    if plan.mode == "keyword":
        return single_leg(rankings, leg="keyword", kind="bm25")
    if plan.mode == "semantic":
        return single_leg(rankings, leg="semantic", kind="cosine")
    if plan.fusion == "rrf":
        return reciprocal_rank_fusion(rankings, k=plan.rrf_k)
    return convex_combination(rankings, dense_weight=plan.dense_weight, coverage=legs.coverage)


async def _embed(text: str, embedder: Embedder) -> Matrix | None:
    vector: Matrix = (await embedder.embed([text], role="query"))[0]
    return vector


def _nothing() -> Matrix | None:
    return None


def _no_list() -> list[Scored] | None:
    return None
