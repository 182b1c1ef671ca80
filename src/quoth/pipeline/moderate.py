"""Moderation of a question, and of what a language model wrote, where the operator wants it.

Without a verdict no language model takes part: the answer is in the sources' own words, which are
the operator's documents and are not moderated.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from quoth.core.errors import Moderated
from quoth.core.events import Event, EvidenceFound, StageStarted
from quoth.core.types import Answer
from quoth.pipeline.extract import whole_answer_events
from quoth.pipeline.retrieve import RequestContext

FALLBACK = "extractive"


async def moderate_question(context: RequestContext) -> RequestContext:
    """Return the request, without language models if its question could not be checked.

    Raises Moderated for a question that is flagged.
    """
    moderator, trace = context.parts.moderator, context.trace
    if moderator is None:
        return context
    history = (text for turn in context.request.history for text in (turn.question, turn.answer))
    text = "\n".join((context.request.question, *history))
    verdict = await trace.attempt(
        "moderate", moderator.check(text), otherwise=None, fallback=FALLBACK
    )
    if verdict is None:
        return replace(context, parts=replace(context.parts, generator=None, small=None))
    if verdict:
        raise Moderated(f"This question is not answered here: it was flagged ({verdict}).")
    return context


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
            "moderate", moderator.check(answer.text), otherwise=None, fallback=FALLBACK
        )
        if verdict:
            trace.note("generate", reason="moderated", fallback=FALLBACK)
        if verdict != "":
            answer = replace(extractive, degraded=trace.degraded)
            held = whole_answer_events(answer)
    for event in held:
        yield event
    yield answer
