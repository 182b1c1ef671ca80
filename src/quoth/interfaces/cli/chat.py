"""A conversation in the terminal: each question is read together with the turns before it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from rich.text import Text

from quoth.core.errors import ConfigError, QuothError
from quoth.core.events import Event, EvidenceFound
from quoth.core.types import Answer, Turn
from quoth.engine import Engine
from quoth.interfaces.cli.ask import show_answer
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    engine_of,
    report,
)
from quoth.pipeline.retrieve import Request

REMEMBERED = 20
"""Turns that are stored; the query analysis and the language model use the newest of them."""
HELP = "/new starts again, /quit ends (or Ctrl-D); Ctrl-C stops an answer."


@dataclass(slots=True)
class Talk:
    """A conversation: what was said so far, and whether all of it could be answered."""

    session: CliSession
    engine: Engine
    choices: Mapping[str, Any]
    filters: tuple[str, ...]
    alone: bool
    """Whether the questions are typed."""
    history: list[Turn] = field(default_factory=list)
    suggested: set[str] = field(default_factory=set)
    name: str = field(default_factory=lambda: uuid4().hex)
    failed: bool = False

    def request(self, question: str) -> Request:
        """Ask a question as part of the conversation."""
        return Request(
            question,
            self.choices,
            self.filters,
            self.session.collections,
            tuple(self.history),
            session=self.name,
        )

    def said(self, question: str, answer: str) -> None:
        """Remember a turn."""
        self.history = [*self.history, Turn(question, answer)][-REMEMBERED:]

    def reset(self) -> None:
        """Forget what was said."""
        self.history.clear()
        self.suggested.clear()


def chat(session: CliSession, *, choices: Mapping[str, Any], filters: tuple[str, ...]) -> int:
    """Answer the lines of standard input, one question each, until it ends.

    With --json every answer is one line of JSON. A question that cannot be answered says why,
    and the conversation goes on; the exit code of a script's questions tells of it. Ctrl-C stops
    an answer, and between answers the conversation.
    """
    # The lines are read between the runs: a thread that waits for a line cannot be stopped.
    with asyncio.Runner() as runner:
        opened = engine_of(session)
        engine = runner.run(opened.__aenter__())
        talk = Talk(session, engine, choices, filters, sys.stdin.isatty())
        try:
            if talk.alone:
                session.say(f"Ask about {_asked(session)}. {HELP}")
            for line in _lines(talk):
                if line == "/new":
                    talk.reset()
                    session.say("A new conversation.")
                elif line.startswith("/"):
                    session.say(HELP)
                elif line:
                    _answered(runner, talk, line)
        finally:
            runner.run(opened.__aexit__(None, None, None))
    return FAILED if talk.failed and not talk.alone else DONE


def _asked(session: CliSession) -> str:
    names = session.collections or (session.settings.collection,)
    return ", ".join(f"'{each}'" for each in names)


def _lines(talk: Talk) -> Iterator[str]:
    """Read the questions until the input or the user ends; those of a script are shown."""
    session = talk.session
    while True:
        try:
            if talk.alone:
                session.err.print("\n> ", end="", highlight=False)
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            line = ""
        if not line and talk.alone:
            session.err.print()
        if not line or line.strip() in ("/quit", "/exit"):
            return
        if not talk.alone and not session.json and line.strip() and not line.startswith("/"):
            session.out.print(Text(f"\n> {line.strip()}", style="bold"), soft_wrap=True)
        yield line.strip()


def _answered(runner: asyncio.Runner, talk: Talk, question: str) -> None:
    """Answer one question unless it is stopped, and remember the turn."""
    seen: list[str] = []
    try:
        answer = runner.run(_answer(talk, question, seen))
    except KeyboardInterrupt:
        talk.session.say("\nStopped.")
        # What follows may be about it all the same.
        talk.said(question, "".join(seen))
    except ConfigError:
        raise
    except QuothError as error:
        report(error, err=talk.session.err, as_json=talk.session.json)
        talk.failed = True
    else:
        talk.said(question, answer.text)


async def _answer(talk: Talk, question: str, seen: list[str]) -> Answer:
    session = talk.session
    async with aclosing(talk.engine.stream(talk.request(question))) as events:
        answer = await show_answer(session, _noted(events, seen), question=question, stream=None)
    if talk.alone and not session.json and not session.quiet:
        new = [each for each in await talk.engine.suggest(answer) if each not in talk.suggested]
        for line in new:
            session.say(f"  → {line}")
        talk.suggested.update(new)
    return answer


async def _noted(
    events: AsyncGenerator[Event, None], seen: list[str]
) -> AsyncGenerator[Event, None]:
    """Pass the events on, noting the sentences that were shown before a model wrote."""
    async for event in events:
        if isinstance(event, EvidenceFound):
            seen.append(event.text)
        yield event
