"""Both legs of a search at once, each with its own fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from quoth.core.concurrency import run_in_thread
from quoth.core.errors import OutOfTime, RetrievalError
from quoth.core.plan import Plan
from quoth.core.protocols import Embedder, Index, Matrix
from quoth.core.trace import Trace
from quoth.core.types import (
    Candidate,
    Chunk,
    Scored,
    Variant,
)
from quoth.retrieval.fusion import (
    convex_combination,
    passthrough,
    reciprocal_rank_fusion,
    term_coverage,
    weighted_sum,
)

ChunksOf = Callable[[Sequence[str]], Mapping[str, Chunk]]
"""Gives the chunks of ids, those that are there."""

FIRST = 3
"""Keyword hits looked at for the best: a document that is just being added is not there yet."""


@dataclass(frozen=True, slots=True)
class RetrieverResults:
    """What each leg found, best first.

    ``vector`` is the question's, None where it was not made; ``coverage`` is the share of the
    question's terms that the best keyword hit holds (`quoth.retrieval.fusion.covered`).
    """

    keyword: list[Scored]
    semantic: list[Scored]
    vector: Matrix | None
    coverage: float


async def search(
    variants: Sequence[Variant],
    plan: Plan,
    *,
    embedder: Embedder,
    index: Index,
    chunks_of: ChunksOf,
    languages: Sequence[str],
    trace: Trace,
) -> tuple[RetrieverResults, ...]:
    """Search every wording with the legs that it and the plan's mode name; one `Legs` for each.

    All wordings are embedded together and searched at once. A leg that fails is left out and
    recorded; raises RetrievalError when the first wording, the question itself, has none left.
    """
    one = partial(
        _search_one, plan=plan, index=index, chunks_of=chunks_of, languages=languages, trace=trace
    )
    vectors = asyncio.create_task(_vectors(variants, plan, embedder=embedder, trace=trace))
    try:
        works = [one(variant, at=at, vectors=vectors) for at, variant in enumerate(variants)]
        # Every task is another turn of the event loop: the question alone needs none.
        found = [await works[0]] if len(works) == 1 else await asyncio.gather(*works)
    finally:
        vectors.cancel()
    if found[0] is None:
        why = ", ".join(trace.failures)
        late = all(":deadline:" in each for each in trace.failures)
        if late:
            raise OutOfTime(f"The search is unavailable now: {why}. Allow more time (max_ms).")
        raise RetrievalError(f"The search is unavailable now: {why}. Look at: quoth doctor")
    return tuple(each or RetrieverResults([], [], vector=None, coverage=0.0) for each in found)


async def _search_one(
    variant: Variant,
    *,
    at: int,
    vectors: asyncio.Task[Matrix | None],
    plan: Plan,
    index: Index,
    chunks_of: ChunksOf,
    languages: Sequence[str],
    trace: Trace,
) -> RetrieverResults | None:
    """Search one wording; None where every leg failed, or one did and the other found nothing."""
    filters = (*plan.filters, *variant.filters)
    limit = plan.candidates_per_leg

    async def semantic() -> tuple[Matrix | None, list[Scored] | None]:
        if plan.mode == "keyword" or not variant.semantic:
            return None, []
        rows = await vectors
        if rows is None:
            return None, None
        row: Matrix = rows[at]
        found = await trace.attempt(
            "semantic",
            lambda: index.nearest(row, limit=limit, filters=filters),
            otherwise=_no_list,
            fallback="keyword",
        )
        return row, found

    async def keyword() -> tuple[list[Scored] | None, float]:
        if plan.mode == "semantic" or not variant.keyword:
            return [], 0.0
        found = await trace.attempt(
            "keyword",
            lambda: index.match(variant.text, languages=languages, limit=limit, filters=filters),
            otherwise=_no_list,
            fallback="semantic",
        )
        # Looked up here, while the other leg is still embedding the question.
        first = [key for key, _score in (found or [])[:FIRST]]
        there = await run_in_thread(partial(chunks_of, first))
        best = next((there[key] for key in first if key in there), None)
        return found, term_coverage(variant.text, best=best)

    (vector, dense), (lexical, coverage) = await asyncio.gather(semantic(), keyword())
    if (dense is None and not lexical) or (lexical is None and not dense):
        return None
    return RetrieverResults(lexical or [], dense or [], vector=vector, coverage=coverage)


def merge(
    variants: Sequence[Variant], found: Sequence[RetrieverResults], plan: Plan
) -> list[Candidate]:
    """Make one ranking: of each wording's legs as the plan says, then of the wordings by weight."""
    rankings = [_fused(legs, plan) for legs in found]
    if len(rankings) == 1:
        return rankings[0]
    return weighted_sum(rankings, variants=variants)


def _fused(legs: RetrieverResults, plan: Plan) -> list[Candidate]:
    rankings = {"keyword": legs.keyword, "semantic": legs.semantic}
    if plan.mode == "keyword":
        return passthrough(rankings, leg="keyword", kind="bm25")
    if plan.mode == "semantic":
        return passthrough(rankings, leg="semantic", kind="cosine")
    if plan.fusion == "rrf":
        return reciprocal_rank_fusion(rankings, k=plan.rrf_k)
    return convex_combination(rankings, dense_weight=plan.dense_weight, coverage=legs.coverage)


async def _vectors(
    variants: Sequence[Variant], plan: Plan, *, embedder: Embedder, trace: Trace
) -> Matrix | None:
    """Embed all wordings in one go, shape (variants, dimension); None where that failed."""
    if plan.mode == "keyword":
        return None
    return await trace.attempt(
        "embed",
        lambda: _embed([each.text for each in variants], embedder),
        otherwise=_nothing,
        fallback="keyword",
    )


async def _embed(texts: Sequence[str], embedder: Embedder) -> Matrix | None:
    return await embedder.embed(texts, role="query")


def _nothing() -> Matrix | None:
    return None


def _no_list() -> list[Scored] | None:
    return None
