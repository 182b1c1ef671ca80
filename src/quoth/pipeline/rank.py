"""Ranks the passages of one collection: expand → search → fuse → rerank → diversify."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from quoth.core.calibration import Tuning
from quoth.core.command_line import command_line
from quoth.core.errors import Busy, IndexCorrupt
from quoth.core.outline import CollectionOutline, Heading, SummarySentence
from quoth.core.plan import Plan
from quoth.core.protocols import EncodedQuery, Generator, Index, Matrix
from quoth.core.trace import Trace
from quoth.core.types import Candidate, Chunk, Query, Variant
from quoth.pipeline.budget import MeteredReranker, at_stage
from quoth.pipeline.components import Components
from quoth.query.language_model import generated_variants
from quoth.retrieval.passages import maximal_marginal_relevance
from quoth.retrieval.rerank import rerank
from quoth.retrieval.search import (
    RetrieverResults,
    authors_of,
    embed_variants,
    index_filters,
    merge,
    said_by,
    search,
    within_speakers,
)
from quoth.store.rows import Collection
from quoth.text.locators import speaker_filters

SOFT_FILTER_WEIGHT = 0.2
"""Weight of a soft filter's results; the query itself has weight 1."""
CONTEXT_WEIGHT = 1.5
"""Weight of the query after the last turns of its conversation (decision 037)."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One collection as a query searches it: index, calibration and plan.

    ``page`` is the query's vector among pictures of pages.
    """

    parts: Components
    collection: Collection
    outline: CollectionOutline
    index: Index
    tuning: Tuning | None
    plan: Plan
    trace: Trace
    page: Matrix | None = None


@dataclass(frozen=True, slots=True)
class RankedList:
    """All candidates after fusion, and the pool that continues, in final order.

    ``legs`` holds the retrievers' results for the query itself, without its other wordings;
    ``chunks`` and ``vectors`` are those of the pool. ``whole`` means that the pool is the
    requested content, not to be cut or widened; ``summary`` holds the sentences of a requested
    summary, ``sections`` the headings that it goes through, ``headings`` those of an outline or a
    list, ``unlisted`` how many more there are.
    """

    collection: Collection
    tuning: Tuning | None
    legs: RetrieverResults
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]
    chunks: Mapping[str, Chunk]
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    whole: bool = False
    summary: tuple[SummarySentence, ...] = ()
    sections: tuple[Heading, ...] = ()
    headings: tuple[Heading, ...] = ()
    unlisted: int = 0


async def rank(context: SearchContext, query: Query, encoded: EncodedQuery | None) -> RankedList:
    """Expand → search → fuse → rerank → diversify."""
    parts, plan, trace = context.parts, context.plan, context.trace
    others: tuple[Variant, ...] = ()
    if parts.task_model is not None and (plan.expansion == "generated" or plan.hyde):
        others = await _expand(context, query, generator=parts.task_model)
    speakers = speaker_filters(plan.filters)
    authors: Mapping[str, str] = {}
    variants = [*_query_variants(query, plan), *others]
    if speakers:
        authors = authors_of(context.outline.documents, speakers)
        variants = within_speakers(variants, speakers, authors=authors)
    encoded_variants = await embed_variants(
        variants, encoded, plan, embedder=parts.embedder, trace=trace, page=context.page
    )
    found = await search(
        encoded_variants,
        replace(plan, filters=index_filters(plan.filters, context.outline.documents)),
        index=context.index,
        languages=context.outline.languages,
        trace=trace,
    )
    await _verify_index_complete(context)
    with trace.stage("fuse"):
        fused = merge(encoded_variants, found, plan)
        if speakers:
            fused = await said_by(fused, speakers, authors=authors, fetch=parts.catalogue.chunks)
    pool = fused[: plan.rerank_pool]
    ids = [candidate.chunk_id for candidate in pool]
    vectors: Mapping[str, Matrix] = {}
    if plan.mmr_lambda < 1 or plan.duplicate_cosine < 1:
        vectors = await trace.attempt(
            "vectors", context.index.vectors(ids), otherwise=vectors, fallback="fused order"
        )
    with trace.stage("fetch"):
        chunks = await asyncio.to_thread(parts.catalogue.chunks, ids)
    if parts.reranker is not None and plan.rerank:
        pool = await trace.attempt(
            "rerank",
            rerank(
                pool,
                query=query,
                chunks=chunks,
                reranker=parts.reranker,
                weight=plan.rerank_weight,
                tokens=None if encoded is None else encoded.tokens,
            ),
            otherwise=pool,
            fallback="fused order",
        )
        if isinstance(parts.reranker, MeteredReranker) and parts.reranker.fell_back:
            trace.note("rerank", reason="rerank_failed", fallback="next reranker", failed=True)
    with trace.stage("diversify"):
        if plan.mmr_lambda < 1:
            pool = maximal_marginal_relevance(pool, vectors=vectors, mmr_lambda=plan.mmr_lambda)
    return RankedList(
        context.collection, context.tuning, found[0], tuple(fused), tuple(pool), chunks, vectors
    )


async def _verify_index_complete(context: SearchContext) -> None:
    """Record an incomplete index, e.g. one that was not restored with its catalogue.

    Checked until it was complete once: later writes reach the index first. Raises IndexCorrupt
    where all documents are missing, since finding nothing would look like an answer.
    """
    parts, collection = context.parts, context.collection
    if collection.table in parts.verified_tables:
        return
    wanted = await asyncio.to_thread(parts.catalogue.passages, collection)
    there = await context.index.count()
    if there >= wanted:
        parts.verified_tables.add(collection.table)
    elif there:
        without = f"without {wanted - there:,} passages"
        context.trace.note("index", reason="incomplete", fallback=without, failed=True)
    else:
        now = await asyncio.to_thread(parts.catalogue.find_collection, collection.name)
        if now is None or now.table != collection.table:
            raise Busy("The index was just replaced. Try again.", retry_after_s=1)
        rebuild = command_line("reindex", parts.settings, collection=collection.name)
        raise IndexCorrupt(
            f"The index of the collection '{collection.name}' is empty, though its documents are "
            f"there. Build it with: {rebuild}"
        )


def _query_variants(query: Query, plan: Plan) -> tuple[Variant, ...]:
    """Return the query, its variants within guessed places, and one after the last turns.

    The last not in keyword mode, where a query without hits of its own must find nothing.
    """
    guesses = (
        Variant(
            query.standalone,
            weight=SOFT_FILTER_WEIGHT,
            name=f"{boost.field} guessed",
            filters=(boost,),
        )
        for boost in query.boosts
    )
    variants = (Variant(query.standalone), *guesses)
    if not query.in_context or plan.mode == "keyword":
        return variants
    return (*variants, Variant(query.in_context, weight=CONTEXT_WEIGHT, name="conversation"))


async def _expand(
    context: SearchContext, query: Query, *, generator: Generator
) -> tuple[Variant, ...]:
    """Return a language model's other wordings, as far as time permits."""
    plan = context.plan
    return await context.trace.attempt(
        "expand",
        generated_variants(
            query,
            generator=at_stage(generator, "expand"),
            hyde=plan.hyde,
            languages=context.outline.languages,
        ),
        otherwise=(),
        fallback="the question alone",
        limit_ms=plan.expansion_ms,
    )
