"""Asking on the command line: the events of one answer, for a person or a program."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Self

from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from rich.style import Style
from rich.text import Text

from quoth.core.events import (
    AnswerCompleted,
    Event,
    EvidenceFound,
    SentenceVerified,
    StageStarted,
    TextAdded,
)
from quoth.core.translations import interface_languages
from quoth.core.types import Answer
from quoth.interfaces.cli.render import (
    WIDEST,
    answer_sources,
    answer_text,
    with_links,
    wrap_text,
)
from quoth.interfaces.cli.session import CliSession
from quoth.interfaces.doubt_mark import doubt_mark
from quoth.interfaces.links import answer_page
from quoth.text.json_codec import to_json
from quoth.text.language import detect_query_language

_WORD = re.compile(r"(?<!\s)(\s*)(\S+(?: \[\S*)*)")
"""A word with the marks behind it, which stay on its line."""


class WrappedWriter:
    """Write text to a terminal piece by piece and breaks the lines between words."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._width = min(screen.width, WIDEST)
        self._column = 0
        self._held = ""
        self.link = ""
        """The address that marks link to."""

    def write(self, piece: str) -> None:
        """Write what is whole; the last word waits, for it may go on."""
        self._held += piece
        words = list(_WORD.finditer(self._held))
        for each in words[:-1]:
            self._word(each[1], each[2])
        if words:
            self._held = self._held[words[-1].start() :]

    def mark(self, words: str) -> None:
        """Write a mark behind the text so far, in red."""
        self.end()
        self._word(" ", words, style="red")

    def end(self) -> None:
        """Write what waits."""
        held = _WORD.match(self._held)
        if held:
            self._word(held[1], held[2])
        self._held = ""

    def _word(self, blank: str, word: str, *, style: str = "") -> None:
        wide = cell_len(word)
        if "\n" in blank:
            self._column = len(blank) - blank.rindex("\n") - 1
        elif self._column + len(blank) + wide > self._width:
            blank, self._column = "\n", 0
        else:
            self._column += len(blank)
        self._column += wide
        text = Text(blank + word, style=style)
        if self.link:
            text.highlight_regex(r"\[\d+\]", Style(link=self.link))
        self._screen.print(text, end="", soft_wrap=True)


class Watching:
    """Shows the events of an answer on a terminal; use it with ``with``.

    The verbatim sentences come first, dim; then the model's text as it is written, with marks
    where the check found no support. Without a language model nothing is shown before the end.
    """

    def __init__(self, session: CliSession, *, language: str) -> None:
        self._screen = session.out
        self._settings = session.settings
        self._page: str | None = None
        self._sentences = 0
        self._quiet = session.quiet
        self._language = language
        self._flow = WrappedWriter(session.out)
        self._waiting: Status | None = None
        self._evidence: EvidenceFound | None = None
        self._stands = True
        self._checked = 0
        self.shown = ""

    def see(self, event: Event) -> None:
        """Show an event, as far as there is something to see."""
        if isinstance(event, StageStarted):
            self._page = self._page or answer_page(self._settings, event.query_id)
            self._link_marks()
        elif isinstance(event, EvidenceFound):
            self._evidence = event
            linked = with_links(event.text, event.sentences, page=self._page)
            linked.stylize("dim")
            text = wrap_text(self._screen, linked)
            self._screen.print(text, "", sep="\n", soft_wrap=True)
            if not self._quiet:
                said = Text("The language model is reading …", style="dim")
                self._waiting = self._screen.status(said)
                self._waiting.start()
        elif isinstance(event, TextAdded) and self._evidence is not None:
            self._token(event.text, self._evidence)
        elif isinstance(event, SentenceVerified):
            # Where a sentence is shown only after its check, one without support never was.
            doubt = doubt_mark(event, self._language)
            if doubt and self.shown[self._checked :].strip():
                self._flow.mark(doubt)
            self._checked = len(self.shown)
            self._flow.end()
            self._sentences += event.kept
            self._link_marks()

    def _link_marks(self) -> None:
        """Let the marks of the sentence that is written link to it."""
        if self._page:
            self._flow.link = f"{self._page}#s{self._sentences + 1}"

    def _token(self, text: str, evidence: EvidenceFound) -> None:
        whole = self.shown + text
        if self._stands and not evidence.text.startswith(whole):
            # The text began as the evidence, which is on the screen, and goes on differently.
            self._stands, text = False, whole
        if not self._stands:
            self._rest()
            self._flow.write(text)
        self.shown = whole

    def _rest(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._rest()
        if self._stands and self._evidence is not None and self.shown != self._evidence.text:
            self._flow.write(self.shown)
            self._stands = False
        self._flow.end()
        if self.shown and not self._stands:
            self._screen.print()


async def show_answer(
    session: CliSession, events: AsyncIterator[Event], *, question: str, stream: bool | None
) -> Answer:
    """Show the events of one answer as they come, and give the answer.

    A person at a terminal sees it as it comes, unless ``stream`` is false, and once more where
    the check changed it.
    """
    watching: Watching | None = None
    if session.out.is_terminal and stream is not False and not session.json:
        language = detect_query_language(question, among=interface_languages(), fallback="en")
        watching = Watching(session, language=language)
    with watching or nullcontext():
        async for event in events:
            if watching is not None:
                watching.see(event)
            elif session.json and stream:
                session.put(to_json(event))
            if isinstance(event, AnswerCompleted):
                answer = event.answer
    if session.json:
        if not stream:
            session.put(to_json(answer))
        return answer
    shown = "" if watching is None else watching.shown
    if shown.strip() != answer.text.strip():
        if shown:
            session.out.print(Text("\nThe answer that stands:", style="dim"))
        answer_text(session, answer)
    answer_sources(session, answer)
    return answer
