"""The path of a question, top to bottom: understand → expand → search → fuse → rerank →
calibrate → diversify → neighbours → context → generate → cite → Answer.

`Engine` orders the stages and owns nothing but its parts. `stream` is the only implementation;
`answer` drains it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from quoth import upkeep
from quoth.add import Given, add_documents
from quoth.answering.cite import cite_statements
from quoth.answering.context import build_context, estimate_tokens
from quoth.answering.extractive import (
    Statement,
    choose_statements,
    shortlist,
    write_answer,
)
from quoth.answering.placed import CERTAIN, placed_statements
from quoth.answering.quality import Evidence, judge, notice, notices, weigh_evidence
from quoth.answering.score import Scores, cosines_to
from quoth.catalogue.rows import Collection, now
from quoth.codec import dump, to_json
from quoth.commit import Advance
from quoth.events import Cited, Done, Event, Found, Progress, Token, Used
from quoth.parts import Parts, identity_of, require_same_identity
from quoth.plan import make_plan
from quoth.protocols import Matrix, Reranker
from quoth.retrieval.calibrate import answer_probability, question_signals, read_scores, tuning_for
from quoth.retrieval.prune import prune
from quoth.retrieve import Request, Retrieved, retrieve
from quoth.subject import PLACED, only_asks_for_a_place, without_place
from quoth.trace import Trace
from quoth.types import (
    Answer,
    AnswerStatus,
    Counts,
    Document,
    Hit,
    Passage,
)

T = TypeVar("T")

IN_FLIGHT = 16
"""Questions of a batch that are under way at once; they share batches of the embedder."""
CLOSEST = 3
"""Passages shown, uncited, when the collection has no answer."""


class Engine:
    """Answers questions from the documents of one home folder."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    # --- documents ----------------------------------------------------------------------------

    async def add(
        self, sources: Sequence[Path], *, given: Given | None = None, collection: str | None = None
    ) -> AsyncGenerator[Document | Advance, None]:
        """Add files and folders; yields progress, and every document once its fate is known."""
        catalogue = self.parts.catalogue
        name = collection or self.parts.settings.collection
        identity = identity_of(self.parts.embedder)
        found = await asyncio.to_thread(catalogue.make_collection, name, identity=identity)
        require_same_identity(found, self.parts.embedder)
        for key in await upkeep.reconcile(self.parts, found):
            async for at, of in upkeep.copy(self.parts, found.table, document_id=key):
                yield Advance(key, 0, 0, at, of)
        about = (given or Given()).cleaned()
        steps = add_documents(self.parts, found, sources=sources, given=about)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def settle(
        self, say: Callable[[str], None] = lambda _line: None, *, collection: str | None = None
    ) -> bool:
        """Build the vector index if the collection has grown to need one; True if it was built."""
        found = await self._collection(collection)
        index = self.parts.open_index(found.table)
        if not await index.needs_build():
            return False
        say("Preparing the index for quick searches.")
        return await index.build()

    async def documents(self, *, collection: str | None = None) -> list[Document]:
        """List documents: ready ones, then those that failed or are under way.

        Raises NotFound for a collection that was never made, unless the library is new.
        """
        found = await self._find(collection)
        if found is None and not await asyncio.to_thread(self.parts.catalogue.collections):
            return []
        found = found or await self._collection(collection)
        return await asyncio.to_thread(self.parts.catalogue.documents, found)

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

    async def search(self, request: Request | str) -> tuple[Hit, ...]:
        """Rank passages for a question, best first."""
        found = await self.retrieve(request, trace=self._trace(_request(request)))
        return found.hits

    async def answer(self, request: Request | str) -> Answer:
        """Answer a question: the last event of `stream`."""
        answers = [each.answer async for each in self.stream(request) if isinstance(each, Done)]
        return answers[-1]

    async def search_all(self, requests: Sequence[Request | str]) -> list[tuple[Hit, ...]]:
        """Rank passages for many questions at once; one list for each, in their order."""
        return await in_flight(self.search, requests)

    async def answer_all(self, requests: Sequence[Request | str]) -> list[Answer]:
        """Answer many questions at once, in their order."""
        return await in_flight(self.answer, requests)

    async def retrieve(self, request: Request | str, *, trace: Trace) -> Retrieved:
        """The first half of the path: from the question to numbered passages."""
        return await retrieve(self.parts, _request(request), trace=trace)

    async def stream(self, request: Request | str) -> AsyncIterator[Event]:
        """Answer a question; the events come as the stages are done, `Done` last.

        Raises InputError, NotFound, IndexMismatch and RetrievalError.
        """
        request = _request(request)
        trace = self._trace(request)
        yield Progress("retrieve")
        found = await self.retrieve(request, trace=trace)
        yield Found(found.hits)
        yield Progress("answer")
        answer = await self._answer(found, trace=trace)
        starts = [each.start for each in answer.sentences[1:]]
        for start, end in zip([0, *starts], [*starts, len(answer.text)], strict=True):
            yield Token(answer.text[start:end])
        for citation in answer.citations:
            yield Cited(citation)
        yield Used(answer.usage)
        # The answer is there: that it cannot be kept does not take it away.
        after = Trace()
        await after.attempt(
            "record",
            lambda: asyncio.to_thread(self._record, found, answer),
            otherwise=lambda: None,
            fallback="no history",
        )
        yield Done(replace(answer, degraded=(*answer.degraded, *after.degraded)))

    async def _answer(self, found: Retrieved, *, trace: Trace) -> Answer:
        """Context → quote → cite."""
        with trace.stage("context"):
            context = build_context(
                found.passages,
                max_tokens=found.plan.max_context_tokens,
                count_tokens=estimate_tokens,
                order=found.plan.context_order,
                kept=prune(found.passages, query=found.query) if found.plan.prune else None,
            )
        statements, status, said = await self._quote(found, context.passages, trace=trace)
        with trace.stage("cite"):
            text, sentences = write_answer(statements)
            citations = cite_statements(
                statements, context.passages, retrieval_method=found.plan.mode, created_at=now()
            )
        if not statements:
            status, text = "no_results", notice("no_results", language=found.query.language)
        return Answer(
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
                retrieved=sum(len(each.fused) for each in found.ranked),
                in_context=sum(len(each.chunks) for each in context.passages),
                cited=len({each.chunk_id for each in citations}),
            ),
            used_chunks=tuple(c.chunk_id for each in context.passages for c in each.chunks),
            timings_ms=trace.timings_ms(),
            profile=found.plan.profile,
            index_version=" ".join(each.collection.index_version for each in found.ranked),
        )

    async def _quote(
        self, found: Retrieved, passages: Sequence[Passage], *, trace: Trace
    ) -> tuple[tuple[Statement, ...], AnswerStatus, tuple[str, ...]]:
        """Look up → judge → choose: the sentences of the answer, its status, and why."""
        plan, subject = found.plan, without_place(found.query)
        placed = any(each.field in PLACED for each in plan.filters)
        with trace.stage("judge"):
            listed = shortlist(subject, passages, filters=plan.filters)
            evidence = weigh_evidence(subject, listed, cosines=found.cosines)
        statements = placed_statements(
            found.query,
            passages,
            listed,
            leaves=found.leaves,
            looked_up=found.looked_up,
            plan=plan,
        )
        chance, least = _chance(found, evidence, reranker=self.parts.reranker, trace=trace)
        if statements:
            evidence, chance = CERTAIN, None
        elif not placed and found.query.notes and only_asks_for_a_place(found.query):
            return (), "no_results", ()  # the place is not there, as a note says
        elif judge(evidence, probability=chance, answer_from=least) != "no_results":
            cosines = await trace.attempt(
                "quote",
                lambda: self._likeness(found.vector, listed.texts),
                otherwise=lambda: None,
                fallback="words alone",
            )
            statements = choose_statements(
                listed, max_sentences=plan.max_sentences, cosines=cosines
            )
        # Judged at the end, since the last steps may have had to do without a part, too.
        status = judge(
            evidence, probability=chance, answer_from=least, degraded=bool(trace.degraded)
        )
        said = notices(status, evidence, language=found.query.language) if statements else ()
        return statements, status, said

    async def _likeness(self, vector: Matrix | None, texts: Sequence[str]) -> Scores | None:
        if vector is None or not texts:
            return None
        return cosines_to(vector, await self.parts.embedder.embed(texts, role="document"))

    def _trace(self, request: Request) -> Trace:
        plan = make_plan(self.parts.settings.profile, "factual", overrides=request.choices)
        return Trace(deadline_ms=plan.deadline_ms)

    def _record(self, found: Retrieved, answer: Answer) -> None:
        self.parts.catalogue.record(
            query_id=answer.query_id,
            collection=", ".join(each.collection.name for each in found.ranked),
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


def _request(request: Request | str) -> Request:
    return Request(request) if isinstance(request, str) else request


async def in_flight(
    ask: Callable[[Request | str], Awaitable[T]], requests: Sequence[Request | str]
) -> list[T]:
    """Ask all of them, `IN_FLIGHT` at a time; the first failure ends the rest."""
    room = asyncio.Semaphore(IN_FLIGHT)

    async def one(request: Request | str) -> T:
        async with room:
            return await ask(request)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(each)) for each in requests]
    return [task.result() for task in tasks]


def _chance(
    found: Retrieved, evidence: Evidence, *, reranker: Reranker | None, trace: Trace
) -> tuple[float | None, float | None]:
    """Give the probability that the collection answers, and the one from which it does."""
    failed = any(each.startswith(("embed:", "semantic:", "keyword:")) for each in trace.degraded)
    if failed or len(found.ranked) != 1:
        return None, None
    collection, legs = found.ranked[0].collection, found.ranked[0].legs
    tuned = tuning_for(collection.identity, mode=found.plan.mode, tuned=collection.tuning)
    signals = question_signals(
        keyword=legs.keyword,
        semantic=legs.semantic,
        coverage=evidence.coverage,
        terms=evidence.terms,
        gap=evidence.gap,
        foreign=evidence.foreign,
        read=read_scores(found.ranked[0].pool, reranker=reranker),
    )
    return answer_probability(tuned, signals), None if tuned is None else tuned.answer_from
