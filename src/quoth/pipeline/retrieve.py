"""The first half of the path: from a question to numbered passages.

understand → find (see `quoth.pipeline.strategies`) → fetch → neighbours
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from quoth.core.concurrency import run_in_thread
from quoth.core.errors import (
    IndexCorrupt,
    InputError,
    OutOfTime,
    RetrievalError,
)
from quoth.core.outline import CollectionOutline, SummarySentence
from quoth.core.plan import Plan, make_plan
from quoth.core.protocols import Matrix, Prefetches
from quoth.core.trace import Trace
from quoth.core.types import (
    Candidate,
    Chunk,
    Document,
    Filter,
    Hit,
    Passage,
    Query,
    Turn,
)
from quoth.pipeline.budget import within_budget
from quoth.pipeline.components import Components, require_same_identity
from quoth.pipeline.strategies import RankedList, SearchContext, retrieve_parts
from quoth.query.entity_index import EntityIndex
from quoth.query.filters.describe import describe_filters
from quoth.query.filters.parse import dropped, parse_filters
from quoth.query.intent_llm import classify
from quoth.query.subject import PLACED
from quoth.query.understand import (
    LONGEST,
    SHORTEST,
    understand,
    validate,
)
from quoth.retrieval.diversity import cap_per_document, collapse_duplicates
from quoth.retrieval.passages import hit_of, passages_of
from quoth.store.catalogue import Catalogue
from quoth.store.rows import ChunkContext, Collection

Choices = Mapping[str, Any]
"""Fields of `Plan` by name, as the caller wants them; None means "not given"."""

RELAXED: Mapping[str, str] = {
    "en": "Nothing was found at the place that the question names, so the search left it out.",
    "fr": "Rien n'a été trouvé à l'endroit que nomme la question\u202f; la recherche s'en est "
    "passée.",
}

NO_MATCH: Mapping[str, str] = {
    "en": "No passage passes the filters that were given. The list of documents shows all.",
    "fr": "Aucun passage ne satisfait les filtres donnés. La liste des documents les montre tous.",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A question with all that the asker says about it.

    ``filters`` are written KEY=VALUE; no collection means the one of the settings; ``history``
    are the turns so far, oldest first. ``checked`` false takes questions of any length.
    ``session`` names the conversation within which answers to alike questions may be shared.
    """

    question: str
    choices: Choices = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    checked: bool = True
    session: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the first half of the path found.

    ``ranked`` holds one ranking per collection that could be searched; `candidates` went through
    the whole chain; ``copies`` names for each chunk that only repeats another one the one kept.
    """

    query: Query
    plan: Plan
    ranked: tuple[RankedList, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)

    @property
    def cosines(self) -> list[float]:
        """The scores of the semantic leg, in every collection."""
        return [score for each in self.ranked for _key, score in each.legs.semantic]

    @property
    def vector(self) -> Matrix | None:
        """The question's vector, None where it was not made."""
        return self.ranked[0].legs.vector

    @property
    def from_summaries(self) -> bool:
        """Whether the passages are all that stands at the place that was asked for."""
        return bool(self.ranked) and all(each.whole for each in self.ranked)

    @property
    def summary_sentences(self) -> tuple[SummarySentence, ...]:
        """The sentences of a summary, if one was asked for."""
        return tuple(leaf for each in self.ranked for leaf in each.leaves)


Pool = list[tuple[Candidate, Collection]]
"""Ranked candidates with the collection that each comes from."""


class CollectionView(NamedTuple):
    """The collections that a question is put to, with what they hold, and the names in them."""

    shelves: Sequence[tuple[Collection, CollectionOutline]]
    names: EntityIndex


def open_view(parts: Components, request: Request) -> CollectionView:
    """Read what a question is put to; blocks for one look-up; raises NotFound."""
    wanted = tuple(dict.fromkeys(request.collections)) or (parts.settings.collection,)
    return CollectionView(*parts.shelves.read(wanted))


def prefetch_query_embedding(parts: Components, request: Request) -> None:
    """Let the embedder begin, which takes longest, while the question is being read.

    A question that may lean on others has no final wording yet. Where a vector turns out not to
    be needed, as for what is asked for by its place, it was made in vain.
    """
    question, embedder = request.question, parts.embedder
    plain = not request.history and SHORTEST <= len(question) <= LONGEST
    if plain and "mode" not in request.choices and isinstance(embedder, Prefetches):
        embedder.foresee(question)


