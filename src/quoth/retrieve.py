"""The first half of the path: from a question to numbered passages.

understand → search both legs → fuse → diversify → fetch → neighbours
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from quoth.catalogue.rows import Collection
from quoth.parts import Parts, require_same_identity
from quoth.plan import Plan, make_plan
from quoth.protocols import Matrix
from quoth.retrieval.diversify import cap_per_document, maximal_marginal_relevance
from quoth.retrieval.filters import parse_filters
from quoth.retrieval.fuse import covered
from quoth.retrieval.passages import hit_of, passages_of
from quoth.retrieval.search import Legs, merge, search
from quoth.retrieval.understand import understand, validate
from quoth.trace import Trace
from quoth.types import Candidate, Hit, Passage, Query

Choices = Mapping[str, Any]
"""Fields of `Plan` by name, as the caller wants them; None means "not given"."""

RELAXED = (
    "Nothing matched the place that the question names, so all of the collection was searched."
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate after fusion, and the pool of them that goes on, in its final order."""

    query: Query
    plan: Plan
    scope: Collection
    legs: Legs
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the first half of the path found; `candidates` went through the whole chain."""

    query: Query
    plan: Plan
    scope: Collection
    legs: Legs
    fused: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()


def no_vectors() -> Mapping[str, Matrix]:
    """What diversity goes on with when the index cannot give vectors: no likeness is known."""
    return {}


async def retrieve(
    parts: Parts,
    question: str,
    *,
    scope: Collection,
    choices: Choices,
    filters: Sequence[str],
    checked: bool,
    trace: Trace,
) -> Retrieved:
    """Find the passages for a question.

    Filters that were read out of the question, and leave nothing, are let go with a warning;
    those that were given stay. ``checked`` false takes questions of any length.
    """
    with trace.stage("understand"):
        require_same_identity(scope, parts.embedder)
        languages = await asyncio.to_thread(parts.catalogue.languages, scope)
        query = understand(validate(question) if checked else question, languages=languages)
        given = parse_filters(filters)
    rank_for = partial(rank, parts, scope, languages=languages, choices=choices, trace=trace)
    ranked = await rank_for(query=replace(query, filters=(*query.filters, *given)))
    if ranked.fused or not query.filters:
        return await gather(parts, ranked, trace=trace)
    ranked = await rank_for(query=replace(query, filters=given))
    return replace(await gather(parts, ranked, trace=trace), warnings=(RELAXED,))


async def rank(
    parts: Parts,
    scope: Collection,
    *,
    query: Query,
    languages: Sequence[str],
    choices: Choices,
    trace: Trace,
) -> Ranked:
    """Search → fuse → diversify."""
    overrides = {**choices, "filters": (*query.filters, *choices.get("filters", ()))}
    plan = make_plan(parts.settings.profile, query.kind, overrides=overrides)
    index = parts.open_index(scope.table)
    legs = await search(
        query, plan, embedder=parts.embedder, index=index, languages=languages, trace=trace
    )
    with trace.stage("fuse"):
        best = [key for key, _score in legs.keyword[:1]]
        tops = await asyncio.to_thread(parts.catalogue.chunks, best)
        coverage = covered(query.standalone, best=next(iter(tops.values()), None))
        fused = merge(legs, plan, coverage=coverage)
    pool = fused[: plan.rerank_pool]
    if plan.mmr_lambda < 1:
        vectors = await trace.attempt(
            "diversify",
            lambda: index.vectors([each.chunk_id for each in pool]),
            otherwise=no_vectors,
            fallback="fused order",
        )
        pool = maximal_marginal_relevance(
            pool, vectors=vectors, mmr_lambda=plan.mmr_lambda, limit=len(pool)
        )
    return Ranked(query, plan, scope, legs, tuple(fused), tuple(pool))


async def gather(parts: Parts, ranked: Ranked, *, trace: Trace) -> Retrieved:
    """Fetch → cap → neighbours: from chunk ids to texts, places and passages."""
    catalogue, plan = parts.catalogue, ranked.plan
    with trace.stage("fetch"):
        ids = [each.chunk_id for each in ranked.pool]
        chunks = await asyncio.to_thread(catalogue.chunks, ids)
        # A row whose document is not committed, or is gone, leads nowhere.
        pool = [each for each in ranked.pool if each.chunk_id in chunks]
        owners = {key: chunk.document_id for key, chunk in chunks.items()}
        if plan.max_per_document is not None:
            most = plan.max_per_document
            pool = cap_per_document(pool, document_of=owners.__getitem__, most=most)
        final = pool[: plan.final_k]
        wanted = sorted({owners[each.chunk_id] for each in final})
        documents = await asyncio.to_thread(catalogue.documents_by_id, ranked.scope, wanted)
        final = [each for each in final if owners[each.chunk_id] in documents]
    with trace.stage("neighbours"):
        passages = await asyncio.to_thread(
            passages_of,
            final,
            chunks=chunks,
            documents=documents,
            catalogue=catalogue,
            window=plan.context_window,
        )
    hits = tuple(
        hit_of(
            each,
            rank=rank,
            chunk=chunks[each.chunk_id],
            document=documents[owners[each.chunk_id]],
        )
        for rank, each in enumerate(final, start=1)
    )
    return Retrieved(
        ranked.query,
        plan,
        ranked.scope,
        ranked.legs,
        ranked.fused,
        tuple(final),
        hits,
        passages,
    )
