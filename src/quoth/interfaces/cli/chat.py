"""A conversation in the terminal: each question is read together with the turns before it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from rich.text import Text

from quoth.core.errors import ConfigError, QuothError
from quoth.core.events import Event, EvidenceFound
from quoth.core.extras import is_installed
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
from quoth.text.json_codec import to_json

REMEMBERED = 20
"""Turns that are stored; the query analysis and the language model use the newest of them."""
HELP = (
    "/show N shows the text around citation N, /open N opens it; /new starts again, /help shows "
    "this, /exit ends (or /quit, Ctrl-D); Ctrl-C stops an answer."
)
COMMANDS = ("/help", "/show ", "/open ", "/new", "/exit", "/quit")
SEARCHED = 100
"""Newest questions among which the last conversation is looked for."""
TYPED = 1000
"""Lines of typed questions that are kept."""


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
    last: Answer | None = None

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
        self.name = uuid4().hex
        self.last = None
        self.suggested.clear()


def chat(
    session: CliSession,
    *,
    choices: Mapping[str, Any],
    filters: tuple[str, ...],
    resumed: bool,
) -> int:
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
            if resumed:
                resume(talk)
            with line_editing(session) as edited:
                for line in _lines(talk, edited=edited):
                    if line.startswith("/"):
                        _obey(talk, line)
                    elif line:
                        _answered(runner, talk, line)
        finally:
            runner.run(opened.__aexit__(None, None, None))
    return FAILED if talk.failed and not talk.alone else DONE


def _asked(session: CliSession) -> str:
    names = session.collections or (session.settings.collection,)
    return ", ".join(f"'{each}'" for each in names)


def resume(talk: Talk) -> None:
    """Go on with the last conversation, where its questions are stored."""
    from quoth.pipeline.record_codec import load_record

    catalogue = talk.engine.parts.catalogue
    turns: list[Turn] = []
    name = ""
    for each in catalogue.asked(limit=SEARCHED):
        record = load_record(catalogue, each.query_id)
        name = name or record.request.session
        if name and record.request.session == name and record.request.question:
            turns.append(Turn(record.request.question, record.answer.text))
            talk.last = talk.last or record.answer
    if not turns:
        talk.session.say("No earlier conversation is stored; this is a new one.")
        return
    talk.name, talk.history = name, turns[:REMEMBERED][::-1]
    talk.session.say(f"Continuing after: {turns[0].question}")


def _obey(talk: Talk, line: str) -> None:
    """Do what a line that begins with a slash says."""
    from quoth.interfaces.cli.show import open_excerpt, show_excerpt, warn_of_change
    from quoth.pipeline.excerpt import cited_excerpt

    session, (word, _, number) = talk.session, line.partition(" ")
    if word == "/new":
        talk.reset()
        session.say("A new conversation.")
    elif word in ("/show", "/open"):
        cited = () if talk.last is None else talk.last.citations
        found = next((each for each in cited if str(each.number) == number.strip()), None)
        if found is None:
            session.say(f"{word} takes the number of a citation of the last answer.")
            return
        excerpt = cited_excerpt(talk.engine.parts.catalogue, to_json(found))
        if word == "/show":
            warn_of_change(session, excerpt)
            session.show(excerpt, show_excerpt)
        else:
            open_excerpt(session, excerpt, only_print=False)
    else:
        session.say(HELP)


@contextmanager
def line_editing(session: CliSession) -> Iterator[bool]:
    """Edit typed lines, with the lines of earlier conversations; yields whether this is possible.

    They are kept in the library's folder, where its history keeps questions.
    """
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not session.json
    if not at_terminal or not is_installed("readline"):
        yield False
        return
    import readline

    file = session.settings.home / "chat_history"
    kept = session.settings.history == "full"
    readline.set_completer_delims("")
    readline.set_completer(
        lambda text, at: (
            dict(enumerate(each for each in COMMANDS if each.startswith(text))).get(at)
            if text
            else None
        )
    )
    readline.parse_and_bind("tab: complete")
    readline.parse_and_bind("set enable-bracketed-paste off")
    readline.set_history_length(TYPED)
    if kept and file.is_file():
        readline.read_history_file(file)
    try:
        yield True
    finally:
        if kept and session.settings.home.is_dir():
            readline.write_history_file(file)


def _typed(*, edited: bool) -> str:
    """Read one line as typed, with its end; empty where the input ends."""
    if not edited:
        return sys.stdin.readline()
    try:
        return f"{input('> ')}\n"
    except EOFError:
        return ""


def _lines(talk: Talk, *, edited: bool) -> Iterator[str]:
    """Read the questions until the input or the user ends; those of a script are shown."""
    session = talk.session
    while True:
        try:
            if talk.alone:
                session.err.print("" if edited else "\n> ", end="\n" * edited, highlight=False)
            line = _typed(edited=edited)
        except KeyboardInterrupt:
            line = ""
        if not line and talk.alone:
            session.err.print()
        if not line or line.strip() in ("/quit", "/exit"):
            return
        if not talk.alone and not session.json and line.strip() and not line.startswith("/"):
            session.out.print_line(Text(f"\n> {line.strip()}", style="bold"))
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
        talk.last = answer


async def _answer(talk: Talk, question: str, seen: list[str]) -> Answer:
    session = talk.session
    async with aclosing(talk.engine.stream(talk.request(question))) as events:
        answer = await show_answer(session, _noted(events, seen), question=question, stream=None)
    if talk.alone and not session.json and not session.quiet:
        suggested = await talk.engine.suggest(answer, history=talk.history)
        new = [each for each in suggested if each not in talk.suggested]
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
