"""Generated answer: prompt → generate → parse → verify → cite.

The extractive answer is shown first; verified sentences of the model replace it. Where the operator
wants moderation and there is no verdict, no language model takes part: the answer is in the
sources' own words, which are the operator's documents and are not moderated.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex

from quoth.answering.citations import make_citation
from quoth.answering.context import Context, build_context
from quoth.answering.generative.assemble import Composed, compose, finalize_answer
from quoth.answering.generative.stream_reader import AnswerReader
from quoth.answering.prompts import answer_messages, choose_prompt, prompt_hash
from quoth.answering.verification import (
    EvidenceSpan,
    Sources,
    StatementCheck,
    cache_embeddings,
    is_non_claim,
    read_sources,
    verify,
)
from quoth.core.events import Event, EvidenceFound, StageStarted
from quoth.core.plan import Plan
from quoth.core.protocols import (
    AsksModel,
    EntailmentModel,
    GenerationParams,
    Generator,
    Matrix,
    Message,
)
from quoth.core.trace import Trace
from quoth.core.translations import translate
from quoth.core.types import Answer, Citation, Counts, Passage, Query
from quoth.pipeline.components import Components, with_pages
from quoth.pipeline.extract import whole_answer_events
from quoth.pipeline.retrieve import RequestContext, Retrieved
from quoth.query.dialogue_act import DialogueAct
from quoth.retrieval.prune import prune
from quoth.store.rows import now
from quoth.text.language import detect_language

LOCAL_CONTEXT_TOKENS = 1500
"""Tokens of passages that a local model reads unless the request says otherwise."""
NON_CLAIM = StatementCheck("unverified", 0.0, (), declines=True)
"""The check result of a non-claim, such as that the sources do not say."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """What a language model reads, and the sources that its answer is verified against."""

    messages: tuple[Message, ...]
    context: Context
    sources: Sources
    prompt: str
    fence: str

    @property
    def passages(self) -> dict[int, Passage]:
        """Return the passages in the prompt, by number."""
        return {block.number: block.passage for block in self.context.blocks}


async def generate_answer(
    context: RequestContext, found: Retrieved, extractive: Answer, *, generator: Generator
) -> AsyncGenerator[Event | Answer, None]:
    """Generate an answer; yield events as they occur, and the verified answer last.

    The last item is the extractive answer if the model failed before its first word.
    """
    trace = context.trace
    if extractive.citations:
        yield EvidenceFound(extractive.text, extractive.sentences, extractive.citations)
    yield StageStarted("generate")
    prompt = await _build_prompt(context, found, generator=generator)
    events = _write(context.parts, found, prompt, generator=generator, trace=trace)
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, Composed):
                trace.mark("first_token")
                yield event
                continue
            finish = event.finish
            if finish is not None and (finish.stood_in or finish.provider != generator.provider):
                writer = f"{finish.provider}:{finish.model}"
                trace.note("generate", reason=generator.provider, fallback=writer)
            known = replace(extractive, prompt=prompt.prompt, degraded=trace.degraded)
            answer = finalize_answer(
                known,
                event,
                passages=prompt.context.passages,
                writer=(generator.provider, generator.model),
            )
            if not event.citations:  # nothing of it was shown
                for shown in whole_answer_events(answer):
                    yield shown
            yield answer


async def _build_prompt(
    request: RequestContext, found: Retrieved, *, generator: Generator
) -> PromptInput:
    """Fill the model's context window with the instructions and the passages."""
    parts, plan, history = request.parts, found.plan, request.request.history
    prompt = choose_prompt(parts.prompts, name=plan.prompt, profile=plan.profile)
    turns = history[max(0, len(history) - plan.history_turns) :]
    fence = token_hex(8)

    def messages(sources: str) -> tuple[Message, ...]:
        return answer_messages(
            found.query,
            sources,
            prompt=prompt,
            history=turns,
            fence=fence,
            about=parts.operator_description,
        )

    kept = prune(found.passages, query=found.query) if plan.prune else None

    def work() -> tuple[Context, Sources]:
        frame = sum(generator.count_tokens([message.text for message in messages("")]))
        room = min(plan.max_context_tokens, generator.window - frame - plan.max_tokens)
        if generator.local and "max_context_tokens" not in request.request.choices:
            room = min(room, LOCAL_CONTEXT_TOKENS)
        context = build_context(
            with_pages(found.passages, parts.catalogue),
            max_tokens=max(1, room),
            count_tokens=generator.count_tokens,
            order=plan.context_order,
            kept=kept,
        )
        return context, read_sources(context.blocks, kept=kept)

    with request.trace.stage("prompt"):
        context, sources = await asyncio.to_thread(work)
    prompt_messages = messages(context.text)
    return PromptInput(
        prompt_messages, context, sources, prompt_hash(prompt_messages, fence=fence), fence
    )


