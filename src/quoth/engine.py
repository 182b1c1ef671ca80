"""The path of a query, top to bottom.

analyse → retrieve (search → fuse → rerank → diversify → widen) → extract
(context → choose → cite) → generate (prompt → write → verify → cite) → Answer

`Engine` orders the stages and owns nothing but its components. `stream` is the only
implementation; `answer` drains it.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quoth.answering.prompts import choose_prompt
from quoth.core.errors import BackendError, IndexMismatch, StoreDown
from quoth.core.events import AnswerCompleted, Event, HitsFound, StageStarted, UsageReported
from quoth.core.plan import Plan, make_plan
from quoth.core.trace import Trace
from quoth.core.types import Answer, Document, Hit, Usage
from quoth.pipeline.answer_cache import CacheKey, make_cache_key
from quoth.pipeline.budget import note_pace
from quoth.pipeline.components import (
    Components,
    components_of,
    make_collection,
    model_names,
)
from quoth.pipeline.egress import count_tokens, require_egress
from quoth.pipeline.extract import extractive_answer, whole_answer_events
from quoth.pipeline.generate import generate_answer, small_talk_reply
from quoth.pipeline.moderate import moderate_answer, moderate_question
from quoth.pipeline.record import Record, build_record
from quoth.pipeline.record_codec import save_record
from quoth.pipeline.retrieve import (
    Request,
    RequestContext,
    Retrieved,
    analyse,
    open_request,
    retrieve,
)
from quoth.store.rows import Collection

if TYPE_CHECKING:
    from quoth.pipeline.add import DocumentMetadata
    from quoth.pipeline.commit import IngestProgress
    from quoth.pipeline.maintain import Health

log = logging.getLogger("quoth.engine")

MAX_CONCURRENT = 16
"""Queries of a batch processed concurrently; they share embedder batches."""


class Engine:
    """Answers questions from the documents of one library."""

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
        """Add files and folders; yields progress, and each document once its outcome is known."""
        from quoth.pipeline.add import DocumentMetadata, add_documents
        from quoth.pipeline.commit import IngestProgress
        from quoth.pipeline.maintain import copy_chunks, reconcile

        name = collection or self.parts.settings.collection
        if await asyncio.to_thread(self.parts.catalogue.find_collection, name) is None:
            await asyncio.to_thread(require_egress, self.parts)
        found = await asyncio.to_thread(make_collection, self.parts, name)
        parts = await asyncio.to_thread(components_of, self.parts, found)
        await asyncio.to_thread(require_egress, parts)
        for key in await reconcile(parts, found):
            async for at, of in copy_chunks(parts, found.table, document_id=key):
                yield IngestProgress(key, 0, 0, at, of)
        about = (given or DocumentMetadata()).cleaned()
        steps = add_documents(parts, found, sources=sources, given=about)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def settle(
        self, say: Callable[[str], None] = lambda _line: None, *, collection: str | None = None
    ) -> bool:
        """Build what makes a large index quick to search where it is missing; True if built."""
        found = await self._collection(collection)
        parts = await asyncio.to_thread(components_of, self.parts, found)
        index = parts.open_index(found.table)
        if not await index.needs_build():
            return False
        say("Building the index for searching.")
        return await index.build()

    async def documents(self, *, collection: str | None = None) -> list[Document]:
        """List documents: ready ones, then failed and pending ones.

        Raises NotFound for an unknown collection, unless the library is new.
        """
        from quoth.pipeline.uploads import documents_in

        name = collection or self.parts.settings.collection
        return await asyncio.to_thread(documents_in, self.parts.catalogue, name)

    async def remove(self, ids: Sequence[str], *, collection: str | None = None) -> list[str]:
        """Delete documents with their uploaded files; return the ids found."""
        from quoth.pipeline.maintain import remove
        from quoth.pipeline.remote import forget_mirrored
        from quoth.pipeline.uploads import forget_documents

        found = await self._collection(collection)
        possible = [each for each in ids if each.isascii()]
        there = await asyncio.to_thread(self.parts.catalogue.documents_by_id, found, possible)
        gone = await remove(await self._parts_of(found), found, ids=ids)
        await asyncio.to_thread(forget_documents, self.parts, gone)
        await forget_mirrored(self.parts, found.name, [each.source for each in there.values()])
        return gone

    async def remove_gone(
        self, folders: Sequence[Path], *, collection: str | None = None, fetched: bool = False
    ) -> list[Document]:
        """Remove and return the documents whose file is gone from folders.

        ``fetched`` includes pages of the web that are gone. Raises InputError for a folder that is
        missing or empty as a whole: a disk that was unmounted has not lost its files.
        """
        from quoth.pipeline.remote import mirror_folder
        from quoth.pipeline.sync import check_folder, gone_documents

        there = await self.documents(collection=collection)
        own = [each for folder in folders for each in gone_documents(there, folder=folder)]
        if own:
            for folder in folders:
                check_folder(folder)
        mirror = mirror_folder(self.parts, collection or self.parts.settings.collection)
        gone = [*own, *(gone_documents(there, folder=mirror) if fetched else ())]
        if gone:
            await self.remove([each.document_id for each in gone], collection=collection)
        return gone

    async def remove_collection(self, name: str) -> None:
        """Delete a collection with its documents and its queries."""
        from quoth.pipeline.maintain import delete_collection
        from quoth.pipeline.remote import mirror_folder
        from quoth.pipeline.uploads import forget_documents

        found = await self._collection(name)
        gone = await delete_collection(await self._parts_of(found), found)
        await asyncio.to_thread(forget_documents, self.parts, gone)
        await asyncio.to_thread(shutil.rmtree, mirror_folder(self.parts, name), ignore_errors=True)

    async def reindex(
        self, *, collection: str | None = None, change_embedder: bool = False
    ) -> AsyncIterator[IngestProgress]:
        """Rebuild the index next to the active one, then switch.

        The embedder is the index's own, or the engine's with ``change_embedder`` and where the
        index's cannot be opened.
        """
        from quoth.pipeline.maintain import rebuild

        found = await self._collection(collection)
        parts = self.parts if change_embedder else await self._parts_of(found)
        await asyncio.to_thread(require_egress, parts)
        async for step in rebuild(parts, found):
            yield step

    async def drop_old(self, *, collection: str | None = None) -> bool:
        """Remove the index of the embedder before; False where none is kept."""
        from quoth.pipeline.maintain import drop_kept

        found = await self._collection(collection)
        return await drop_kept(self.parts, found)

    async def health(self, *, collection: str | None = None) -> Health:
        """Check configuration, catalogue and index."""
        from quoth.pipeline.maintain import health_check

        found = await self._find(collection)
        parts = self.parts if found is None else await self._parts_of(found)
        return await health_check(parts, found)

    # --- queries ------------------------------------------------------------------------------

    async def search(self, request: Request | str) -> tuple[Hit, ...]:
        """Rank passages for a query, best first."""
        return (await self.retrieve(request)).hits

    async def answer(
        self, request: Request | str, *, keep: Callable[[Record], None] | None = None
    ) -> Answer:
        """Answer a query: the last event of `stream`."""
        async with aclosing(self.stream(request, keep=keep)) as events:
            answers = [event.answer async for event in events if isinstance(event, AnswerCompleted)]
        return answers[-1]

    async def answer_all(self, requests: Sequence[Request | str]) -> list[Answer]:
        """Answer many queries concurrently, in their order; the first failure cancels the rest."""
        slots = asyncio.Semaphore(MAX_CONCURRENT)

        async def answer_one(request: Request | str) -> Answer:
            async with slots:
                return await self.answer(request)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer_one(request)) for request in requests]
        return [task.result() for task in tasks]

    async def suggest(
        self,
        after: Answer | str = "",
        *,
        collection: str | None = None,
        language: str | None = None,
    ) -> tuple[str, ...]:
        """Suggest questions: follow-ups of an answer, or completions of a typed beginning.

        Where nothing is typed they are about documents, in ``language`` where there are some.
        """
        from quoth.pipeline import suggest

        name = collection or self.parts.settings.collection
        if isinstance(after, Answer):
            return await suggest.follow_up(self.parts, after, collection=name)
        if not after.strip():
            return await suggest.first_questions(self.parts, collection=name, language=language)
        return await suggest.complete(self.parts, after, collection=name)

    async def retrieve(self, request: Request | str, *, trace: Trace | None = None) -> Retrieved:
        """Run the first half of the path: from a request to numbered passages."""
        request, plan = self._plan(request)
        trace = trace or Trace(deadline_ms=plan.deadline_ms)
        context = await open_request(self.parts, request, plan=plan, trace=trace)
        try:
            found = await retrieve(context, await analyse(context))
        finally:
            if context.meter.tokens:
                await self._count_tokens(context)
        self.parts.observe(trace, None)
        return found

    async def stream(
        self, request: Request | str, *, keep: Callable[[Record], None] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a query; yield an event per completed stage, `AnswerCompleted` last.

        The query's record is stored in the history, or passed to ``keep``. Closing the stream
        cancels the call to the language model. Raises InputError, NotFound, IndexMismatch and
        RetrievalError.
        """
        request, plan = self._plan(request)
        trace = Trace(deadline_ms=plan.deadline_ms)
        context = await open_request(self.parts, request, plan=plan, trace=trace, writes=True)
        try:
            if context.parts.moderator is not None:
                context = await moderate_question(context)
            key = None if plan.cache == "none" else self._cache_key(context)
            answer = small_talk_reply(context) if context.small_talk else None
            if answer is None and key is not None:
                answer = self._cached_answer(context, key)
            found = None
            if answer is None:
                yield StageStarted("retrieve", context.query_id)
                analysed = await analyse(context)
                found = await retrieve(context, analysed)
                yield HitsFound(found.hits)
                yield StageStarted("answer")
                answer = await extractive_answer(context, found)
                trace.mark("first_evidence")
                generator = context.parts.generator
                if generator is None or not found.plan.generate or not found.passages:
                    for event in whole_answer_events(answer):
                        yield event
                else:
                    writing = generate_answer(context, found, answer, generator=generator)
                    checked = moderate_answer(writing, context, answer)
                    async with aclosing(checked) as events:
                        async for item in events:
                            if isinstance(item, Answer):
                                answer = item
                            else:
                                yield item
                usage, timings = context.meter.total, trace.timings_ms()
                answer = replace(answer, usage=usage, timings_ms=timings)
                note_pace(self.parts.latency_estimator, timings)
                if key is not None:
                    vector = None if context.encoded is None else context.encoded.vector
                    self.parts.cache.keep(key, request.question, answer=answer, vector=vector)
            else:
                for event in whole_answer_events(answer):
                    yield event
            yield UsageReported(answer.usage)
            yield AnswerCompleted(await self._record(context, found, answer, keep=keep))
        finally:
            if context.meter.tokens:
                await self._count_tokens(context)

    def _plan(self, request: Request | str) -> tuple[Request, Plan]:
        """Return the request with defaults from the settings, and its plan."""
        request = Request(request) if isinstance(request, str) else request
        given = {name: value for name, value in request.choices.items() if value is not None}
        request = replace(request, choices={**self.parts.settings.plan, **given})
        profile = request.profile or self.parts.settings.profile
        plan = make_plan(profile, overrides=request.choices)
        if plan.prompt is not None:
            choose_prompt(self.parts.prompts, name=plan.prompt, profile=profile)
        return request, plan

    def _cache_key(self, context: RequestContext) -> CacheKey:
        """Return everything but the query text that the answer depends on."""
        parts, plan, request = context.parts, context.plan, context.request
        small = parts.small
        return make_cache_key(
            plan=plan,
            collections=[
                (each.name, each.index_version, repr(each.tuning))
                for each, _outline in context.view.collections
            ],
            models=(*model_names(parts), f"{small.provider}:{small.model}" if small else ""),
            filters=request.filters,
            choices=request.choices,
            history=request.history,
            prompt=choose_prompt(parts.prompts, name=plan.prompt, profile=plan.profile).system,
            checked=request.checked,
            tenant=parts.settings.tenant,
            session=request.session,
        )

    def _cached_answer(self, context: RequestContext, key: CacheKey) -> Answer | None:
        """Return a cached answer to the same query or to a paraphrase of it."""
        cache, question, encoded = self.parts.cache, context.request.question, context.encoded
        answer = cache.find(key, question)
        if answer is None and encoded is not None and context.plan.cache == "semantic":
            answer = cache.find_semantic(key, question, vector=encoded.vector)
        return answer and replace(
            answer,
            query_id=context.query_id,
            usage=Usage(),
            timings_ms=context.trace.timings_ms(),
        )

    async def _record(
        self,
        context: RequestContext,
        found: Retrieved | None,
        answer: Answer,
        *,
        keep: Callable[[Record], None] | None,
    ) -> Answer:
        """Store the query in the history; a failure is noted in the answer."""
        record = build_record(context, answer=answer, found=found)
        keep = keep or partial(save_record, catalogue=self.parts.catalogue)
        after = Trace()
        saved = asyncio.to_thread(keep, record)
        await after.attempt("record", saved, otherwise=None, fallback="no history")
        answer = replace(answer, degraded=(*answer.degraded, *after.degraded))
        for fallback in answer.degraded:
            log.info("fallback", extra={"query_id": answer.query_id, "what": fallback})
        self.parts.observe(context.trace, answer)
        return answer

    async def _count_tokens(self, context: RequestContext) -> None:
        """Count language model tokens for the tenant; a failure is logged."""
        tokens = context.meter.tokens

        def count() -> None:
            try:
                count_tokens(self.parts, tokens)
            except (BackendError, StoreDown) as error:
                log.warning("tokens_not_counted", extra={"code": error.code})

        # A disconnected client cancels this task; the tokens are counted nevertheless.
        await asyncio.shield(asyncio.to_thread(count))

    async def _parts_of(self, collection: Collection) -> Components:
        """Return the components with the index's embedder, or else the engine's own."""
        try:
            return await asyncio.to_thread(components_of, self.parts, collection)
        except IndexMismatch:
            return self.parts

    async def _collection(self, name: str | None) -> Collection:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.collection, wanted)

    async def _find(self, name: str | None) -> Collection | None:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.find_collection, wanted)
