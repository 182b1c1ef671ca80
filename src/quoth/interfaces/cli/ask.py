"""Asking on the command line: the events of one answer, for a person or a program."""

from __future__ import annotations

from collections.abc import AsyncIterator

from rich.text import Text

from quoth.core.events import AnswerCompleted, Event
from quoth.core.types import Answer
from quoth.interfaces.cli.render import answer_sources, answer_text
from quoth.interfaces.cli.session import DONE, FAILED, CliSession, engine_of
from quoth.interfaces.cli.stream_view import Watching
from quoth.pipeline.retrieve import Request
from quoth.text.analyzer import detect_language
from quoth.text.json_codec import to_json


async def ask_question(session: CliSession, request: Request, *, stream: bool | None) -> int:
    """Answer one question and show it; return the exit code, 1 where nothing is cited.

    A program gets one object, or with --stream its events.
    """
    async with engine_of(session) as engine:
        events = engine.stream(request)
        answer = await show_answer(session, events, question=request.question, stream=stream)
    return DONE if answer.citations else FAILED


async def show_answer(
    session: CliSession, events: AsyncIterator[Event], *, question: str, stream: bool | None
) -> Answer:
    """Show the events of one answer as they come, and give the answer.

    A person at a terminal sees it as it comes, unless ``stream`` is false, and once more where
    the check changed it.
    """
    if session.json:
        return await _put_answer(session, events, stream=bool(stream))
    answer: Answer | None = None
    language = detect_language(question, among=("en", "fr"), fallback="en")
    with Watching(session, language=language) as watching:
        async for event in events:
            if session.out.is_terminal and stream is not False:
                watching.see(event)
            if isinstance(event, AnswerCompleted):
                answer = event.answer
    assert answer is not None
    if watching.shown.strip() != answer.text.strip():
        if watching.shown:
            session.out.print(Text("\nThe answer that stands:", style="dim"))
        answer_text(session, answer)
    answer_sources(session, answer)
    return answer


async def _put_answer(session: CliSession, events: AsyncIterator[Event], *, stream: bool) -> Answer:
    """Write the answer for a program: as one line, or all events, a line each."""
    answer: Answer | None = None
    async for event in events:
        if stream:
            session.put(to_json(event))
        if isinstance(event, AnswerCompleted):
            answer = event.answer
    assert answer is not None
    if not stream:
        session.put(to_json(answer))
    return answer