def _affordable_judge(parts: Components, plan: Plan, *, trace: Trace) -> EntailmentModel | None:
    """Return the entailment model; none where its cost is limited but not known in advance."""
    judge = parts.judge if plan.judge else None
    if plan.max_usd is not None and isinstance(judge, AsksModel):
        trace.note("verify", reason="max_usd", fallback="words alone")
        return None
    return judge


def _write(
    parts: Components,
    found: Retrieved,
    prompt_input: PromptInput,
    *,
    generator: Generator,
    trace: Trace,
) -> AsyncGenerator[Event | Composed, None]:
    """Run the model; parse, verify and cite sentence by sentence."""
    plan, passages = found.plan, prompt_input.passages

    async def embed(texts: Sequence[str]) -> Matrix:
        return await (parts.sentences or parts.embedder).embed(texts, role="document")

    remembered = cache_embeddings(embed)
    judge = _affordable_judge(parts, plan, trace=trace)

    async def check(sentence: str, cited: Sequence[int]) -> StatementCheck:
        query = found.query
        if is_non_claim(sentence, query.language, question=f"{query.original} {query.standalone}"):
            return NON_CLAIM
        verified = partial(
            verify, sentence, prompt_input.sources, cited=cited, language=query.language
        )
        checked = verified(embed=remembered, judge=judge)
        verdict = await trace.attempt("verify", checked, otherwise=None, fallback="words alone")
        return verdict or await verified()  # by words alone, where a model fails

    def cite(proof: EvidenceSpan, verdict: StatementCheck, number: int) -> Citation:
        return make_citation(
            passages[proof.number],
            start=proof.start,
            end=proof.end,
            number=number,
            retrieval_method=plan.mode,
            created_at=now(),
            support=verdict.support,
            support_score=verdict.score,
            filters=plan.filters,
        )

    pieces = trace.wrap_stream(
        "generate",
        generator.stream(
            prompt_input.messages,
            writing=GenerationParams(temperature=plan.temperature, max_tokens=plan.max_tokens),
        ),
        fallback="extractive",
        cut="truncated",
    )
    return compose(
        pieces,
        reader=AnswerReader(passages, secret=prompt_input.fence),
        check=check,
        cite=cite,
        policy=plan.policy,
    )


def small_talk_reply(context: RequestContext, act: DialogueAct) -> Answer:
    """Return the reply to a turn that asks for nothing."""
    request = context.request
    before = request.history[-1].question if request.history else request.question
    language = detect_language(before, among=act.languages, fallback=act.languages[0])
    return Answer(
        query_id=context.query_id,
        query=Query(request.question, request.question, language),
        text=translate(f"pipeline.{act.kind}", language),
        sentences=(),
        citations=(),
        closest=(),
        status="small_talk",
        grounded=False,
        degraded=(),
        warnings=(),
        counts=Counts(),
        used_chunks=(),
        timings_ms=context.trace.timings_ms(),
        profile=context.plan.profile,
        index_version="",
    )


# --- moderation ------------------------------------------------------------------------------


async def moderate_answer(
    writing: AsyncGenerator[Event | Answer, None], context: RequestContext, extractive: Answer
) -> AsyncGenerator[Event | Answer, None]:
    """Hold back what a model writes until it is checked; a flagged answer is never shown."""
    moderator, trace = context.parts.moderator, context.trace
    held: list[Event] = []
    answer = extractive
    async with aclosing(writing) as items:
        async for item in items:
            if isinstance(item, Answer):
                answer = item
            elif moderator is None or isinstance(item, EvidenceFound | StageStarted):
                yield item
            else:
                held.append(item)
    if moderator is not None and answer.model is not None:
        verdict = await trace.attempt(
            "moderate", moderator.check(answer.text), otherwise=None, fallback="extractive"
        )
        if verdict:
            trace.note("generate", reason="moderated", fallback="extractive")
        if verdict != "":
            answer = replace(extractive, degraded=trace.degraded)
            held = whole_answer_events(answer)
    for event in held:
        yield event
    yield answer
