"""The path of a question, top to bottom: understand → expand → search → fuse → rerank →
calibrate → diversify → neighbours (`retrieve`) → context → generate → verify → cite →
Answer (`quoth.pipeline.generate`).

`Engine` orders the stages and owns nothing but its parts. `stream` is the only implementation;
`answer` drains it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from quoth.answering.prompts import choose_prompt
from quoth.core.concurrency import run_in_thread
from quoth.core.errors import BackendError, StoreDown
from quoth.core.events import (
    AnswerCompleted,
    Event,
    HitsFound,
    StageStarted,
    UsageReported,
)
from quoth.core.plan import Plan, make_plan
from quoth.core.protocols import AsksModel
from quoth.core.trace import Trace
from quoth.core.types import (
    Answer,
    Document,
    Hit,
    Usage,
)
from quoth.pipeline import maintain as upkeep
from quoth.pipeline import suggest
from quoth.pipeline.add import DocumentMetadata, add_documents
from quoth.pipeline.answer_cache import CacheKey, key_of
from quoth.pipeline.budget import note_pace, note_withheld
from quoth.pipeline.commit import IngestProgress
from quoth.pipeline.components import (
    Components,
    embedding_fingerprint,
    model_names,
    require_same_identity,
)
from quoth.pipeline.egress import apply_privacy_settings, count_tokens
from quoth.pipeline.extract import new_query_id
from quoth.pipeline.generate import respond, stream_events
from quoth.pipeline.record import Record, record_of
from quoth.pipeline.record_codec import save_record
from quoth.pipeline.retrieve import (
    CollectionView,
    Request,
    Retrieved,
    open_view,
    prefetch_query_embedding,
    retrieve,
)
from quoth.pipeline.uploads import forget_documents
from quoth.pipeline.usage import UsageMeter
from quoth.store.rows import Collection

T = TypeVar("T")
log = logging.getLogger("quoth.engine")

LOOK_UP_MS = 250.0
"""The most that looking for an answer to the same question in other words may take."""
IN_FLIGHT = 16
"""Questions of a batch that are under way at once; they share batches of the embedder."""
HEAD_START = 4
"""Turns of the event loop in which the embedder's thread can begin before another is asked for."""


