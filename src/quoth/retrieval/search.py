"""Both legs of a search at once, each with its own fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from quoth.errors import RetrievalError
from quoth.plan import Plan
from quoth.protocols import Embedder, Index, Matrix
from quoth.retrieval.fuse import convex_combination, reciprocal_rank_fusion, single_leg
from quoth.trace import Trace
from quoth.types import Candidate, Query, Scored


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, best first; `vector` is the question's, None where it was not made."""

    keyword: list[Scored]
    semantic: list[Scored]
    vector: Matrix | None


async def search(
    query: Query,
    plan: Plan,
    *,
    embedder: Embedder,
    index: Index,
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

    async def keyword() -> list[Scored] | None:
        if plan.mode == "semantic":
            return []
        return await trace.attempt(
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

    (vector, dense), lexical = await asyncio.gather(semantic(), keyword())
    if (dense is None and not lexical) or (lexical is None and not dense):
        raise RetrievalError(
            "The search is unavailable at the moment: "
            + ", ".join(trace.degraded)
            + ". Look at: quoth doctor"
        )
    return Legs(keyword=lexical or [], semantic=dense or [], vector=vector)


def merge(legs: Legs, plan: Plan, *, coverage: float) -> list[Candidate]:
    """Make one ranking of the legs, as the plan's mode and fusion say.

    ``coverage`` is `quoth.retrieval.fuse.covered` of the best keyword hit.
    """
    rankings = {"keyword": legs.keyword, "semantic": legs.semantic}
    if plan.mode == "keyword":
        return single_leg(rankings, leg="keyword", kind="bm25")
    if plan.mode == "semantic":
        return single_leg(rankings, leg="semantic", kind="cosine")
    if plan.fusion == "rrf":
        return reciprocal_rank_fusion(rankings, k=plan.rrf_k)
    return convex_combination(rankings, dense_weight=plan.dense_weight, coverage=coverage)


async def _embed(text: str, embedder: Embedder) -> Matrix | None:
    vector: Matrix = (await embedder.embed([text], role="query"))[0]
    return vector


def _nothing() -> Matrix | None:
    return None


def _no_list() -> list[Scored] | None:
    return None
