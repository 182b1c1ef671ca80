"""Asking on the command line: the events of one answer, for a person or a program."""

from __future__ import annotations

from collections.abc import AsyncIterator

from rich.text import Text

from quoth.cli.render import answer_sources, answer_text
from quoth.cli.run import DONE, Session, engine_of
from quoth.codec import to_json
from quoth.events import Done, Event, Evidence, Token, Verified
from quoth.retrieve import Request
from quoth.types import Answer


async def ask_question(session: Session, request: Request, *, stream: bool | None) -> int:
    """Answer one question and show it; a program gets one object, or with --stream its events."""
    async with engine_of(session) as engine:
        await show_answer(session, engine.stream(request), stream=stream)
    return DONE


async def show_answer(
    session: Session, events: AsyncIterator[Event], *, stream: bool | None
) -> Answer:
    """Show the events of one answer as they come, and give the answer.

    On a terminal that streams, a person sees the verbatim sentences first while a language model
    writes, then its text, and the answer once more where the check changed it.
    """
    live = bool(stream) and session.out.is_terminal and not session.json
    shown = ""
    answer: Answer | None = None
    async for event in events:
        if session.json and stream:
            session.put(to_json(event))
        elif live and isinstance(event, Evidence):
            session.out.print(Text(f"{event.text}\n", style="dim"))
        elif live and isinstance(event, Token):
            session.out.out(event.text, end="", highlight=False)
            shown += event.text
        elif live and isinstance(event, Verified) and event.support == "unsupported":
            mark = " [?]" if event.kept else " [left out]"
            session.out.print(Text(mark, style="red"), end="")
        if isinstance(event, Done):
            answer = event.answer
    assert answer is not None
    if session.json:
        if not stream:
            session.put(to_json(answer))
        return answer
    if live:
        session.out.print()
    if shown.strip() != answer.text.strip():
        answer_text(session, answer)
    answer_sources(session, answer)
    return answer
