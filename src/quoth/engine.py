"""The path of a query, top to bottom.

analyse → retrieve (search both indexes → fuse → rerank → diversify → widen)
→ extract (context → sentences → calibrate → choose → cite)
→ generate, with a language model (prompt → write → verify → cite) → Answer

`Engine` orders the stages and owns nothing but its components. `stream` is the only
implementation; `answer` drains it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from hashlib import sha256

from quoth.answering.prompts import choose_prompt
from quoth.core.errors import BackendError, InputError, StoreDown
from quoth.core.events import AnswerCompleted, Event, HitsFound, StageStarted, UsageReported
from quoth.core.plan import Plan, make_plan
from quoth.core.trace import Trace
from quoth.core.types import Answer, Hit, Turn, Usage
from quoth.pipeline.answer_cache import CacheKey
from quoth.pipeline.asked_source import request_before, with_asked_places
from quoth.pipeline.budget import note_pace
from quoth.pipeline.components import model_names
from quoth.pipeline.documents import DocumentEngine
from quoth.pipeline.egress import count_tokens
from quoth.pipeline.extract import extractive_answer, whole_answer_events
from quoth.pipeline.generate import (
    generate_answer,
    moderate_answer,
    small_talk_reply,
)
from quoth.pipeline.record import Record, build_record, measure
from quoth.pipeline.record_codec import save_record
from quoth.pipeline.retrieve import (
    Request,
    RequestContext,
    Retrieved,
    analyse,
    open_request,
    search_passages,
    select_passages,
)
from quoth.pipeline.selection import note_low_diversity
from quoth.pipeline.unread import note_unread

log = logging.getLogger("quoth.engine")

MAX_CONCURRENT = 16
"""Queries of a batch processed concurrently; they share embedder batches."""


class Engine(DocumentEngine):
    """Answers questions from the documents of one library, which it also adds and removes."""

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

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(answer_one(request)) for request in requests]
        except ExceptionGroup as group_error:
            raise group_error.exceptions[0] from None
        return [task.result() for task in tasks]

    async def suggest(
        self,
        after: Answer | str = "",
        *,
        collection: str | None = None,
        language: str | None = None,
        history: Sequence[Turn] = (),
    ) -> tuple[str, ...]:
        """Suggest questions: follow-ups of an answer, or completions of a typed beginning.

        Where nothing is typed they are about documents, in ``language`` where there are some.
        Questions of ``history``, the turns before the answer, are no follow-ups.
        """
        from quoth.pipeline import suggest

        name = collection or self.parts.settings.collection
        if isinstance(after, Answer):
            return await suggest.follow_up(self.parts, after, collection=name, history=history)
        if not after.strip():
            return await suggest.first_questions(self.parts, collection=name, language=language)
        return await suggest.complete(self.parts, after, collection=name)

    async def retrieve(self, request: Request | str, *, trace: Trace | None = None) -> Retrieved:
        """Run the first half of the path: from a request to numbered passages."""
        request, plan = self._plan(request)
        trace = trace or Trace(deadline_ms=plan.deadline_ms)
        context = await open_request(self.parts, request, plan=plan, trace=trace, moderates=True)
        try:
            searched = await search_passages(context, await analyse(context))
            found = await select_passages(context, searched)
        finally:
            if context.meter.tokens:
                await self._count_tokens(context)
        self.parts.observe(trace, None)
        return found

    async def stream(
        self,
        request: Request | str,
        *,
        keep: Callable[[Record], None] | None = None,
        cached: bool = True,
    ) -> AsyncGenerator[Event, None]:
        """Answer a query; yield an event per completed stage, `AnswerCompleted` last.

        The query's record is stored in the history, or passed to ``keep``. Where ``cached`` is
        false, the cache of answers is not used. Closing the stream cancels the call to the
        language model. Raises InputError, NotFound, IndexMismatch and RetrievalError.
        """
        typed, plan = self._plan(request)
        # Without a language model, "On which page?" shows the places of the answer before.
        writes = typed.model or self.parts.generator is not None
        request = typed if writes else request_before(typed)
        cached = cached and request is typed
        trace = Trace(deadline_ms=plan.deadline_ms)
        context = await open_request(
            self.parts, request, plan=plan, trace=trace, moderates=True, writes=True
        )
        try:
            key = self._cache_key(context) if cached and plan.cache != "none" else None
            answer = small_talk_reply(context, act) if (act := context.small_talk) else None
            if answer is None and key is not None:
                answer = self._cached_answer(context, key)
            found = None
            if answer is None:
                yield StageStarted("retrieve", context.query_id)
                searched = await search_passages(context, await analyse(context))
                found = await select_passages(context, searched)
                yield HitsFound(found.hits)
                yield StageStarted("answer")
                answer = await extractive_answer(context, found)
                answer = with_asked_places(answer, request=request, typed=typed)
                trace.mark("first_evidence")
                async with aclosing(_generate_or_quote(context, found, answer)) as events:
                    async for item in events:
                        if isinstance(item, Answer):
                            answer = item
                        else:
                            yield item
                answer = note_low_diversity(answer, kept=len(found.hits), copies=len(found.copies))
                usage, timings = context.meter.total, trace.timings_ms()
                answer = replace(answer, usage=usage, timings_ms=timings)
                note_pace(self.parts.latency_estimator, timings)
                if key is not None:
                    vector = None if context.encoded is None else context.encoded.vector
                    self.parts.cache.keep(key, request.question, answer=answer, vector=vector)
            else:
                for event in whole_answer_events(answer):
                    yield event
            answer = await note_unread(context, answer)
            yield UsageReported(answer.usage)
            context = replace(context, request=typed)
            yield AnswerCompleted(await self._record(context, found, answer, keep=keep))
        finally:
            if context.meter.tokens:
                await self._count_tokens(context)

    def _plan(self, request: Request | str) -> tuple[Request, Plan]:
        """Return the request with defaults from the settings, and its plan."""
        request = Request(request) if isinstance(request, str) else request
        for name in ("filters", "collections"):
            if isinstance(value := getattr(request, name), str):
                raise InputError(f"'{name}' of a Request is a tuple of texts: write ({value!r},).")
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
        small, turns = parts.small, repr(tuple(request.history))
        return CacheKey(
            tenant=parts.settings.tenant,
            session=request.session,
            history=sha256(turns.encode(errors="surrogatepass")).hexdigest(),
            collections=tuple(
                (each.name, each.index_version, repr(each.tuning))
                for each, _outline in context.view.collections
            ),
            filters=tuple(request.filters),
            choices=repr(sorted(request.choices.items())),
            plan=plan,
            models=(
                *model_names(parts),
                f"{small.provider}:{small.model}" if small else "",
                parts.transformer.name if parts.transformer else "",
            ),
            prompt=choose_prompt(parts.prompts, name=plan.prompt, profile=plan.profile),
            checked=request.checked,
        )

    def _cached_answer(self, context: RequestContext, key: CacheKey) -> Answer | None:
        """Return a cached answer to the same query or to a paraphrase of it."""
        vector = None if context.encoded is None else context.encoded.vector
        answer = self.parts.cache.look_up(key, context.request.question, vector=vector)
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
        self.parts.observe(context.trace, answer, measures=measure(record))
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


async def _generate_or_quote(
    context: RequestContext, found: Retrieved, answer: Answer
) -> AsyncGenerator[Event | Answer, None]:
    """Yield the events of an answer: of what a language model writes, else of the quotations."""
    generator = context.parts.generator
    if generator is None or not found.plan.generate or not found.passages:
        for event in whole_answer_events(answer):
            yield event
        return
    writing = generate_answer(context, found, answer, generator=generator)
    async with aclosing(moderate_answer(writing, context, answer)) as events:
        async for item in events:
            yield item
