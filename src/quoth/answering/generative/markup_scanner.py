"""Read the Markdown, HTML and markers of a stream: what is left is prose, marks and code.

Every decision is made at one sign with a bounded look ahead (`markup_tokens`) and never
taken back, so that the result is the same however the stream is cut, and takes time in
proportion to its length. What cannot be decided yet is held back.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from quoth.answering.generative.citation_markers import CitationMarker, check
from quoth.answering.generative.markup_tokens import (
    MarkupMatch,
    NeedMoreInput,
    bracket,
    code_in_line,
    round_bracket,
    tag,
)
from quoth.answering.generative.sanitize import Mark


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of a block of code; ``opens`` and ``ends`` say where the block does."""

    text: str
    opens: bool = False
    ends: bool = False


Atom = str | Mark | Code

_TOKEN = re.compile(
    r"(?P<tick>`+)|(?P<tilde>~{3,})"
    r"|(?P<square>\*{0,3}!?\\?[\[【［〔⟦])|(?P<round>[(（])|(?P<angle><)"
)
_UNSURE = re.compile(r"(?:\*{0,3}!?\\?|~{1,3})$")
_INFO = re.compile(r"[^\n`]{0,100}(?=\n)")
_CODE_END = re.compile(r"[^\S\n]{0,12}([`~]{3,60})[^\S\n]{0,12}(?=\n|$)")
_CODE_END_MAYBE = re.compile(r"[^\S\n]{0,12}[`~]{0,60}[^\S\n]{0,12}")
_INDEXED = re.compile(r"(?:^|[\W\d_])[^\W\d]$|_$")


class Scanner:
    """Turns a stream of characters into prose, marks and code.

    ``invented`` counts the sources that markers name and that are not among the known ones;
    ``cleaned`` what was taken out of Markdown and HTML.
    """

    def __init__(self, known: Collection[int]) -> None:
        self.invented = 0
        self.cleaned = 0
        self._known = known
        self._text = ""
        self._tail = ""
        self._new_line = True
        self._fence = ""
        self._until: re.Pattern[str] | None = None
        self._worded = False
        self._prose = Prose()
        self._out: list[Atom] = []

    def feed(self, text: str, *, final: bool = False) -> list[Atom]:
        """Read on; ``final`` says that nothing comes behind."""
        self._text += text
        self._out = []
        try:
            while self._text:
                self._step(final=final)
        except NeedMoreInput:
            pass
        if final and self._fence:
            self._end_code("" if self._new_line else "\n")
        self._out += self._prose.take(final=final)
        return self._out

    def _step(self, *, final: bool) -> None:
        """Read as far as the next decision; raises `More` where it needs more text."""
        if self._until is not None:
            return self._forget(self._until, final=final)
        if self._fence:
            return self._code(final=final)
        found = _TOKEN.search(self._text)
        if found is None:
            unsure = None if final else _UNSURE.search(self._text, max(0, len(self._text) - 8))
            return self._show(len(self._text) - (len(unsure.group()) if unsure else 0))
        if found.start():
            return self._show(found.start())
        if found["tick"] or found["tilde"]:
            return self._ticks(found.group(), final=final)
        if found["square"]:
            indexing = _INDEXED.search(self._tail) is not None
            new_line = self._new_line
            shape = bracket(self._text, final=final, new_line=new_line, indexing=indexing)
        elif found["round"]:
            shape = round_bracket(self._text, final=final)
        else:
            shape = tag(self._text, final=final)
        self._apply(shape)

    def _apply(self, found: MarkupMatch) -> None:
        self._show(found.size, found.shown)
        self._text = found.again + self._text
        self._until = found.until
        self.cleaned += found.cleaned
        if found.marker is not None:
            self._mark(found.marker)

    def _show(self, size: int, shown: str | None = None) -> None:
        """Give the next characters as prose, or what stands in their place."""
        if not size:
            raise NeedMoreInput
        text = self._text[:size] if shown is None else shown
        self._text = self._text[size:]
        if text:
            self._prose.text(text)
            self._tail = (self._tail + text)[-3:]
            _, line, rest = text.rpartition("\n")
            self._new_line = not rest.strip() and (bool(line) or self._new_line)

    def _mark(self, marker: CitationMarker) -> None:
        checked = check(marker, self._known)
        self.invented += checked.invented
        # A number without the word may be a footnote that was copied with its text.
        cites = checked.numbers and not (marker.bare and self._worded)
        self._worded = self._worded or not marker.bare
        self._prose.mark(checked.numbers if cites else ())

    def _forget(self, until: re.Pattern[str], *, final: bool) -> None:
        """Leave out all up to there, however long it is."""
        found = until.search(self._text)
        if found is None:
            self._text = "" if final else self._text[-20:]
            raise NeedMoreInput
        self._text = self._text[found.end() :]
        self._until = None

    # --- code ---------------------------------------------------------------------------------

    def _ticks(self, run: str, *, final: bool) -> None:
        if len(run) == len(self._text) and not final and len(run) < 64:
            raise NeedMoreInput
        if len(run) >= 3 and self._new_line:
            info = _INFO.match(self._text, len(run))
            rest = self._text[len(run) :]
            if info is not None or (final and len(rest) <= 100 and "`" not in rest):
                return self._begin_code(run, info.group() if info else rest)
            if not final and len(rest) <= 100 and "`" not in rest:
                raise NeedMoreInput
        if run[0] == "~":
            return self._show(len(run))
        self._apply(code_in_line(self._text, final=final))

    def _begin_code(self, run: str, info: str) -> None:
        self._text = self._text[len(run) + len(info) :]
        self._fence = run[:60]
        self._out += self._prose.take(final=True)
        words = re.sub(r"[^\w+#. -]", "", info).split()
        language = words[0][:20] if words else ""
        self._out.append(Code(f"{self._prose.restart()}{run[0] * 3}{language}", opens=True))
        self._new_line = False

    def _code(self, *, final: bool) -> None:
        """Give a line of code, or the end of the block."""
        if self._new_line:
            end = _CODE_END.match(self._text)
            sure = end is not None and (final or end.end() < len(self._text))
            if end is not None and sure and end[1].startswith(self._fence):
                self._text = self._text[end.end() :]
                return self._end_code("")
            if not final and _CODE_END_MAYBE.fullmatch(self._text):
                raise NeedMoreInput
        size = self._text.find("\n") + 1 or len(self._text)
        self._new_line = self._text[size - 1] == "\n"
        self._out.append(Code(self._text[:size]))
        self._text = self._text[size:]

    def _end_code(self, before: str) -> None:
        self._out.append(Code(f"{before}{self._fence[0] * 3}", ends=True))
        self._fence, self._new_line, self._tail = "", False, ""