async def retrieve(
    parts: Components, request: Request, *, library: CollectionView, trace: Trace
) -> Retrieved:
    """Find the passages for a question.

    Filters that were read out of the question, and leave nothing, are let go with a warning;
    those that were given stay.
    """
    with trace.stage("understand"):
        question = validate(request.question) if request.checked else request.question
    vector = await _embed_question(parts, question, request=request, trace=trace)
    with trace.stage("understand"):
        shelves, names = library
        for collection, _shelf in shelves:
            require_same_identity(collection, parts.embedder)
        scopes = [SearchContext(parts, *each, trace) for each in shelves]
        if not all(isinstance(each, Turn) for each in request.history):
            raise InputError("'history' is a sequence of quoth.Turn: a question and its answer.")
        given = (*parse_filters(request.filters), *(request.choices.get("filters") or ()))
        query = understand(
            question,
            names=names,
            vector=vector,
            history=request.history,
            drop=dropped(request.filters),
        )
    query = await _plan_for_kind(parts, query, names, request=request, trace=trace)
    search = partial(_search, scopes, request=request, given=given)
    plan, ranked = await search(query)
    said = describe_filters(query.filters, documents=names.documents, language=query.language)
    if query.filters and not any(each.fused for each in ranked):
        query = replace(query, filters=())
        plan, ranked = await search(query)
        said = (RELAXED.get(query.language, RELAXED["en"]),)
    if given and not any(each.fused for each in ranked):
        said = (NO_MATCH.get(query.language, NO_MATCH["en"]),)
    found = await _build_hits(parts, query, plan, ranked, trace=trace)
    return replace(found, warnings=(*said, *query.notes))


async def _embed_question(
    parts: Components, question: str, *, request: Request, trace: Trace
) -> Matrix | None:
    """Embed the question as it was asked; None in keyword mode and where the embedder failed."""
    plan = make_plan(parts.settings.profile, "factual", overrides=request.choices)
    if plan.mode == "keyword":
        return None
    remaining = trace.remaining_ms()
    rows = await trace.attempt(
        "embed",
        lambda: parts.embedder.embed([question], role="query"),
        otherwise=lambda: None,
        fallback="keyword",
        limit_ms=None if remaining is None else remaining / 2,  # the rest is for keyword search
    )
    return None if rows is None else rows[0]


async def _plan_for_kind(
    parts: Components, query: Query, names: EntityIndex, *, request: Request, trace: Trace
) -> Query:
    """Let the generator correct the reading, where the plan wants it and it is in time."""
    plan = make_plan(parts.settings.profile, query.kind, overrides=request.choices)
    generator = parts.generator
    if generator is None or not plan.classify:
        return query
    plan = within_budget(plan, generator=generator, trace=trace, pace=parts.latency_estimator)
    if not plan.classify:
        return query
    return await trace.attempt(
        "classify",
        lambda: classify(query, generator=generator, names=names),
        otherwise=lambda: query,
        fallback="rules",
        limit_ms=plan.expansion_ms,
    )


async def _search(
    scopes: Sequence[SearchContext], query: Query, *, request: Request, given: Sequence[Filter]
) -> tuple[Plan, list[RankedList]]:
    """Find in every collection; one of several that fails is left out and recorded."""
    filters = (*query.filters, *given)
    # What stands beside a place that was named was not asked for.
    placed = {"context_window": 0} if any(each.field in PLACED for each in filters) else {}
    chosen = {name: value for name, value in request.choices.items() if value is not None}
    overrides = {**placed, **chosen, "filters": filters}
    plans = [
        make_plan(
            scope.parts.settings.profile,
            query.kind,
            learned=load_calibration(scope.collection, query.language),
            overrides=overrides,
        )
        for scope in scopes
    ]
    plans = [
        within_budget(
            plan,
            generator=scope.parts.generator,
            trace=scope.trace,
            pace=scope.parts.latency_estimator,
        )
        for scope, plan in zip(scopes, plans, strict=True)
    ]
    if len(scopes) == 1:
        return plans[0], [await retrieve_parts(scopes[0], query, plans[0])]
    attempts = (
        scope.trace.attempt(
            f"collection {scope.collection.name}",
            partial(_found, scope, query, plan),
            otherwise=lambda: None,
            fallback="the other collections",
            timed=False,
        )
        for scope, plan in zip(scopes, plans, strict=True)
    )
    found = [each for each in await asyncio.gather(*attempts) if each is not None]
    if not found:
        if all(":deadline:" in each or OutOfTime.code in each for each in scopes[0].trace.failures):
            raise OutOfTime("No collection was searched in time. Allow more time (max_ms).")
        raise RetrievalError("None of the collections can be searched now. Look at: quoth doctor")
    return plans[0], found


async def _found(scope: SearchContext, query: Query, plan: Plan) -> RankedList | None:
    try:
        return await retrieve_parts(scope, query, plan)
    except IndexCorrupt as error:
        raise RetrievalError(str(error)) from error


