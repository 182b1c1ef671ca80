"""Replies to thanks, greetings and the like: one sentence, without a search."""

from __future__ import annotations

from quoth.core.translations import translate
from quoth.core.types import Answer, Counts, Query
from quoth.pipeline.retrieve import RequestContext
from quoth.query.dialogue_act import SMALL_TALK, read_act
from quoth.text.analyzer import detect_language


def small_talk_reply(context: RequestContext) -> Answer | None:
    """Return the reply to a turn that asks for nothing, None for any other."""
    request, act = context.request, read_act(context.request.question)
    if act is None or act.kind not in SMALL_TALK:
        return None
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
