"""Retrieval strategies for one collection, by the kind of query.

Most queries go through `rank`: expand → search → fuse → rerank → calibrate → diversify. The other
strategies return the same `RankedList`: structural lookup returns a requested place, a summary
covers its document, and a query made of several questions ranks for each of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quoth.core.calibration import Tuning
from quoth.core.errors import Busy, IndexCorrupt
from quoth.core.outline import CollectionOutline, SummarySentence
from quoth.core.plan import Plan
from quoth.core.protocols import EncodedQuery, Index, Matrix
from quoth.core.trace import Trace
from quoth.core.types import Candidate, Chunk, Query, Variant
from quoth.pipeline.components import Components
from quoth.query.decompose import aspect_questions, sub_questions
from quoth.query.expand import MAX_RELATED, generated_variants, local_variants
from quoth.query.keywords import capitalised_terms
from quoth.query.subject import LOCATOR_FIELDS, kind_of_source, only_asks_for_a_place
from quoth.retrieval.aspect_quota import apply_quota
from quoth.retrieval.calibration import (
    ScoreBaseline,
    apply_calibration,
    reranker_scores,
)
from quoth.retrieval.diversity import maximal_marginal_relevance, round_robin
from quoth.retrieval.rerank import rerank
from quoth.retrieval.score_regularization import DEPTH, smooth_scores
from quoth.retrieval.search import RetrieverResults, embed_variants, encode_query, merge, search
from quoth.retrieval.summary_lookup import coverage_sample, named_parts
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection

SOFT_FILTER_WEIGHT = 0.2
"""Weight of a soft filter's results; the query itself has weight 1."""
CONTEXT_WEIGHT = 0.3
"""Weight of the query variant with conversation terms (decision 037)."""
ASPECT_RANKS = 8
"""First ranks among which every aspect of a comparison has one."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One collection as a query searches it: index, calibration and plan."""

    parts: Components
    collection: Collection
    outline: CollectionOutline
    index: Index
    tuning: Tuning | None
    plan: Plan
    trace: Trace


@dataclass(frozen=True, slots=True)
class RankedList:
    """All candidates after fusion, and the pool that continues, in final order.

    ``legs`` holds the retrievers' results for the query itself, ``chunks`` those of the pool,
    ``vectors`` the stored ones of the first candidates. ``whole`` means that the pool is the
    requested content, not to be cut or widened; ``leaves`` holds the sentences of a summary.
    """

    collection: Collection
    tuning: Tuning | None
    legs: RetrieverResults
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]
    chunks: Mapping[str, Chunk]
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    whole: bool = False
    leaves: tuple[SummarySentence, ...] = ()


async def retrieve_parts(
    context: SearchContext, query: Query, encoded: EncodedQuery | None
) -> RankedList:
    """Retrieve with the plan's strategy."""
    plan = context.plan
    placed = any(filter_.field in LOCATOR_FIELDS for filter_ in plan.filters)
    if (placed or plan.strategy == "cover") and only_asks_for_a_place(query):
        return await sample_coverage(context, query) or await rank(context, query, encoded)
    if plan.strategy == "look_up":
        return await structural_lookup(context, query) or await rank(context, query, encoded)
    questions = aspect_questions(query) if plan.strategy == "aspects" else sub_questions(query)
    if len(questions) > 1:
        return await multi_query_round_robin(context, query, encoded, questions)
    return await rank(context, query, encoded)


