"""How passages are found in one collection, by the kind of question.

`rank` is the way of most questions: expand → search → fuse → rerank → calibrate → diversify. The
others end in the same `Ranked`: what was asked for by its place is looked up, a summary covers
its document, and a question made of several ranks for each of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from quoth.core.concurrency import run_in_thread
from quoth.core.errors import Busy, IndexCorrupt
from quoth.core.outline import CollectionOutline, SummarySentence
from quoth.core.plan import Plan
from quoth.core.protocols import Index, Matrix
from quoth.core.trace import Trace
from quoth.core.types import Candidate, Query, Variant
from quoth.pipeline.components import Components
from quoth.query.decompose import aspect_questions, parts_of
from quoth.query.expand import MOST_RELATED, generated_variants, local_variants
from quoth.query.keywords import capitalised_terms
from quoth.query.subject import PLACED, kind_of_source, only_asks_for_a_place
from quoth.retrieval.aspect_quota import apply_quota
from quoth.retrieval.calibration import (
    ScoreBaseline,
    calibrated,
    reranker_scores,
    tuning_for,
)
from quoth.retrieval.diversity import maximal_marginal_relevance, round_robin
from quoth.retrieval.rerank import rerank
from quoth.retrieval.score_regularization import DEPTH, smooth_scores
from quoth.retrieval.search import RetrieverResults, merge, search
from quoth.retrieval.summary_lookup import coverage_sample, named_parts
from quoth.store.rows import Collection

Ranking = list[Candidate]

BOOST = 0.2
"""Say of what a guessed filter finds, beside the question's own 1."""
IN_CONTEXT = 0.3
"""The same of what the question finds with words of the conversation (decision 037)."""
SHARED = 8
"""First places among which every aspect of a comparison has one."""
NO_LEGS = RetrieverResults([], [], vector=None, coverage=0.0)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One collection as a question finds it."""

    parts: Components
    collection: Collection
    shelf: CollectionOutline
    trace: Trace

    @property
    def index(self) -> Index:
        """The index that serves the collection."""
        return self.parts.open_index(self.collection.table)


@dataclass(frozen=True, slots=True)
class RankedList:
    """Every candidate after fusion, and the pool of them that goes on, in its final order.

    ``vectors`` are those stored of the first candidates. ``whole`` says that the pool is what was
    asked for, so that nothing of it is to be cut or widened; ``leaves`` are the sentences of a
    summary.
    """

    collection: Collection
    legs: RetrieverResults
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    whole: bool = False
    leaves: tuple[SummarySentence, ...] = ()


async def retrieve_parts(scope: SearchContext, query: Query, plan: Plan) -> RankedList:
    """Find passages as the plan's strategy says."""
    placed = any(each.field in PLACED for each in plan.filters)
    if (placed or plan.strategy == "cover") and only_asks_for_a_place(query):
        return await sample_coverage(scope, query, plan)
    if plan.strategy == "look_up":
        return await structural_lookup(scope, query, plan)
    questions = aspect_questions(query) if plan.strategy == "aspects" else parts_of(query)
    if len(questions) > 1:
        return await multi_query_round_robin(scope, query, plan, questions)
    return await rank(scope, query, plan)


async def rank(scope: SearchContext, query: Query, plan: Plan) -> RankedList:
    """Expand → search → fuse → rerank → calibrate → diversify."""
    trace = scope.trace
    variants = (*_query_variants(query, plan), *await _expanded(scope, query, plan))
    found = await search(
        variants,
        plan,
        embedder=scope.parts.embedder,
        index=scope.index,
        chunks_of=scope.parts.catalogue.chunk_texts,
        languages=scope.shelf.languages,
        trace=trace,
    )
    await _verify_index_complete(scope)
    with trace.stage("fuse"):
        fused = merge(variants, found, plan)
    vectors = await _vectors(scope, plan, fused[: max(DEPTH, plan.rerank_pool)])
    if plan.mode == "hybrid":
        with trace.stage("smooth"):
            fused = smooth_scores(fused, vectors=vectors, weight=plan.smoothing)
    pool = await _reranked(scope, query, plan, fused[: plan.rerank_pool])
    with trace.stage("calibrate"):
        pool = _calibrate(scope, found[0], plan, pool)
    with trace.stage("diversify"):
        pool = maximal_marginal_relevance(
            pool, vectors=vectors, mmr_lambda=plan.mmr_lambda, limit=len(pool)
        )
    return RankedList(scope.collection, found[0], tuple(fused), tuple(pool), vectors)


