"""Read what a language model writes, sentence by sentence, while it writes.

The path of a piece: `plain.Characters` (nothing invisible) → `scan.Scanner` (Markdown, HTML,
markers) → `plain.Links` (no addresses, sanitised last) → `AnswerReader` (sentences). Sentences
end where `quoth.text.sentences` ends them, and besides with items of lists, headings and rows of
tables; one is closed only when nothing that may follow can change it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from quoth.answering.generative.markup_scanner import Code, Scanner
from quoth.answering.generative.sanitize import Characters, Links, Mark
from quoth.text.sentences import _OPENERS, _STOP, _ends

SLICE = 1024
"""Characters that are read at once; what is held back is never much longer."""
SOFT, LONG, LONGEST = 600, 750, 900
"""Characters from which a sentence that does not end is closed: behind a clause, behind a word,
anywhere."""
CODE_PIECE = 4000
"""Characters of code that one piece has at most."""
LOOK_AHEAD = 60
"""Characters behind a stop that `quoth.text.sentences` looks at."""


@dataclass(frozen=True, slots=True)
class SafeText:
    """The next piece of the answer, without markers and links: safe to show, provisional."""

    text: str


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A finished sentence, or a block of code, and the sources that it names.

    ``lead`` is what stands before it: white space, line breaks, the bullet of a list. The pieces
    of `Text` since the one before, joined, are ``lead + text``.
    """

    lead: str
    text: str
    numbers: tuple[int, ...]
    kind: Literal["sentence", "code"]
    torn: bool = False


Part = SafeText | ParsedSentence

_BULLET = r"(?:[-*+•‣◦▪–—]|\d{1,3}[.)]|[a-z]\)|#{1,6}|>)"
_LEAD = re.compile(rf"\s*(?:{_BULLET}[^\S\n]+){{0,4}}")
_LEAD_MAYBE = re.compile(r"(?:[-*+•‣◦▪–—]|\d{1,3}[.)]?|[a-z]\)?|#{1,6}|>)")
_ITEM = re.compile(rf"{_BULLET}[^\S\n]|\|")
_HEADING = re.compile(r"\*\*[^*\n]{1,200}\*\*:?|(?s:.*)[:：]\**")
_SPACE = re.compile(r"\s*")
_EVENT = re.compile(
    r"(?P<mark>[.!?…]+)(?:[^\S\n]?»|[\"'”’)\]])*|(?P<wide>[。！？]+[」』”）]*)|(?P<line>\n)|(?P<tick>`)"
)
_CLAUSE = re.compile(r"[,;:)—–]\s")
_BLANK = re.compile(r"\s")
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")


class AnswerReader:
    """Turns the pieces of a model's answer into text to show and sentences to check.

    ``known`` are the numbers of the sources that the model was shown. ``invented`` counts the
    sources that it named besides: they are taken out. ``cleaned`` counts the links, images and
    tags taken out. ``secret``, the fence of the prompt, is never shown. The result does not
    depend on how the answer is cut into pieces.
    """

    def __init__(self, known: Collection[int], *, secret: str = "") -> None:
        self._characters = Characters()
        self._scanner = Scanner(frozenset(known))
        self._prose = Links(secret=secret)
        self._code_links = Links(code=True, secret=secret)
        self._cleaned = 0
        self._sentences = _Sentences()
        self._code = _Code()

    @property
    def invented(self) -> int:
        """How many markers named a source that the model never saw."""
        return self._scanner.invented

    @property
    def cleaned(self) -> int:
        """How many links, images, tags and chat tokens were taken out."""
        links = self._prose.cleaned + self._code_links.cleaned
        return self._scanner.cleaned + links

    def feed(self, piece: str) -> list[Part]:
        """Read the next piece; gives what can be shown, and the sentences that are finished."""
        parts: list[Part] = []
        for at in range(0, len(piece), SLICE):
            clean = self._characters.feed(piece[at : at + SLICE])
            parts += self._read(clean, final=False)
        return _joined(parts)

    def close(self) -> list[Part]:
        """Give the rest: there are no more pieces."""
        parts = self._read(self._characters.feed("", final=True), final=True)
        parts += self._finish_prose()
        return _joined(parts)

    def _read(self, text: str, *, final: bool) -> list[Part]:
        parts: list[Part] = []
        prose: list[str | Mark] = []
        for atom in self._scanner.feed(text, final=final):
            if not isinstance(atom, Code):
                prose.append(atom)
                continue
            if atom.opens:
                parts += self._sentences.feed(self._prose.feed(prose), final=False)
                parts += self._finish_prose()
                prose = []
            shown = self._code_links.feed([atom.text], final=atom.ends)
            parts += self._code.feed(shown, ends=atom.ends)
        parts += self._sentences.feed(self._prose.feed(prose), final=False)
        return parts

    def _finish_prose(self) -> list[Part]:
        return self._sentences.feed(self._prose.feed((), final=True), final=True)


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Join the pieces of text between two sentences."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, SafeText) and joined and isinstance(joined[-1], SafeText):
            joined[-1] = SafeText(joined[-1].text + part.text)
        else:
            joined.append(part)
    return joined


