"""Text that a language model wrote, made plain while it streams: no links, tags or hidden signs.

Two passes stand around the reading of markers and Markdown (`markup_scanner`): `Characters`
before it, so that nothing invisible can tear a pattern apart, and `Links` behind it, so that
nothing that the reading put together is a link. Whatever comes out of `Links` holds no address
with a scheme or a path, no ``](``, no ``]:`` and no ``<`` before a letter.

Both give the same text however their input is cut, in linear time, and hold back little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from quoth.answering.prompts import INVISIBLE, without_heads


@dataclass(frozen=True, slots=True)
class Mark:
    """The sources that markers name at one place."""

    numbers: tuple[int, ...]


_LONGEST_ESCAPE = 1100
_ESCAPE = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]P^_X][^\x07\x1b\x9c]{0,1000}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,4}[0-OQ-WYZ\\`-~]"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]{0,1000}(?:\x07|\x1b\\|\x9c)"
)
_INTRODUCERS = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class Characters:
    """Takes out of a stream what nobody sees: escapes, controls, invisible and turning signs."""

    def __init__(self) -> None:
        self._held = ""
        self._last = " "

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Give what is plain so far; ``final`` lets go of what was held back."""
        text = self._held + piece
        self._held = ""
        kept: list[str] = []
        at = 0
        while found := _INTRODUCERS.search(text, at):
            kept.append(text[at : found.start()])
            escape = _ESCAPE.match(text, found.start())
            if escape is None and not final and len(text) - found.start() < _LONGEST_ESCAPE:
                self._held = text[found.start() :]
                return self._clean("".join(kept))
            at = escape.end() if escape else found.end()
        kept.append(text[at:])
        clean = "".join(kept)
        if clean.endswith("\r") and not final:
            self._held, clean = "\r", clean[:-1]
        return self._clean(clean)

    def _clean(self, text: str) -> str:
        if not text:
            return ""
        # The sign before decides whether a joiner spells a word.
        clean = INVISIBLE.sub("", self._last + _BREAKS.sub("\n", text))
        self._last = clean[-1]
        return clean[1:]


_HELD = 240
_ADDRESS = (
    r"(?:https?|ftps?|wss?|javascript|vbscript):(?=[^\s.,;:!?)\]»”]|\.\w)"
    r"|(?<![a-z0-9])(?:mailto|tel|sms|file|view-source|intent|blob):(?=[\w+/.%])"
    r"|(?<![a-z0-9])data:[a-z0-9_.+\-]{0,60}(?:/|[;,](?=\S))"
    r"|(?<![a-z0-9+.\-])[a-z][a-z0-9+.\-]{1,30}:[/\\]{2}"
    r"|:[/\\]{2}(?=\w)"
    r"|(?<![a-z0-9.\-])www\d{0,2}\.(?=\w)"
    r"|(?<![\w:/\\])(?://|\\\\)(?=(?:[a-z0-9\-]{1,63}\.){1,3}[a-z0-9\-]|localhost|\[[0-9a-f:]"
    r"|[a-z0-9\-]{1,63}[/\\:]|xn--)"
    r"|(?<![\w@/\-])(?<!\w\.)(?:[a-z0-9](?:[a-z0-9\-]{0,40}\.)){1,4}[a-z]{2,10}(?::\d{1,5})?"
    r"(?:/|[?\#](?=[\w%=]))"
    r"|(?<![\w@./\-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?/"
)
_SHAPES = rf"(?P<address>(?P<open>[(（]?)(?:{_ADDRESS}))|(?P<link>\])(?=[(:])"
_IN_PROSE = re.compile(rf"{_SHAPES}|(?P<tag><)(?=[a-z/!?|｜])", re.IGNORECASE)
_IN_CODE = re.compile(
    rf"{_SHAPES}|(?P<tag><)(?=/?(?:script|style|img|iframe|svg|object|embed|link|meta|base|form"
    r"|video|audio|source|math|frame|applet|input|button|details|body|html|marquee|a\s"
    r"|[a-z]{1,20}[^<>\n]{0,80}\bon[a-z]{3,20}\s{0,4}=)|[|｜!?])",
    re.IGNORECASE,
)
_RUNNING = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-:/\\?#@_%=,;(（[]<"
    "\u017f\u0130\u0131\u212a"
)
"""The characters of which the beginnings of all shapes are made: what must be held back. The
last four are small or capital forms of ASCII letters where case is ignored."""
_BODY = re.compile(
    r"(?:[.,;:!?'*_~…]{0,8}[^\s<>\"`\])}|，。；：！？、）」』】.,;:!?'*_~…])*", re.UNICODE
)
_CLOSING = ".,;!?)»”…，。；！？）"
_TAIL = re.compile(r"[.,;:!?'*_~…]{1,8}$")


