"""Asking on the command line: the events of one answer, for a person or a program."""

from __future__ import annotations

from quoth.backends import backend
from quoth.cli.render import answer_sources, answer_text
from quoth.cli.run import DONE, Session, engine_of
from quoth.codec import to_json
from quoth.events import Done, Token
from quoth.retrieve import Request
from quoth.types import Answer


async def ask_question(
    session: Session,
    request: Request,
    *,
    stream: bool | None,
    llm: str | None,
) -> int:
    """Answer one question and show it; a program gets one object, or with --stream its events."""
    if llm not in (None, "none", "extractive"):
        backend("generator", llm)
    answer: Answer | None = None
    streamed = False
    async with engine_of(session) as engine:
        async for event in engine.stream(request):
            if session.json and stream:
                session.put(to_json(event))
            elif isinstance(event, Token) and stream and session.out.is_terminal:
                session.out.out(event.text, end="", highlight=False)
                streamed = True
            if isinstance(event, Done):
                answer = event.answer
    assert answer is not None
    if session.json:
        if not stream:
            session.put(to_json(answer))
        return DONE
    if streamed:
        session.out.print()
    else:
        answer_text(session, answer)
    answer_sources(session, answer)
    return DONE