async def rank(context: SearchContext, query: Query, encoded: EncodedQuery | None) -> RankedList:
    """Expand → search → fuse → rerank → calibrate → diversify."""
    parts, plan, trace = context.parts, context.plan, context.trace
    variants = (*_query_variants(query, plan), *await _expand(context, query))
    wordings = await embed_variants(variants, encoded, plan, embedder=parts.embedder, trace=trace)
    found = await search(
        wordings,
        plan,
        index=context.index,
        read_chunks=parts.catalogue.chunks,
        languages=context.outline.languages,
        trace=trace,
    )
    await _verify_index_complete(context)
    with trace.stage("fuse"):
        fused = merge(wordings, found, plan)
    vectors = await _stored_vectors(context, fused[: max(DEPTH, plan.rerank_pool)])
    if plan.mode == "hybrid":
        with trace.stage("smooth"):
            fused = smooth_scores(fused, vectors=vectors, weight=plan.smoothing)
    pool = fused[: plan.rerank_pool]
    with trace.stage("fetch"):
        ids = [candidate.chunk_id for candidate in pool]
        chunks = await asyncio.to_thread(read_missing, parts.catalogue, ids, found[0].chunks)
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
    with trace.stage("calibrate"):
        pool = _calibrate(context, found[0], pool)
    with trace.stage("diversify"):
        pool = maximal_marginal_relevance(
            pool, vectors=vectors, mmr_lambda=plan.mmr_lambda, limit=len(pool)
        )
    return RankedList(
        context.collection, context.tuning, found[0], tuple(fused), tuple(pool), chunks, vectors
    )


def read_missing(
    catalogue: Catalogue, ids: Sequence[str], known: Mapping[str, Chunk]
) -> dict[str, Chunk]:
    """Return the existing chunks of these ids, reading those not known yet."""
    missing = [key for key in ids if key not in known]
    return {**known, **(catalogue.chunks(missing) if missing else {})}


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
        raise IndexCorrupt(
            f"The index of the collection '{collection.name}' is empty, though its documents are "
            f"there. Build it with: quoth --collection {collection.name} reindex"
        )


async def structural_lookup(context: SearchContext, query: Query) -> RankedList | None:
    """Return the chunks at a requested place, in order; None if there are too many."""
    plan = context.plan
    if not any(filter_.field in LOCATOR_FIELDS for filter_ in plan.filters):
        return None
    chunks = await asyncio.to_thread(
        context.parts.catalogue.look_up,
        context.collection,
        filters=plan.filters,
        limit=plan.rerank_pool + 1,
    )
    if len(chunks) > plan.rerank_pool:
        return None
    # One edition is enough when a book has several.
    readable = [each for each in chunks if each.language == query.language] or chunks
    return _whole(context, {chunk.chunk_id: chunk for chunk in readable})


async def sample_coverage(context: SearchContext, query: Query) -> RankedList | None:
    """Return the summary of a named source; a sample of its chunks if it has none."""
    plan, catalogue = context.plan, context.parts.catalogue
    wanted = named_parts(
        context.outline, plan.filters, language=query.language, kind=kind_of_source(query)
    )
    if wanted:
        documents = [each.document_id for each in wanted]
        summaries = await asyncio.to_thread(catalogue.summaries, context.collection, documents)
        leaves = coverage_sample(summaries, wanted, limit=plan.max_sentences)
        if leaves:
            ids = list(dict.fromkeys(leaf.chunk_id for leaf in leaves))
            chunks = await asyncio.to_thread(catalogue.chunks, ids)
            return _whole(context, {key: chunks[key] for key in ids if key in chunks}, leaves)
    return await structural_lookup(context, query)


def _whole(
    context: SearchContext, chunks: Mapping[str, Chunk], leaves: tuple[SummarySentence, ...] = ()
) -> RankedList:
    """Return the ranking of chunks requested by their place."""
    pool = tuple(Candidate(key, 1.0, "place") for key in chunks)
    return RankedList(
        context.collection,
        context.tuning,
        RetrieverResults(),
        fused=pool,
        pool=pool,
        chunks=chunks,
        whole=True,
        leaves=leaves,
    )