class Links:
    """Takes addresses out of a stream, and breaks what Markdown or HTML would make a link of.

    ``secret``, a hexadecimal number such as the fence of a prompt, is left out, too.
    """

    def __init__(self, *, code: bool = False, secret: str = "") -> None:
        self.cleaned = 0
        self._shapes = _IN_CODE if code else _IN_PROSE
        self._secret = re.compile(re.escape(secret), re.IGNORECASE) if secret else None
        self._text = ""
        self._done = 0
        self._last = " "
        self._marks: list[tuple[int, Mark]] = []
        self._dropping = False
        self._opened = False
        self._out: list[str | Mark] = []

    def feed(self, pieces: Iterable[str | Mark], *, final: bool = False) -> list[str | Mark]:
        """Give what is safe to show, with the marks at their places."""
        for piece in pieces:
            if isinstance(piece, str):
                self._text += piece
            else:
                self._marks.append((len(self._text), piece))
        self._out = []
        while self._drop(final=final) if self._dropping else self._step(final=final):
            pass
        # One sign of what was done stays: the shapes look back as far as that.
        gone = max(0, self._done - 1)
        self._text, self._done = self._text[gone:], self._done - gone
        self._marks = [(at - gone, mark) for at, mark in self._marks]
        return self._out

    def _step(self, *, final: bool) -> bool:
        """Come as far as the next shape; False when more text is needed."""
        text = self._text
        found = self._shapes.search(text, self._done)
        secret = self._secret and self._secret.search(text, self._done)
        if secret and not (found and found.start() <= secret.start()):
            self._show(secret.start())
            self._skip(secret.end())
            self._dropping, self._opened = True, False
            return True
        running = 0 if final else len(text) - len(text.rstrip(_RUNNING))
        if found is None:
            self._show(max(self._done, len(text) - min(running, _HELD)))
            return False
        # Only text that still runs on could make an earlier or another shape of it.
        if running >= len(text) - found.start() and len(text) - found.start() < _HELD:
            self._show(max(self._done, len(text) - min(running, 2 * _HELD)))
            return False
        self._show(found.start())
        if found["address"] is None:
            self._show(found.end())
            self._put(" ")
        else:
            self.cleaned += 1
            self._dropping, self._opened = True, bool(found["open"])
            self._skip(found.end())
        return True

    def _drop(self, *, final: bool) -> bool:
        """Leave out the rest of an address, but not the full stop behind it."""
        body = _BODY.match(self._text, self._done)
        self._skip(body.end() if body else self._done)
        rest = self._text[self._done :]
        if not final and (not rest or _TAIL.fullmatch(rest)):
            return False
        self._dropping = False
        if self._opened and rest[:1] in (")", "）"):
            rest = rest[1:]
            self._skip(self._done + 1)
        if rest and self._last.isspace() and rest[0] in " \t":
            self._skip(self._done + 1)
        elif not self._last.isspace() and not (rest and (rest[0].isspace() or rest[0] in _CLOSING)):
            self._put(" ")
        return True

    def _show(self, end: int) -> None:
        """Give the text up to there, with its marks."""
        while self._marks and self._marks[0][0] <= end:
            at, mark = self._marks.pop(0)
            self._put(self._text[self._done : at])
            self._done = max(self._done, at)
            self._out.append(mark)
        self._put(self._text[self._done : end])
        self._done = max(self._done, end)

    def _skip(self, end: int) -> None:
        """Leave the text out up to there, but not its marks."""
        while self._marks and self._marks[0][0] <= end:
            self._out.append(self._marks.pop(0)[1])
        self._done = max(self._done, end)

    def _put(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._last = text[-1]


_FOOTNOTE = re.compile(r"(?<!\b[^\W\d])\[(\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\]")


_LIVE = re.compile(r"(\](?=[(:\[])|<(?=[A-Za-z/!?|]))")


def plain_quotation(text: str) -> str:
    """Give a sentence of a source as an answer may show it, on one line, word for word.

    Nothing in it is live where text is shown as Markdown or HTML: what would open a link, an
    image or a tag is parted by a blank, and a number in square brackets, which could be taken for
    a mark of the answer's own, gets other brackets. An address stays, as the text that it is.
    """
    clean = " ".join(Characters().feed(text, final=True).split())
    parted = _LIVE.sub(r"\1 ", clean)
    return " ".join(_FOOTNOTE.sub(r"‹\1›", without_heads(parted)).split()) or "…"