def load_calibration(collection: Collection, language: str) -> Mapping[str, Any]:
    """The fields of the plan that the collection has learnt for questions in this language."""
    if collection.tuning is None:
        return {}
    weights = collection.tuning.dense_weight
    weight = weights.get(language, weights.get(""))
    return {} if weight is None else {"dense_weight": weight}


async def _build_hits(
    parts: Components, query: Query, plan: Plan, ranked: Sequence[RankedList], *, trace: Trace
) -> Retrieved:
    """Cap → fetch with neighbours: from chunk ids to texts, places and passages."""
    if all(each.whole for each in ranked):
        plan = replace(
            plan,
            context_window=0,
            max_per_document=None,
            duplicate_cosine=1.0,
            final_k=plan.rerank_pool,
        )
    with trace.stage("fetch"):
        vectors = {key: row for each in ranked for key, row in each.vectors.items()}
        pool = _interleave(ranked)
        final, around, copies = await run_in_thread(
            partial(_fetch, parts.catalogue, pool, plan, vectors=vectors)
        )
    with trace.stage("neighbours"):
        passages = passages_of(final, around=around, window=plan.context_window)
        hits = tuple(
            hit_of(each, rank=rank, around=around) for rank, each in enumerate(final, start=1)
        )
    return Retrieved(query, plan, tuple(ranked), tuple(final), hits, passages, copies=copies)


def _interleave(ranked: Sequence[RankedList]) -> Pool:
    """Make one pool of several collections': by probability where all have one, else by rank.

    Scores of different collections cannot be compared unless they are probabilities.
    """
    pools = [[(each, one.collection) for each in one.pool] for one in ranked]
    rounds = [pair for pairs in zip_longest(*pools) for pair in pairs if pair is not None]
    if all(each.score_kind == "probability" for each, _ in rounds):
        return sorted(rounds, key=lambda pair: -pair[0].score) if len(pools) > 1 else rounds
    return rounds


def _fetch(
    catalogue: Catalogue, pool: Pool, plan: Plan, *, vectors: Mapping[str, Matrix]
) -> tuple[list[Candidate], ChunkContext, dict[str, str]]:
    """Fetch the final candidates and the chunks around them, in one go where nothing is amiss.

    The third are the copies that were left out, each with the chunk that it repeats.
    """
    repeated: dict[str, str] = {}
    if plan.max_per_document is not None:
        owners = catalogue.owners([each.chunk_id for each, _ in pool])
        pool = [pair for pair in pool if pair[0].chunk_id in owners]
        kept = cap_per_document(
            [each for each, _ in pool],
            document_of=owners.__getitem__,
            most=plan.max_per_document,
        )
        ids = {each.chunk_id for each in kept}
        pool = [pair for pair in pool if pair[0].chunk_id in ids]
    final = pool[: plan.final_k]
    around = _neighbour_chunks(catalogue, final, window=plan.context_window)
    if not around.chunks.keys() >= {each.chunk_id for each, _ in final}:
        # Rows whose document is not committed, or is gone, lead nowhere: others take their place.
        owners = catalogue.owners([each.chunk_id for each, _ in pool])
        pool = [pair for pair in pool if pair[0].chunk_id in owners]
        final = pool[: plan.final_k]
        around = _neighbour_chunks(catalogue, final, window=plan.context_window)
    while copies := _copies(final, around, plan, vectors=vectors):
        # Another passage takes the place of each copy, and may be one itself.
        repeated |= copies
        pool = [pair for pair in pool if pair[0].chunk_id not in copies]
        final = pool[: plan.final_k]
        around = _neighbour_chunks(catalogue, final, window=plan.context_window)
    there = [each for each, _ in final if each.chunk_id in around.chunks]
    return there, around, repeated


def _copies(
    final: Pool, around: ChunkContext, plan: Plan, *, vectors: Mapping[str, Matrix]
) -> dict[str, str]:
    """Name those that only repeat a better passage, each with that passage."""
    collapsed = collapse_duplicates(
        [each for each, _ in final],
        cosine=plan.duplicate_cosine,
        vectors=vectors,
        texts={key: chunk.text for key, chunk in around.chunks.items()},
    )
    return {key: kept for kept, copies in collapsed.copies.items() for key in copies}


def _neighbour_chunks(catalogue: Catalogue, final: Pool, *, window: int) -> ChunkContext:
    """Fetch the chunks around the final candidates from the collection of each."""
    chunks: dict[str, Chunk] = {}
    documents: dict[str, Document] = {}
    for collection in {one.id: one for _, one in final}.values():
        ids = [each.chunk_id for each, one in final if one.id == collection.id]
        found = catalogue.chunk_contexts(collection, ids, window=window)
        chunks.update(found.chunks)
        documents.update(found.documents)
    return ChunkContext(chunks, documents)
