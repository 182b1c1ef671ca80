"""A conversation in the terminal: each question is read together with the turns before it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import uuid4

from quoth.cli.asking import show_answer
from quoth.cli.run import DONE, Session, engine_of, report
from quoth.engine import Engine
from quoth.errors import ConfigError, QuothError
from quoth.retrieve import Request
from quoth.types import Answer, Turn

REMEMBERED = 20
"""Turns that are kept; the reading and the language model use the newest of them."""
HELP = "/new begins anew, /quit ends (or Ctrl-D); Ctrl-C stops an answer."


def chat(session: Session, *, choices: Mapping[str, Any], filters: tuple[str, ...]) -> int:
    """Answer the lines of standard input, one question each, until it ends.

    With --json every answer is one line of JSON. A question that cannot be answered says why,
    and the conversation goes on; Ctrl-C stops an answer, and between answers the conversation.
    """
    alone = sys.stdin.isatty()
    history: list[Turn] = []
    name = uuid4().hex
    # The lines are read between the runs: a thread that waits for a line cannot be stopped.
    with asyncio.Runner() as runner:
        opened = engine_of(session)
        engine = runner.run(opened.__aenter__())
        try:
            if alone:
                session.say(f"Ask about '{session.settings.collection}'. {HELP}")
            for question in _lines(session, alone=alone):
                if question == "/new":
                    history.clear()
                    session.say("A new conversation.")
                elif question.startswith("/"):
                    session.say(HELP)
                elif question:
                    request = Request(
                        question, choices, filters, session.collections, tuple(history)
                    )
                    answer = _answered(runner, session, engine, replace(request, session=name))
                    if answer is not None:
                        history = [*history, Turn(question, answer.text)][-REMEMBERED:]
        finally:
            runner.run(opened.__aexit__(None, None, None))
    return DONE


def _lines(session: Session, *, alone: bool) -> Iterator[str]:
    """Read the questions until the input ends or somebody quits."""
    while True:
        if alone:
            session.err.print("\n> ", end="", highlight=False)
        line = sys.stdin.readline()
        if not line or line.strip() in ("/quit", "/exit"):
            return
        yield line.strip()


def _answered(
    runner: asyncio.Runner, session: Session, engine: Engine, request: Request
) -> Answer | None:
    """Answer one question; None where it could not be, or was stopped."""
    try:
        return runner.run(_answer(session, engine, request))
    except KeyboardInterrupt:
        session.say("\nStopped.")
    except ConfigError:
        raise
    except QuothError as error:
        report(error, err=session.err, as_json=session.json)
    return None


async def _answer(session: Session, engine: Engine, request: Request) -> Answer:
    async with aclosing(engine.stream(request)) as events:
        answer = await show_answer(session, events, stream=not session.json)
    if not session.json and not session.quiet:
        for line in await engine.suggest(answer):
            session.say(f"  → {line}")
    return answer