async def multi_query_round_robin(
    context: SearchContext, query: Query, encoded: EncodedQuery | None, questions: Sequence[str]
) -> RankedList:
    """Rank for each sub-question and for the whole query.

    One joined query hides its weaker half, so sub-questions are interleaved round-robin (decision
    019). A comparison ranks best as a whole; each aspect only has a quota among the first hits
    (decision 016).
    """
    plan = context.plan
    whole = replace(query, aspects=())
    part = replace(whole, boosts=(), in_context="")

    async def rank_part(text: str) -> RankedList:
        row = None
        if plan.mode != "keyword":
            row = await encode_query(text, embedder=context.parts.embedder, trace=context.trace)
        return await rank(context, replace(part, standalone=text), row)

    found = await asyncio.gather(*map(rank_part, questions), rank(context, whole, encoded))
    *parts, together = (each.pool for each in found)
    if query.aspects:
        within = min(plan.final_k, ASPECT_RANKS)
        pool = apply_quota(together, aspects=parts, within=within)[: plan.rerank_pool]
    else:
        pool = round_robin([*parts, together], limit=plan.rerank_pool)
    fused: dict[str, Candidate] = {}
    for candidate in (each for ranked in reversed(found) for each in ranked.fused):
        fused.setdefault(candidate.chunk_id, candidate)
    return replace(
        found[-1],
        fused=tuple(fused.values()),
        pool=tuple(pool),
        chunks={key: chunk for each in found for key, chunk in each.chunks.items()},
        vectors={key: row for each in found for key, row in each.vectors.items()},
    )


def _query_variants(query: Query, plan: Plan) -> tuple[Variant, ...]:
    """Return the query, its variants within guessed places, and one with conversation terms.

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
    wordings = (Variant(query.standalone), *guesses)
    if not query.in_context or plan.mode == "keyword":
        return wordings
    return (*wordings, Variant(query.in_context, weight=CONTEXT_WEIGHT, name="conversation"))


async def _expand(context: SearchContext, query: Query) -> tuple[Variant, ...]:
    """Return other wordings, as far as the plan wants them and time permits."""
    parts, plan, trace = context.parts, context.plan, context.trace
    if parts.generator is not None and (plan.expansion == "generated" or plan.hyde):
        wordings = generated_variants(
            query, generator=parts.generator, hyde=plan.hyde, languages=context.outline.languages
        )
        found = await trace.attempt(
            "expand",
            wordings,
            otherwise=(),
            fallback="the question alone",
            limit_ms=plan.expansion_ms,
        )
        return found[1:]
    if plan.expansion == "none":
        return ()
    with trace.stage("expand"):
        names = capitalised_terms(query)
        related = await asyncio.to_thread(
            parts.catalogue.related, context.collection, names, limit=MAX_RELATED
        )
        return local_variants(query, related=related)[1:]


async def _stored_vectors(
    context: SearchContext, ranking: Sequence[Candidate]
) -> Mapping[str, Matrix]:
    """Return the stored vectors that later stages compare; empty if unavailable."""
    plan = context.plan
    smooths = plan.mode == "hybrid" and plan.smoothing > 0
    if not smooths and plan.mmr_lambda >= 1 and plan.duplicate_cosine >= 1:
        return {}
    ids = [candidate.chunk_id for candidate in ranking]
    empty: Mapping[str, Matrix] = {}
    return await context.trace.attempt(
        "vectors", context.index.vectors(ids), otherwise=empty, fallback="fused order"
    )


def _calibrate(
    context: SearchContext, legs: RetrieverResults, ranking: list[Candidate]
) -> list[Candidate]:
    """Map scores to probabilities where a calibration applies, and drop improbable hits."""
    tuning = context.tuning
    yardstick = ScoreBaseline.of(
        keyword=legs.keyword,
        semantic=legs.semantic,
        covered=legs.coverage,
        read=reranker_scores(ranking, reranker=context.parts.reranker),
    )
    if tuning is None or tuning.relevance is None or yardstick is None:
        return ranking
    found = apply_calibration(ranking, calibration=tuning.relevance, yardstick=yardstick)
    return [each for each in found if each.score >= context.plan.min_probability]
