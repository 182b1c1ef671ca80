"""The first half of the path: from a request to numbered passages.

analyse → search every collection (`quoth.pipeline.search_collection`) → select → widen
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from quoth.core.errors import IndexCorrupt, InputError, OutOfTime, RetrievalError
from quoth.core.outline import Heading, SummarySentence
from quoth.core.plan import Plan, plan_for_kind
from quoth.core.protocols import EncodedQuery, Matrix
from quoth.core.trace import Trace
from quoth.core.translations import translate
from quoth.core.types import Candidate, Filter, FilterField, Hit, Passage, Query, Turn
from quoth.pipeline.budget import (
    MeteredEmbedder,
    UsageMeter,
    at_stage,
    meter_models,
    note_withheld,
    within_budget,
)
from quoth.pipeline.components import (
    CollectionView,
    Components,
    components_of,
    require_same_identity,
)
from quoth.pipeline.egress import apply_privacy_settings, moderate_question
from quoth.pipeline.rank import RankedList, SearchContext
from quoth.pipeline.search_collection import search_collection
from quoth.pipeline.selection import found_little, fuse_with, note_given, read_context, select_hits
from quoth.query.dialogue_act import SMALL_TALK, DialogueAct, read_act
from quoth.query.filters.parse import FilterReach, describe_filters, dropped_fields, parse_filters
from quoth.query.intent import MODEL
from quoth.query.keywords import names_place
from quoth.query.language_model import classify, reword
from quoth.query.spelling import describe_words, misspelled_words, replace_words
from quoth.query.understand import understand, validate
from quoth.retrieval.calibration import find_tuning
from quoth.retrieval.passages import build_hit, build_passages
from quoth.retrieval.search import embed_page_query, encode_query

CONTINUED = 2
"""Times as many passages are read for "show me more" as for the question before."""

Choices = Mapping[str, Any]
"""`Plan` fields by name, as given by the caller; None means "not given"."""


@dataclass(frozen=True, slots=True)
class Request:
    """A query with all its request parameters.

    ``filters`` are written KEY=VALUE; without collections the settings' default applies;
    ``history`` holds the turns so far, oldest first. ``checked`` False accepts queries of any
    length. ``session`` names the conversation that may share cached answers to paraphrases.
    ``model`` is one of the language models that a request may name, ``profile`` that of the plan.
    """

    question: str
    choices: Choices = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    checked: bool = True
    session: str = ""
    model: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request in progress: its components and what it has used so far.

    ``parts`` holds the language model only where the tenant's settings allow it; ``plan`` is the
    one before the kind of the query is known; ``encoded`` is the original query, None in keyword
    mode and where the embedder failed; ``small_talk`` is what a turn does that asks for nothing.
    """

    request: Request
    parts: Components
    plan: Plan
    view: CollectionView
    encoded: EncodedQuery | None
    trace: Trace
    meter: UsageMeter
    query_id: str
    small_talk: DialogueAct | None = None


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """An analysed query, with the plan of its kind and its vectors.

    ``encoded`` belongs to ``query.standalone``; ``explicit_filters`` holds the filters of the
    request, which the plan does not contain yet.
    """

    query: Query
    plan: Plan
    encoded: EncodedQuery | None
    explicit_filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Result of retrieval: the first half of the path.

    ``ranked`` holds one ranking per collection that could be searched. `select_passages` adds the
    rest: `candidates` passed the whole chain; ``copies`` maps each near-duplicate to the chunk kept
    instead.
    """

    query: Query
    plan: Plan
    encoded: EncodedQuery | None
    ranked: tuple[RankedList, ...]
    candidates: tuple[Candidate, ...] = ()
    hits: tuple[Hit, ...] = ()
    passages: tuple[Passage, ...] = ()
    warnings: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)

    @property
    def cosines(self) -> list[float]:
        """Return the cosines of vector search, over all collections."""
        return [score for ranked in self.ranked for _key, score in ranked.legs.semantic]

    @property
    def summary_sentences(self) -> tuple[SummarySentence, ...]:
        """Return the sentences of a summary, if one was requested."""
        return tuple(sentence for ranked in self.ranked for sentence in ranked.summary)

    @property
    def headings(self) -> tuple[Heading, ...]:
        """Return the headings of an outline, if one was requested and no collection lacks it."""
        if any(ranked.pool and not ranked.headings for ranked in self.ranked):
            return ()
        return tuple(heading for ranked in self.ranked for heading in ranked.headings)

    @property
    def sections(self) -> tuple[Heading, ...]:
        """Return the sections that a summary goes through, if one collection has the source."""
        found = [ranked.sections for ranked in self.ranked if ranked.summary or ranked.sections]
        return found[0] if len(found) == 1 else ()


async def open_request(
    parts: Components,
    request: Request,
    *,
    plan: Plan,
    trace: Trace,
    moderates: bool = False,
    writes: bool = False,
) -> RequestContext:
    """Load what a request needs: collections, tenant permissions and query vectors.

    ``moderates`` checks the question before any model receives it; ``writes`` means that an answer
    is wanted. Raises InputError, NotFound, IndexMismatch and Moderated.
    """
    question, meter = request.question, UsageMeter()
    act = read_act(question) if writes else None
    small_talk = act if act is not None and act.kind in SMALL_TALK else None
    if request.checked and small_talk is None:
        with trace.stage("understand"):
            validate(question)
    # Which embedder the index has, and whether the question may be sent, is known after that.
    allowed, view = await asyncio.to_thread(_read_tenant, parts, request, meter)
    if moderates:
        allowed = await moderate_question(allowed, question, history=request.history, trace=trace)
    encoded = None
    if plan.mode != "keyword" and small_talk is None:
        encoded = await encode_query(question, embedder=allowed.embedder, trace=trace)
    if allowed.generation_disabled_reason:
        note_withheld(plan, reason=allowed.generation_disabled_reason, trace=trace, writes=writes)
    query_id = f"q_{uuid4().hex[:12]}"
    return RequestContext(request, allowed, plan, view, encoded, trace, meter, query_id, small_talk)


def _read_tenant(
    parts: Components, request: Request, meter: UsageMeter
) -> tuple[Components, CollectionView]:
    """Return the permitted components with metered models, and the collections to search."""
    names = tuple(dict.fromkeys(request.collections)) or (parts.settings.collection,)
    view = parts.outlines.read(names)
    for collection, _outline in view.collections[:1]:
        parts = components_of(parts, collection)
    for collection, _outline in view.collections[1:]:
        require_same_identity(collection, parts.embedder, settings=parts.settings)
    parts = replace(parts, embedder=MeteredEmbedder(parts.embedder, meter))
    if request.model:
        parts = replace(parts, generator=parts.model_named(request.model))
    return meter_models(apply_privacy_settings(parts), meter), view


async def analyse(context: RequestContext) -> AnalysedQuery:
    """Analyse the query: language, intent, names, filters, standalone wording and plan."""
    request, parts, names, trace = context.request, context.parts, context.view.names, context.trace
    encoded = context.encoded
    with trace.stage("understand"):
        if not all(isinstance(turn, Turn) for turn in request.history):
            raise InputError("'history' is a sequence of quoth.Turn: a question and its answer.")
        given = context.plan.filters
        dropped: frozenset[FilterField] = frozenset()
        if request.filters:
            written = parse_filters(
                request.filters, documents=names.documents.values(), speakers=names.by_speaker
            )
            given = (*written, *given)
            dropped = dropped_fields(request.filters)
        query = understand(
            request.question,
            names=names,
            # The classifiers read the vectors of the model that they were trained with.
            vector=encoded.vector if encoded and parts.embedder.name.startswith(MODEL) else None,
            history=request.history,
            drop=dropped,
        )
    model, pace = parts.task_model, parts.latency_estimator
    limited = partial(within_budget, generator=parts.generator or model, trace=trace, pace=pace)
    if model is not None and context.plan.classify and limited(context.plan).classify:
        query = await trace.attempt(
            "classify",
            classify(query, generator=at_stage(model, "classify"), names=names),
            otherwise=query,
            fallback="rules",
            limit_ms=context.plan.expansion_ms,
        )
    if parts.transformer is not None:
        query = await trace.attempt(
            "transform",
            reword(query, transformer=parts.transformer, history=request.history),
            otherwise=query,
            fallback="query",
            limit_ms=parts.settings.transform_seconds * 1000,
        )
    plan = limited(plan_for_kind(context.plan, query.kind, overrides=request.choices))
    if query.continues:
        plan = replace(plan, final_k=min(plan.rerank_pool, CONTINUED * plan.final_k))
    if query.standalone != request.question and plan.mode != "keyword":
        encoded = await encode_query(query.standalone, embedder=parts.embedder, trace=trace)
    return AnalysedQuery(query, plan, encoded, given)


async def select_passages(context: RequestContext, found: Retrieved) -> Retrieved:
    """Choose the passages among the rankings of a search."""
    plan, trace = found.plan, context.trace
    with trace.stage("fetch"):
        final, copies = select_hits(found.ranked, plan)
        around = await asyncio.to_thread(
            read_context, context.parts.catalogue, final, found.ranked, window=plan.context_window
        )
    with trace.stage("neighbours"):
        candidates = tuple(each for each, _ in final if each.chunk_id in around.chunks)
        passages = build_passages(candidates, around=around, window=plan.context_window)
        hits = tuple(
            build_hit(candidate, rank=rank, around=around, filters=plan.filters)
            for rank, candidate in enumerate(candidates, start=1)
        )
    return replace(found, candidates=candidates, hits=hits, passages=passages, copies=copies)


async def search_passages(context: RequestContext, analysed: AnalysedQuery) -> Retrieved:
    """Return the query as it was searched, with its plan, the rankings and notices.

    Inferred filters without any match are dropped with a warning; where they leave little, both
    rankings are fused. Explicit ones stay. A query whose words no passage has is searched again
    with the nearest words of what was found.
    """
    query, given = analysed.query, analysed.explicit_filters
    page = None
    if (embedder := context.parts.page_embedder) is not None:
        page = await embed_page_query(
            query.standalone, analysed.plan, embedder=embedder, trace=context.trace
        )
    search = partial(_search_collections, context, page=page)
    plan, ranked = await search(analysed, (*query.filters, *given))
    corrections: tuple[str, ...] = ()
    better = misspelled_words(
        query.standalone,
        (chunk for ranking in ranked for chunk in ranking.chunks.values()),
        titles=(each.title for each in context.view.names.documents.values()),
        language=query.language,
    )
    if better:
        analysed = await _with_words(context, analysed, better)
        query = analysed.query
        plan, ranked = await search(analysed, (*query.filters, *given))
        corrections = (describe_words(better, language=query.language),)
    stated, reach = query.filters, FilterReach.kept
    if stated and not any(ranking.fused for ranking in ranked):
        query, reach = replace(query, filters=()), FilterReach.dropped
        plan, ranked = await search(replace(analysed, query=query), given)
    elif stated and found_little(query, ranked, documents=context.view.names.documents):
        reach = FilterReach.widened
        _, wide = await search(analysed, given)
        ranked = fuse_with(ranked, wide)
    known = context.view.names.documents
    notices = describe_filters(stated, documents=known, language=query.language, reach=reach)
    notices = note_given(given, ranked, stated=notices, documents=known, language=query.language)
    if all(ranking.whole for ranking in ranked):
        plan = replace(
            plan,
            context_window=0,
            max_per_document=None,
            duplicate_cosine=1.0,
            final_k=sum(len(ranking.pool) for ranking in ranked),
            # An outline is complete as it stands.
            generate=plan.generate and not any(ranking.headings for ranking in ranked),
        )
    if unlisted := sum(ranking.unlisted for ranking in ranked):
        notices += (translate("pipeline.unlisted", query.language, count=unlisted),)
    warnings = (*corrections, *notices, *query.notes)
    return Retrieved(query, plan, analysed.encoded, tuple(ranked), warnings=warnings)


async def _with_words(
    context: RequestContext, analysed: AnalysedQuery, better: Mapping[str, str]
) -> AnalysedQuery:
    """Return the query with some of its words replaced, and with the vectors of that."""
    standalone = replace_words(analysed.query.standalone, better)
    encoded, embedder = analysed.encoded, context.parts.embedder
    if encoded is not None:
        encoded = await encode_query(standalone, embedder=embedder, trace=context.trace)
    query = replace(analysed.query, standalone=standalone)
    return replace(analysed, query=query, encoded=encoded)


async def _search_collections(
    context: RequestContext,
    analysed: AnalysedQuery,
    filters: tuple[Filter, ...],
    *,
    page: Matrix | None,
) -> tuple[Plan, list[RankedList]]:
    """Search every collection; one of several that fails is skipped and recorded."""
    trace, query, encoded = context.trace, analysed.query, analysed.encoded
    plan = replace(analysed.plan, filters=filters)
    chosen = {name for name, value in context.request.choices.items() if value is not None}
    if names_place(filters) and "context_window" not in chosen:
        # Neighbours of a requested place were not requested.
        plan = replace(plan, context_window=0)
    searches = []
    for collection, outline in context.view.collections:
        # The weight of vector search that was calibrated on the collection.
        weights = {} if collection.tuning is None else collection.tuning.dense_weight
        weight = weights.get(query.language, weights.get(""))
        own = plan
        if weight is not None and "dense_weight" not in chosen:
            own = replace(plan, dense_weight=weight)
        searches.append(
            SearchContext(
                context.parts,
                collection,
                outline,
                index=context.parts.open_index(collection.table),
                tuning=find_tuning(collection.identity, mode=plan.mode, tuned=collection.tuning),
                plan=own,
                trace=trace,
                page=page,
            )
        )
    if len(searches) == 1:
        return searches[0].plan, [await search_collection(searches[0], query, encoded)]
    attempts = (_search_one_of_several(search, query, encoded) for search in searches)
    found = [ranked for ranked in await asyncio.gather(*attempts) if ranked is not None]
    if not found:
        if all(":deadline:" in failure or OutOfTime.code in failure for failure in trace.failures):
            raise OutOfTime("No collection was searched in time. Allow more time (max_ms).")
        raise RetrievalError("None of the collections can be searched now. Look at: quoth doctor")
    return searches[0].plan, found


async def _search_one_of_several(
    search: SearchContext, query: Query, encoded: EncodedQuery | None
) -> RankedList | None:
    async def searched() -> RankedList:
        try:
            return await search_collection(search, query, encoded)
        except IndexCorrupt as error:
            raise RetrievalError(str(error)) from error

    name = f"collection {search.collection.name}"
    fallback = "the other collections"
    return await search.trace.attempt(
        name, searched(), otherwise=None, fallback=fallback, timed=False
    )
