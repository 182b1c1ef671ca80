"""The path of a question, top to bottom: understand → search → fuse → rerank → diversify →
neighbours → context → generate → cite → Answer.

`Engine` orders the stages and owns nothing but its parts. `stream` is the only implementation;
`answer` drains it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from quoth import upkeep
from quoth.add import Advance, Given, add_documents
from quoth.answering.cite import cite_statements
from quoth.answering.context import build_context
from quoth.answering.extractive import (
    Statement,
    choose_statements,
    shortlist,
    write_answer,
)
from quoth.answering.quality import judge, notice, notices, weigh_evidence
from quoth.answering.score import Scores, cosines_to
from quoth.catalogue.rows import Collection
from quoth.catalogue.store import now
from quoth.codec import dump, to_json
from quoth.parts import Parts, identity_of, require_same_identity
from quoth.plan import Plan, make_plan
from quoth.protocols import Matrix
from quoth.retrieval.diversify import cap_per_document, maximal_marginal_relevance
from quoth.retrieval.filters import parse_filters
from quoth.retrieval.fuse import covered
from quoth.retrieval.passages import hit_of, passages_of
from quoth.retrieval.search import Legs, merge, search
from quoth.retrieval.understand import understand, validate
from quoth.trace import Trace
from quoth.types import (
    Answer,
    Candidate,
    Cited,
    Counts,
    Document,
    Done,
    Event,
    Found,
    Hit,
    Passage,
    Progress,
    Query,
    Token,
    Usage,
)

Choices = Mapping[str, Any]
CLOSEST = 3
"""Passages shown, uncited, when the collection has no answer."""
RELAXED = (
    "Nothing matched the place that the question names, so all of the collection was searched."
)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the first half of the path found.

    ``fused`` is every candidate after fusion, ``candidates`` the few that went through the whole
    chain; ``coverage`` is the share of the question's terms that the best keyword hit holds.
    """

    query: Query
    plan: Plan
    scope: Collection
    legs: Legs
    coverage: float
    fused: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()


def no_vectors() -> Mapping[str, Matrix]:
    """What diversity goes on with when the index cannot give vectors: no likeness is known."""
    return {}