class Engine:
    """Answers questions from the documents of one home folder."""

    def __init__(self, parts: Components) -> None:
        self.parts = parts

    # --- documents ----------------------------------------------------------------------------

    async def add(
        self,
        sources: Sequence[Path],
        *,
        given: DocumentMetadata | None = None,
        collection: str | None = None,
    ) -> AsyncGenerator[Document | IngestProgress, None]:
        """Add files and folders; yields progress, and every document once its fate is known."""
        catalogue = self.parts.catalogue
        name = collection or self.parts.settings.collection
        identity = embedding_fingerprint(self.parts.embedder)
        found = await asyncio.to_thread(catalogue.make_collection, name, identity=identity)
        require_same_identity(found, self.parts.embedder)
        for key in await upkeep.reconcile(self.parts, found):
            async for at, of in upkeep.copy(self.parts, found.table, document_id=key):
                yield IngestProgress(key, 0, 0, at, of)
        about = (given or DocumentMetadata()).cleaned()
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
        """Delete documents completely, their files that came in too; gives the ids found."""
        gone = await upkeep.remove(self.parts, await self._collection(collection), ids=ids)
        await asyncio.to_thread(forget_documents, self.parts, gone)
        return gone

    async def remove_collection(self, name: str) -> None:
        """Delete a collection with all that is in it, and the questions asked of it alone."""
        found = await self._collection(name)
        gone = await upkeep.delete_collection(self.parts, found)
        await asyncio.to_thread(forget_documents, self.parts, gone)

    async def reindex(self, *, collection: str | None = None) -> AsyncIterator[IngestProgress]:
        """Build the index anew beside the one in use, then switch."""
        found = await self._collection(collection)
        async for step in upkeep.rebuild(self.parts, found):
            yield step

    async def health(self, *, collection: str | None = None) -> upkeep.Health:
        """Check set-up, catalogue and index."""
        return await upkeep.health_check(self.parts, await self._find(collection))

    # --- questions ----------------------------------------------------------------------------

    async def search(self, request: Request | str) -> tuple[Hit, ...]:
        """Rank passages for a question, best first."""
        found = await self.retrieve(request, trace=self._trace(self._request(request)))
        return found.hits

    async def answer(
        self, request: Request | str, *, keep: Callable[[Record], None] | None = None
    ) -> Answer:
        """Answer a question: the last event of `stream`."""
        async with aclosing(self.stream(request, keep=keep)) as events:
            answers = [each.answer async for each in events if isinstance(each, AnswerCompleted)]
        return answers[-1]

    async def answer_all(self, requests: Sequence[Request | str]) -> list[Answer]:
        """Answer many questions at once, in their order."""
        return await in_flight(self.answer, requests)

    async def suggest(
        self, after: Answer | str = "", *, collection: str | None = None
    ) -> tuple[str, ...]:
        """Suggest questions: what to ask after an answer, or how to end what was typed so far."""
        name = collection or self.parts.settings.collection
        if isinstance(after, Answer):
            return await suggest.follow_up(self.parts, after, collection=name)
        return await suggest.complete(self.parts, after, collection=name)

    async def retrieve(self, request: Request | str, *, trace: Trace) -> Retrieved:
        """The first half of the path: from the question to numbered passages."""
        asked, ledger = self._request(request), UsageMeter()
        obeying, library = await self._open_request(asked)
        obeying._warn_generation_disabled(asked, trace=trace, writes=False)
        asking = obeying._metered(ledger, stage="question")
        try:
            found = await retrieve(asking, asked, library=library, trace=trace)
        finally:
            await obeying._count_answer(ledger)
        self.parts.observe(trace, None)
        return found

    async def stream(
        self, request: Request | str, *, keep: Callable[[Record], None] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a question; the events come as the stages are done, `Done` last.

        How it came about is kept in the history, or given to ``keep`` in place of that. Closing
        the stream ends the call to a language model. Raises InputError, NotFound,
        IndexMismatch and RetrievalError.
        """
        asked, ledger = self._request(request), UsageMeter()
        trace = self._trace(asked)
        obeying, library = await self._open_request(asked)
        events = obeying._stream(asked, library=library, ledger=ledger, trace=trace, keep=keep)
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            # Also when nobody waits for the answer any more.
            await obeying._count_answer(ledger)

    async def _open_request(self, request: Request) -> tuple[Engine, CollectionView]:
        """Read what the tenant has decided and what the collections hold, in one turn."""

        def begin() -> tuple[Engine, CollectionView]:
            return Engine(apply_privacy_settings(self.parts)), open_view(self.parts, request)

        prefetch_query_embedding(self.parts, request)
        for _ in range(HEAD_START):
            await asyncio.sleep(0)
        return await run_in_thread(begin)

    async def _stream(
        self,
        request: Request,
        *,
        library: CollectionView,
        ledger: UsageMeter,
        trace: Trace,
        keep: Callable[[Record], None] | None,
    ) -> AsyncGenerator[Event, None]:
        self._warn_generation_disabled(request, trace=trace, writes=True)
        key = self._key(request, library)
        known = await self._cached_answer(key, request, trace=trace)
        if known is not None:
            for event in stream_events(known):
                yield event
            yield AnswerCompleted(
                await self._record_query(request, None, known, trace=trace, keep=keep)
            )
            return
        yield StageStarted("retrieve")
        asking = self._metered(ledger, stage="question")
        found = await retrieve(asking, request, library=library, trace=trace)
        yield HitsFound(found.hits)
        writing = self._metered(ledger, stage="generate")
        async with aclosing(respond(writing, found, request=request, trace=trace)) as events:
            async for event in events:
                if isinstance(event, UsageReported):
                    event = UsageReported(ledger.total)
                elif isinstance(event, AnswerCompleted):
                    answer = replace(event.answer, usage=ledger.total)
                    note_pace(self.parts.latency_estimator, answer.timings_ms)
                    self.parts.cache.keep(key, request.question, answer=answer, vector=found.vector)
                    event = AnswerCompleted(
                        await self._record_query(request, found, answer, trace=trace, keep=keep)
                    )
                yield event

    async def _count_answer(self, ledger: UsageMeter) -> None:
        """Count what models used for the tenant; that it cannot be counted costs no answer."""
        tokens = ledger.tokens

        def work() -> None:
            try:
                count_tokens(self.parts, tokens)
            except (BackendError, StoreDown) as error:
                log.warning("tokens_not_counted", extra={"code": error.code})

        if tokens:
            # Who hangs up would else call off the counting before a thread has begun it.
            await asyncio.shield(asyncio.to_thread(work))

    def _warn_generation_disabled(self, request: Request, *, trace: Trace, writes: bool) -> None:
        if self.parts.generation_disabled_reason:
            plan = self._plan(request)
            note_withheld(
                plan, reason=self.parts.generation_disabled_reason, trace=trace, writes=writes
            )

    def _metered(self, ledger: UsageMeter, *, stage: str) -> Components:
        """The parts, with a generator whose use is noted, also where it is a judge."""
        generator, judge = self.parts.generator, self.parts.judge
        if generator is None:
            return self.parts
        if isinstance(judge, AsksModel):
            judge = judge.asking(ledger.wrap_generator(generator, stage="verify"))
        return replace(
            self.parts, generator=ledger.wrap_generator(generator, stage=stage), judge=judge
        )

    def _request(self, request: Request | str) -> Request:
        """The request with what the settings choose where the asker does not."""
        asked = Request(request) if isinstance(request, str) else request
        own = self.parts.settings.plan
        given = {name: value for name, value in asked.choices.items() if value is not None}
        return replace(asked, choices={**own, **given}) if own else asked

    def _trace(self, request: Request) -> Trace:
        return Trace(deadline_ms=self._plan(request).deadline_ms)

    def _plan(self, request: Request) -> Plan:
        """The plan before the question is read, which may change it by its kind."""
        return make_plan(self.parts.settings.profile, "factual", overrides=request.choices)

    def _key(self, request: Request, library: CollectionView) -> CacheKey:
        """Everything but the question that its answer depends on."""
        parts = self.parts
        plan = self._plan(request)
        return key_of(
            plan=plan,
            collections=[
                (each.name, each.index_version, repr(each.tuning))
                for each, _shelf in library.shelves
            ],
            models=model_names(parts),
            filters=request.filters,
            choices=request.choices,
            history=request.history,
            prompt=choose_prompt(parts.prompts, name=plan.prompt, profile=plan.profile).system,
            checked=request.checked,
            tenant=parts.settings.tenant,
            session=request.session,
        )

    async def _cached_answer(
        self, key: CacheKey, request: Request, *, trace: Trace
    ) -> Answer | None:
        """Give an answer again that was given to this question, or to one that asks the same.

        It takes a time of its own, and no model is paid for it again.
        """
        cache, question, embedder = self.parts.cache, request.question, self.parts.embedder
        answer = cache.find(key, question)
        if answer is None and len(cache) and cache.shares(key):
            vectors = await trace.attempt(
                "cache",
                lambda: embedder.embed([question], role="query"),
                otherwise=lambda: None,
                fallback="answered anew",
                limit_ms=LOOK_UP_MS,
            )
            if vectors is not None:
                answer = cache.find_semantic(key, question, vector=vectors[0])
        return answer and replace(
            answer, query_id=new_query_id(), usage=Usage(), timings_ms=trace.timings_ms()
        )

    async def _record_query(
        self,
        request: Request,
        found: Retrieved | None,
        answer: Answer,
        *,
        trace: Trace,
        keep: Callable[[Record], None] | None,
    ) -> Answer:
        """Put the answer into the history; that it cannot be kept does not take it away."""
        record = record_of(self.parts, request, answer=answer, found=found, trace=trace)
        keep = keep or partial(save_record, catalogue=self.parts.catalogue)
        after = Trace()
        await after.attempt(
            "record",
            lambda: asyncio.to_thread(keep, record),
            otherwise=lambda: None,
            fallback="no history",
        )
        answer = replace(answer, degraded=(*answer.degraded, *after.degraded))
        for each in answer.degraded:
            log.info("fallback", extra={"query_id": answer.query_id, "what": each})
        self.parts.observe(trace, answer)
        return answer

    async def _collection(self, name: str | None) -> Collection:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.collection, wanted)

    async def _find(self, name: str | None) -> Collection | None:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.find_collection, wanted)


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
