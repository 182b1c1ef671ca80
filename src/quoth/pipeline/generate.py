"""The second half of the path: from numbered passages to a cited answer.

quote → (context → generate → read → verify → cite) → Answer. The best verbatim sentences are
there first; what a language model writes takes their place as far as it is verified.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise
from secrets import token_hex

from quoth.answering.citations import make_citation
from quoth.answering.context import Context, build_context
from quoth.answering.finalize import finalize_answer
from quoth.answering.generative.assemble import Composed, compose
from quoth.answering.generative.stream_reader import AnswerReader
from quoth.answering.prompts import answer_messages, choose_prompt, prompt_hash
from quoth.answering.verification import (
    Embed,
    EvidenceSpan,
    Sources,
    StatementCheck,
    is_non_claim,
    read_sources,
    remembering,
    verify,
)
from quoth.core.events import (
    AnswerCompleted,
    CitationAdded,
    Event,
    EvidenceFound,
    StageStarted,
    TextAdded,
    UsageReported,
)
from quoth.core.messages import GenerationParams, Message
from quoth.core.protocols import (
    AsksModel,
    EntailmentModel,
    Generator,
    Matrix,
)
from quoth.core.trace import Trace
from quoth.core.types import Answer, Citation, Passage
from quoth.pipeline.components import Components
from quoth.pipeline.extract import extractive_answer
from quoth.pipeline.retrieve import Request, Retrieved
from quoth.retrieval.prune import prune
from quoth.store.rows import now

UNCHECKED = StatementCheck("unverified", 0.0, ())
"""What is found of a sentence that claims nothing, such as that the sources do not say."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """What a language model is told, and how its answer is read and checked against that."""

    messages: tuple[Message, ...]
    context: Context
    sources: Sources
    prompt: str
    fence: str

    @property
    def passages(self) -> dict[int, Passage]:
        """The passages that the model sees, by their numbers."""
        return {block.number: block.passage for block in self.context.blocks}


async def respond(
    parts: Components, found: Retrieved, *, request: Request, trace: Trace
) -> AsyncGenerator[Event, None]:
    """Answer from the passages; the events come as they are known, `Done` last."""
    yield StageStarted("answer")
    answer = await extractive_answer(parts, found, trace=trace)
    trace.mark("first_evidence")
    generator = parts.generator
    written = False
    if generator is not None and found.plan.generate and answer.status != "no_results":
        yield EvidenceFound(answer.text, answer.sentences, answer.citations)
        yield StageStarted("generate")
        told = await _build_prompt(parts, found, generator=generator, request=request, trace=trace)
        events = _write(parts, found, told, generator=generator, trace=trace)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Composed):
                    written = bool(event.text)
                    finish = event.finish
                    if finish is not None and finish.provider != generator.provider:
                        writer = f"{finish.provider}:{finish.model}"
                        trace.note("generate", reason=generator.provider, fallback=writer)
                    known = replace(answer, prompt=told.prompt, degraded=trace.degraded)
                    answer = finalize_answer(
                        known,
                        event,
                        passages=told.context.passages,
                        writer=(generator.provider, generator.model),
                    )
                else:
                    trace.mark("first_token")
                    yield event
    for event in [UsageReported(answer.usage)] if written else stream_events(answer):
        yield event
    yield AnswerCompleted(replace(answer, timings_ms=trace.timings_ms()))


def stream_events(answer: Answer) -> list[Event]:
    """Give an answer that is whole already as the events of a stream, but for `Done`."""
    borders = [0, *(each.start for each in answer.sentences[1:]), len(answer.text)]
    tokens: list[Event] = [TextAdded(answer.text[start:end]) for start, end in pairwise(borders)]
    return [*tokens, *map(CitationAdded, answer.citations), UsageReported(answer.usage)]


async def _build_prompt(
    parts: Components, found: Retrieved, *, generator: Generator, request: Request, trace: Trace
) -> PromptInput:
    """Fill the model's window with the passages, below what it is told to do."""
    plan = found.plan
    prompt = choose_prompt(parts.prompts, name=plan.prompt, profile=plan.profile)
    turns = request.history[max(0, len(request.history) - plan.history_turns) :]
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
        frame = sum(generator.count_tokens([each.text for each in messages("")]))
        room = generator.window - frame - plan.max_tokens
        context = build_context(
            found.passages,
            max_tokens=max(1, min(plan.max_context_tokens, room)),
            count_tokens=generator.count_tokens,
            order=plan.context_order,
            kept=kept,
        )
        return context, read_sources(context.blocks, kept=kept)

    with trace.stage("prompt"):
        context, sources = await asyncio.to_thread(work)
    said = messages(context.text)
    return PromptInput(said, context, sources, prompt_hash(said, fence=fence), fence)


def _write(
    parts: Components, found: Retrieved, told: PromptInput, *, generator: Generator, trace: Trace
) -> AsyncGenerator[Event | Composed, None]:
    """Let the model write; read, check and cite sentence by sentence."""
    plan, passages = found.plan, told.passages

    async def embed(texts: Sequence[str]) -> Matrix:
        return await parts.embedder.embed(texts, role="document")

    remembered = remembering(embed)
    judge = parts.judge if plan.judge else None
    if plan.max_usd is not None and isinstance(judge, AsksModel):
        # What its calls cost nobody can say beforehand.
        trace.note("verify", reason="max_usd", fallback="words alone")
        judge = None

    async def check(sentence: str, cited: Sequence[int]) -> StatementCheck:
        query = found.query
        if is_non_claim(sentence, query.language, question=f"{query.original} {query.standalone}"):
            return UNCHECKED
        return await _verify_statements(
            sentence,
            told.sources,
            cited=cited,
            language=query.language,
            embed=remembered,
            judge=judge,
            trace=trace,
        )

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
        )

    pieces = trace.wrap_stream(
        "generate",
        generator.stream(
            told.messages,
            writing=GenerationParams(temperature=plan.temperature, max_tokens=plan.max_tokens),
        ),
        fallback="extractive",
        cut="truncated",
    )
    return compose(
        pieces,
        reader=AnswerReader(passages, secret=told.fence),
        check=check,
        cite=cite,
        policy=plan.policy,
    )


async def _verify_statements(
    sentence: str,
    sources: Sources,
    *,
    cited: Sequence[int],
    language: str,
    embed: Embed,
    judge: EntailmentModel | None,
    trace: Trace,
) -> StatementCheck:
    """Check a sentence with all that is at hand, and by its words alone when a model fails."""
    verdict = await trace.attempt(
        "verify",
        lambda: verify(sentence, sources, cited=cited, language=language, embed=embed, judge=judge),
        otherwise=lambda: None,
        fallback="words alone",
    )
    return verdict or await verify(sentence, sources, cited=cited, language=language)