async def _verify_index_complete(scope: SearchContext) -> None:
    """Note an index that lacks documents, as one does that was not restored with its catalogue.

    It is looked at until it was whole once: what is written later is in the index first. Raises
    IndexCorrupt where all of them are lacking, since finding nothing would look like an answer.
    """
    parts, collection = scope.parts, scope.collection
    if collection.table in parts.verified_tables:
        return
    wanted = await asyncio.to_thread(parts.catalogue.passages, collection)
    there = await scope.index.count()
    if there >= wanted:
        parts.verified_tables.add(collection.table)
    elif there:
        without = f"without {wanted - there:,} passages"
        scope.trace.note("index", reason="incomplete", fallback=without, failed=True)
    else:
        now = await asyncio.to_thread(parts.catalogue.find_collection, collection.name)
        if now is None or now.table != collection.table:
            raise Busy("The index has just been replaced. Ask again.", retry_after_s=1)
        raise IndexCorrupt(
            f"The index of the collection '{collection.name}' is empty, though its documents are "
            f"there. Build it with: quoth --collection {collection.name} reindex"
        )


async def structural_lookup(scope: SearchContext, query: Query, plan: Plan) -> RankedList:
    """Give what stands at the place that was asked for, in its order; rank it if it is much."""
    if not any(each.field in PLACED for each in plan.filters):
        return await rank(scope, query, plan)
    chunks = await asyncio.to_thread(
        scope.parts.catalogue.look_up,
        scope.collection,
        filters=plan.filters,
        limit=plan.rerank_pool + 1,
    )
    if len(chunks) > plan.rerank_pool:
        return await rank(scope, query, plan)
    # Of the editions of one book the asker can read one.
    readable = [each for each in chunks if each.language == query.language] or chunks
    pool = tuple(Candidate(each.chunk_id, 1.0, "place") for each in readable)
    return RankedList(scope.collection, NO_LEGS, pool, pool, whole=True)


async def sample_coverage(scope: SearchContext, query: Query, plan: Plan) -> RankedList:
    """Give the summary of what was named; rank where nothing was, or nothing has a summary."""
    wanted = named_parts(
        scope.shelf, plan.filters, language=query.language, kind=kind_of_source(query)
    )
    if not wanted:
        return await structural_lookup(scope, query, plan)
    summaries = await asyncio.to_thread(
        scope.parts.catalogue.summaries, scope.collection, [each.document_id for each in wanted]
    )
    leaves = coverage_sample(summaries, wanted, most=plan.max_sentences)
    if not leaves:
        return await structural_lookup(scope, query, plan)
    ids = dict.fromkeys(leaf.chunk_id for leaf in leaves)
    pool = tuple(Candidate(each, 1.0, "place") for each in ids)
    return RankedList(scope.collection, NO_LEGS, pool, pool, whole=True, leaves=leaves)


async def multi_query_round_robin(
    scope: SearchContext, query: Query, plan: Plan, questions: Sequence[str]
) -> RankedList:
    """Rank for each question that the question is made of, and for the whole.

    One joined question hides the weaker half of itself, so its parts take turns (decision 019).
    A comparison knows best as a whole what belongs to it; each aspect only has a place among the
    first (decision 016).
    """
    whole = replace(query, aspects=())
    part = replace(whole, boosts=(), in_context="")
    asked = [*(replace(part, standalone=each) for each in questions), whole]
    found = await asyncio.gather(*(rank(scope, each, plan) for each in asked))
    *parts, together = (each.pool for each in found)
    if query.aspects:
        within = min(plan.final_k, SHARED)
        shared = apply_quota(together, aspects=parts, within=within)
        pool = shared[: plan.rerank_pool]
    else:
        pool = round_robin([*parts, together], limit=plan.rerank_pool)
    fused: dict[str, Candidate] = {}
    for each in (one for ranked in reversed(found) for one in ranked.fused):
        fused.setdefault(each.chunk_id, each)
    vectors = {key: row for each in found for key, row in each.vectors.items()}
    return replace(found[-1], fused=tuple(fused.values()), pool=tuple(pool), vectors=vectors)