class Engine:
    """Answers questions from the documents of one home folder."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    # --- documents ----------------------------------------------------------------------------

    async def add(
        self, sources: Sequence[Path], *, given: Given | None = None, collection: str | None = None
    ) -> AsyncIterator[Document | Advance]:
        """Add files and folders; yields progress, and every document once its fate is known."""
        catalogue = self.parts.catalogue
        name = collection or self.parts.settings.collection
        identity = identity_of(self.parts.embedder)
        found = await asyncio.to_thread(catalogue.make_collection, name, identity=identity)
        require_same_identity(found, self.parts.embedder)
        await upkeep.reconcile(self.parts, found)
        about = given or Given()
        async for step in add_documents(self.parts, found, sources=sources, given=about):
            yield step

    async def settle(
        self, say: Callable[[str], None] = lambda _line: None, *, collection: str | None = None
    ) -> bool:
        """Build the vector index if the collection has grown to need one; True if it was built."""
        found = await self._collection(collection)
        index = self.parts.open_index(found.table)
        if not await index.needs_build():
            return False
        say("Building the vector index; searches work meanwhile.")
        return await index.build()

    async def documents(self, *, collection: str | None = None) -> list[Document]:
        """List documents: ready ones, then those that failed or are under way."""
        found = await self._find(collection)
        return (
            [] if found is None else await asyncio.to_thread(self.parts.catalogue.documents, found)
        )

    async def remove(self, ids: Sequence[str], *, collection: str | None = None) -> list[str]:
        """Delete documents completely; gives the ids that were there."""
        return await upkeep.remove(self.parts, await self._collection(collection), ids=ids)

    async def reindex(self, *, collection: str | None = None) -> AsyncIterator[Advance]:
        """Build the index anew beside the one in use, then switch."""
        found = await self._collection(collection)
        async for step in upkeep.rebuild(self.parts, found):
            yield step

    async def health(self, *, collection: str | None = None) -> upkeep.Health:
        """Check set-up, catalogue and index."""
        return await upkeep.examine(self.parts, await self._find(collection))

    # --- questions ----------------------------------------------------------------------------

    async def search(
        self,
        question: str,
        *,
        choices: Choices | None = None,
        filters: Sequence[str] = (),
        collection: str | None = None,
    ) -> tuple[Hit, ...]:
        """Rank passages for a question, best first."""
        found = await self.retrieve(
            question, choices=choices, filters=filters, collection=collection, trace=Trace()
        )
        return found.hits

    async def answer(
        self,
        question: str,
        *,
        choices: Choices | None = None,
        filters: Sequence[str] = (),
        collection: str | None = None,
    ) -> Answer:
        """Answer a question: the last event of `stream`."""
        events = self.stream(question, choices=choices, filters=filters, collection=collection)
        async for event in events:
            if isinstance(event, Done):
                return event.answer
        raise AssertionError("a stream ends with Done or raises")

    async def retrieve(
        self,
        question: str,
        *,
        choices: Choices | None = None,
        filters: Sequence[str] = (),
        collection: str | None = None,
        checked: bool = True,
        trace: Trace,
    ) -> Retrieved:
        """The first half of the path: from the question to numbered passages.

        Filters that were read out of the question, and leave nothing, are let go with a warning;
        those that were given stay. ``checked`` false takes questions of any length.
        """
        parts = self.parts
        with trace.stage("understand"):
            scope = await self._collection(collection)
            require_same_identity(scope, parts.embedder)
            languages = await asyncio.to_thread(parts.catalogue.languages, scope)
            text = validate(question) if checked else question
            query = understand(text, languages=languages)
            given = parse_filters(filters)
        wanted = replace(query, filters=(*query.filters, *given))
        search_for = partial(
            self._search, scope, languages=languages, choices=choices or {}, trace=trace
        )
        found = await search_for(query=wanted)
        if found.candidates or not query.filters:
            return found
        found = await search_for(query=replace(query, filters=given))
        return replace(found, warnings=(RELAXED,))

    async def _search(
        self,
        scope: Collection,
        *,
        query: Query,
        languages: Sequence[str],
        choices: Choices,
        trace: Trace,
    ) -> Retrieved:
        parts = self.parts
        overrides = {**choices, "filters": (*query.filters, *choices.get("filters", ()))}
        plan = make_plan(parts.settings.profile, query.kind, overrides=overrides)
        index = parts.open_index(scope.table)
        legs = await search(
            query, plan, embedder=parts.embedder, index=index, languages=languages, trace=trace
        )
        with trace.stage("fuse"):
            best = legs.keyword[0][0] if legs.keyword else None
            tops = await asyncio.to_thread(parts.catalogue.chunks, [best] if best else [])
            coverage = covered(query.standalone, best=tops.get(best or ""))
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
        with trace.stage("fetch"):
            chunks = await asyncio.to_thread(
                parts.catalogue.chunks, [each.chunk_id for each in pool]
            )
            # A row whose document is not committed, or is gone, leads nowhere.
            pool = [each for each in pool if each.chunk_id in chunks]
            if plan.max_per_document is not None:
                owners = {key: chunk.document_id for key, chunk in chunks.items()}
                pool = cap_per_document(
                    pool, document_of=owners.__getitem__, most=plan.max_per_document
                )
            final = pool[: plan.final_k]
            ids = sorted({chunks[each.chunk_id].document_id for each in final})
            documents = await asyncio.to_thread(parts.catalogue.documents_by_id, scope, ids)
        with trace.stage("neighbours"):
            passages = await asyncio.to_thread(
                passages_of,
                final,
                chunks=chunks,
                documents=documents,
                catalogue=parts.catalogue,
                window=plan.context_window,
            )
        hits = tuple(
            hit_of(
                each,
                rank=rank,
                chunk=chunks[each.chunk_id],
                document=documents[chunks[each.chunk_id].document_id],
            )
            for rank, each in enumerate(final, start=1)
        )
        return Retrieved(
            query, plan, scope, legs, coverage, tuple(fused), tuple(final), hits, passages
        )

    async def stream(
        self,
        question: str,
        *,
        choices: Choices | None = None,
        filters: Sequence[str] = (),
        collection: str | None = None,
    ) -> AsyncIterator[Event]:
        """Answer a question; the events come as the stages are done, `Done` last.

        Raises InputError, NotFound, IndexMismatch and RetrievalError.
        """
        parts = self.parts
        trace = Trace(deadline_ms=(choices or {}).get("deadline_ms"))
        yield Progress("retrieve")
        found = await self.retrieve(
            question, choices=choices, filters=filters, collection=collection, trace=trace
        )
        yield Found(found.hits)
        with trace.stage("context"):
            context = build_context(
                found.passages,
                max_tokens=found.plan.max_context_tokens,
                count_tokens=parts.embedder.count_tokens,
                order=found.plan.context_order,
            )
        yield Progress("answer")
        listed = shortlist(found.query, context.passages)
        vector = found.legs.vector
        cosines = await trace.attempt(
            "generate",
            lambda: self._likeness(vector, listed.texts),
            otherwise=lambda: None,
            fallback="words alone",
        )
        with trace.stage("judge"):
            evidence = weigh_evidence(
                found.query, listed, cosines=[score for _key, score in found.legs.semantic]
            )
            status = judge(evidence, degraded=bool(trace.degraded))
            statements: tuple[Statement, ...] = ()
            if status != "no_results":
                statements = choose_statements(
                    listed, max_sentences=found.plan.max_sentences, cosines=cosines
                )
            status = status if statements else "no_results"
        with trace.stage("cite"):
            text, sentences = write_answer(statements)
            citations = cite_statements(
                statements,
                context.passages,
                retrieval_method=found.plan.mode,
                created_at=now(),
            )
        if not statements:
            text = notice("no_results", language=found.query.language)
        said = notices(status, evidence, language=found.query.language) if statements else ()
        starts = [each.start for each in sentences[1:]]
        for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
            yield Token(text[start:end])
        for citation in citations:
            yield Cited(citation)
        answer = Answer(
            query_id=f"q_{uuid4().hex[:12]}",
            query=found.query,
            text=text,
            sentences=sentences,
            citations=citations,
            closest=() if citations else found.hits[:CLOSEST],
            status=status,
            grounded=bool(citations),
            degraded=trace.degraded,
            warnings=(*found.warnings, *said),
            counts=Counts(
                retrieved=len(found.fused),
                reranked=0,
                in_context=sum(len(each.chunks) for each in context.passages),
                cited=len({each.chunk_id for each in citations}),
            ),
            used_chunks=tuple(chunk.chunk_id for each in context.passages for chunk in each.chunks),
            timings_ms=trace.timings_ms(),
            usage=Usage(),
            provider=None,
            model=None,
            profile=found.plan.profile,
            index_version=found.scope.index_version,
        )
        await asyncio.to_thread(self._record, found, answer)
        yield Done(answer)

    async def _likeness(self, vector: Matrix | None, texts: Sequence[str]) -> Scores | None:
        if vector is None or not texts:
            return None
        return cosines_to(vector, await self.parts.embedder.embed(texts, role="document"))

    def _record(self, found: Retrieved, answer: Answer) -> None:
        self.parts.catalogue.record(
            query_id=answer.query_id,
            collection=found.scope.name,
            text=answer.query.original,
            plan=dump(to_json(found.plan)),
            answer=dump(to_json(answer)),
            version=answer.index_version,
        )

    async def _collection(self, name: str | None) -> Collection:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.collection, wanted)

    async def _find(self, name: str | None) -> Collection | None:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.find_collection, wanted)