_BLANKS = re.compile(r"\s+")
_CLOSING = frozenset(".,;:!?…)]}»”’。，；：！？、）」』")
_FRENCH = frozenset("!?;:»")
"""Signs that may have a blank before them."""
_STOPPED = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


class Prose:
    """Puts prose and marks together: a marker goes, and so do the blanks that only it needed."""

    def __init__(self) -> None:
        self._out: list[Atom] = []
        self._tail = ""
        self._before = ""
        self._after = ""
        self._marked = False
        self._numbers: dict[int, None] = {}
        self._marked_first = False

    def text(self, text: str) -> None:
        """Go on with this."""
        if self._marked:
            stripped = text.lstrip()
            self._after = _even(self._after + text[: len(text) - len(stripped)])
            if not stripped:
                return
            text = self._settle(stripped)
        text = self._before + text if self._tail else text.lstrip()
        body = text.rstrip()
        self._before = _even(text[len(body) :])
        self._put(_BLANKS.sub(lambda found: _even(found.group()), body))

    def mark(self, numbers: tuple[int, ...]) -> None:
        """Sources were named here."""
        self._marked = True
        self._numbers.update(dict.fromkeys(numbers))

    def take(self, *, final: bool = False) -> list[Atom]:
        """Give what is decided so far; blanks at the end are not."""
        if final:
            self._cite()
            self._before = _even(self._before + self._after)
            self._after = ""
        given, self._out = self._out, []
        return given

    def restart(self) -> str:
        """Begin anew behind something that is no prose; gives the blanks before it."""
        blanks, self._before = self._before, ""
        self._tail = "\n"
        return blanks

    def _settle(self, text: str) -> str:
        """Decide what the marks that wait belong to, and the blanks around them."""
        before, after, first = self._before, self._after, not self._tail.strip()
        on_line = "\n" not in after
        if first and on_line:
            self._marked_first = self._marked_first or not self._tail
        stopped = _STOPPED.search(self._tail) is not None
        opens = on_line and ("\n" in before or first or (self._marked_first and stopped))
        if text[0] in _CLOSING and (first or (text[0] == "." and stopped)):
            text = text[1:]
            gap = "" if first else after
        elif "\n" in before or "\n" in after:
            gap = max(before, after, key=lambda blanks: blanks.count("\n"))
        elif text[0] in _CLOSING:
            gap = after if text[0] in _FRENCH else ""
        else:
            gap = "" if first else after or before or " "
        if not opens:
            self._cite()
        self._put(_even(gap) if text else "")
        if opens:
            self._cite()
        self._before, self._after = "" if text else gap, ""
        return text

    def _cite(self) -> None:
        """Give the mark of all that was named here."""
        if self._numbers:
            self._out.append(Mark(tuple(self._numbers)))
        self._marked, self._numbers = False, {}

    def _put(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._tail = (self._tail + text)[-6:]


def _even(blanks: str) -> str:
    """Shorten blanks: at most one empty line, and at most eight blanks on a line."""
    lines = blanks.count("\n")
    indent = blanks.rpartition("\n")[2][:8]
    return "\n" * min(lines, 2) + indent