def _query_variants(query: Query, plan: Plan) -> tuple[Variant, ...]:
    """The question, once more within each place that was guessed, and as part of what was said.

    The latter not by words alone: where the question has no hit of its own, nothing was found.
    """
    guesses = (
        Variant(query.standalone, weight=BOOST, name=f"{each.field} guessed", filters=(each,))
        for each in query.boosts
    )
    wordings = (Variant(query.standalone), *guesses)
    if not query.in_context or plan.mode == "keyword":
        return wordings
    return (*wordings, Variant(query.in_context, weight=IN_CONTEXT, name="conversation"))


async def _expanded(scope: SearchContext, query: Query, plan: Plan) -> tuple[Variant, ...]:
    """Give other wordings, as far as the plan wants them and they come in time."""
    generator = scope.parts.generator
    found: tuple[Variant, ...] = ()
    if generator is not None and (plan.expansion == "generated" or plan.hyde):
        found = await scope.trace.attempt(
            "expand",
            lambda: generated_variants(
                query, generator=generator, hyde=plan.hyde, languages=scope.shelf.languages
            ),
            otherwise=lambda: (),
            fallback="the question alone",
            limit_ms=plan.expansion_ms,
        )
    elif plan.expansion != "none":
        found = await run_in_thread(partial(_local, scope, query))
    return found[1:]


def _local(scope: SearchContext, query: Query) -> tuple[Variant, ...]:
    with scope.trace.stage("expand"):
        names = capitalised_terms(query)
        related = scope.parts.catalogue.related(scope.collection, names, limit=MOST_RELATED)
        return local_variants(query, related=related)


async def _vectors(scope: SearchContext, plan: Plan, ranking: Ranking) -> Mapping[str, Matrix]:
    """Give the stored vectors that later stages compare; without them no likeness is known."""
    smooths = plan.mode == "hybrid" and plan.smoothing > 0
    if not smooths and plan.mmr_lambda >= 1 and plan.duplicate_cosine >= 1:
        return {}
    ids = [each.chunk_id for each in ranking]
    return await scope.trace.attempt(
        "vectors", lambda: scope.index.vectors(ids), otherwise=dict, fallback="fused order"
    )


async def _reranked(scope: SearchContext, query: Query, plan: Plan, ranking: Ranking) -> Ranking:
    """Let the reranker, where there is one, reorder the pool."""
    reranker = scope.parts.reranker
    if reranker is None or not plan.rerank:
        return ranking
    ids = [each.chunk_id for each in ranking]
    chunks = await run_in_thread(partial(scope.parts.catalogue.chunk_texts, ids))
    return await scope.trace.attempt(
        "rerank",
        lambda: rerank(
            ranking, query=query, chunks=chunks, reranker=reranker, weight=plan.rerank_weight
        ),
        otherwise=lambda: ranking,
        fallback="fused order",
    )


def _calibrate(
    scope: SearchContext, legs: RetrieverResults, plan: Plan, ranking: Ranking
) -> Ranking:
    """Turn scores into probabilities where a calibration applies, and leave out the unlikely."""
    collection = scope.collection
    tuned = tuning_for(collection.identity, mode=plan.mode, tuned=collection.tuning)
    yardstick = ScoreBaseline.of(
        keyword=legs.keyword,
        semantic=legs.semantic,
        covered=legs.coverage,
        read=reranker_scores(ranking, reranker=scope.parts.reranker),
    )
    if tuned is None or tuned.relevance is None or yardstick is None:
        return ranking
    found = calibrated(ranking, calibration=tuned.relevance, yardstick=yardstick)
    return [each for each in found if each.score >= plan.min_probability]