class _Sentences:
    """Finds the ends of sentences in prose that is still being written.

    ``_text`` begins behind the last sentence; ``_begin`` is where this one begins, None while its
    bullet may go on; ``_look`` is where the next end is looked for; ``_sent`` what was shown.
    """

    def __init__(self) -> None:
        self._text = ""
        self._marks: list[tuple[int, Mark]] = []
        self._parts: list[Part] = []
        self._from = 0
        self._begin: int | None = None
        self._look = 0
        self._sent = 0
        self._new_line = True

    def feed(self, pieces: Iterable[str | Mark], *, final: bool) -> list[Part]:
        """Read on; ``final`` closes what is open."""
        for piece in pieces:
            if isinstance(piece, str):
                self._text += piece
            else:
                self._marks.append((len(self._text), piece))
        self._parts = []
        while self._step(final=final):
            pass
        if final:
            self._end()
        return self._parts

    def _end(self) -> None:
        """Close the last sentence; blanks and signs without a word behind it are nothing."""
        if self._begin is not None:
            self._close(len(self._text.rstrip()), forced=self._sent > 0)
        self._text, self._marks = "", []
        self._from, self._begin, self._look, self._sent, self._new_line = 0, None, 0, 0, True

    def _step(self, *, final: bool) -> bool:
        """Find one more end or certainty; False when more text is needed."""
        if self._begin is None and not self._find_begin(final=final):
            return False
        assert self._begin is not None
        event = _EVENT.search(self._text, self._look)
        at = event.start() if event else len(self._text)
        cut = self._cut(at)
        if cut:
            self._close(cut, forced=True)
            return True
        if event is None:
            self._show(len(self._text))
            return False
        if event["tick"]:
            return self._code(at, final=final)
        decided = self._line(at, final=final) if event["line"] else self._stop(event, final=final)
        if decided is None:
            # Quotation marks behind a stop are part of it only when a blank follows them.
            self._show(at + len(event["mark"] or ""))
            return False
        end, ends = decided
        if ends:
            self._close(end)
        else:
            self._look = end
        return True

    def _find_begin(self, *, final: bool) -> bool:
        """Find where the sentence begins, behind blanks and a bullet at the start of a line."""
        blanks = _SPACE.match(self._text, self._from)
        start = blanks.end() if blanks else self._from
        new_line = self._new_line or "\n" in self._text[self._from : start]
        lead = _LEAD.match(self._text, self._from) if new_line else None
        start = lead.end() if lead else start
        rest = self._text[start:]
        if not rest or (new_line and not final and _LEAD_MAYBE.fullmatch(rest)):
            return False
        self._begin = self._look = start
        return True

    def _cut(self, before: int) -> int:
        """Give where a sentence that does not end is closed, if that is before the next event."""
        begin = self._begin or 0
        for pattern, low, high in ((_CLAUSE, SOFT, LONG), (_BLANK, LONG, LONGEST)):
            if before > begin + low:
                found = pattern.search(self._text, begin + low, min(before, begin + high))
                if found is not None:
                    return found.end() - 1 if pattern is _CLAUSE else found.start()
        return begin + LONGEST if before > begin + LONGEST else 0

    def _code(self, at: int, *, final: bool) -> bool:
        """Go on behind code within a line: it has no sentences."""
        end = self._text.find("`", at + 1)
        if end < 0 and not final and len(self._text) - at < 2 * LOOK_AHEAD:
            self._show(len(self._text))
            return False
        self._look = end + 1 if end >= 0 else at + 1
        return True

    def _line(self, at: int, *, final: bool) -> tuple[int, bool] | None:
        """Whether a line break ends the sentence: before an item, a heading, an empty line."""
        blanks = _SPACE.match(self._text, at)
        after = blanks.end() if blanks else at
        rest = self._text[after : after + 12]
        empty = _EMPTY_LINE.match(self._text, at)
        if empty or (not rest and final):
            return at, True
        if not rest or (not final and _LEAD_MAYBE.fullmatch(rest)):
            return None
        line = self._text[self._begin or 0 : at]
        heading = "#" in self._text[self._from : self._begin] or _HEADING.fullmatch(line)
        row = line.rpartition("\n")[2].startswith("|")
        return (at, True) if heading or row or _ITEM.match(rest) else (after, False)

    def _stop(self, event: re.Match[str], *, final: bool) -> tuple[int, bool] | None:
        """Whether a full stop ends the sentence; None while the text behind it decides."""
        text, end = self._text, event.end()
        if end == len(text):
            return (end, True) if final else None
        if event["wide"]:
            return end, True
        stop = _STOP.match(text, event.start())
        if stop is None:
            return event.start() + len(event["mark"]), False
        empty = _EMPTY_LINE.search(text, stop.end(), stop.end() + LOOK_AHEAD)
        most = empty.start() if empty else len(text)
        if not final and empty is None and not _sure(text[stop.end() : stop.end() + LOOK_AHEAD]):
            return None
        begin = self._begin or 0
        return stop.end(), _ends(text, stop, begin=begin, end=most, lower=False)

    def _show(self, end: int) -> None:
        """Show the text up to there, but for blanks that may stand between two sentences."""
        end = len(self._text[:end].rstrip())
        if end > self._sent and re.search(r"\w", self._text[self._begin or 0 : end]):
            self._parts.append(SafeText(self._text[self._sent : end]))
            self._sent = end

    def _close(self, end: int, *, forced: bool = False) -> None:
        """End the sentence here; signs without a word become the lead of the next one."""
        begin = self._begin or 0
        text = self._text[begin:end]
        self._new_line = False
        if not re.search(r"\w", text) and not (forced and text and end - begin >= LOOK_AHEAD):
            self._from, self._begin = end, None
            return
        if end > self._sent:
            self._parts.append(SafeText(self._text[self._sent : end]))
        named = [mark for at, mark in self._marks if at <= end]
        numbers = dict.fromkeys(number for mark in named for number in mark.numbers)
        self._parts.append(ParsedSentence(self._text[:begin], text, tuple(numbers), "sentence"))
        self._text = self._text[end:]
        self._marks = [(at - end, mark) for at, mark in self._marks if at > end]
        self._from, self._begin, self._look, self._sent = 0, None, 0, 0


def _sure(ahead: str) -> bool:
    """Whether the text behind a stop is long enough to judge it: a whole word."""
    word = ahead.lstrip().lstrip(_OPENERS)
    return len(ahead) >= LOOK_AHEAD or re.search(r"\S\s", word) is not None


class _Code:
    """Collects a block of code, in pieces where it is long."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, pieces: Iterable[str | Mark], *, ends: bool) -> list[Part]:
        """Show the code, and close it at its end."""
        parts: list[Part] = []
        rest = "".join(piece for piece in pieces if isinstance(piece, str))
        while rest:
            room = CODE_PIECE - len(self._text)
            parts.append(SafeText(rest[:room]))
            self._text, rest = self._text + rest[:room], rest[room:]
            if len(self._text) == CODE_PIECE:
                parts.append(self._closed())
        if ends and self._text:
            parts.append(self._closed())
        return parts

    def _closed(self) -> ParsedSentence:
        text, self._text = self._text, ""
        body = text.lstrip()
        return ParsedSentence(text[: len(text) - len(body)], body, (), "code")
