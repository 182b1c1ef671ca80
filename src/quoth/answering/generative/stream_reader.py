"""Incremental parser of a model's answer, sentence by sentence.

Text is buffered to the end of a sentence or of a block. Then its markers are parsed and it is
sanitized, so that a sentence is complete before anything of it is shown. Sentences end where
`quoth.text.sentences` ends them, and also with list items, headings and table rows; one is closed
only when no further text can change it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from quoth.answering.generative.citation_markers import (
    BRACKETS,
    UNFINISHED,
    MarkerReader,
    without_broken_marker,
)
from quoth.answering.generative.overlong import LONGEST, forced_end
from quoth.answering.generative.sanitize import (
    TAG,
    THOUGHT,
    Characters,
    Sanitizer,
    close_gaps,
    collapse_white_space,
    is_beside_line_break,
)
from quoth.text.sentences import _OPENERS, _STOP, _ends

CODE_LIMIT = 4000
"""Maximum characters of code in one piece."""
LOOK_AHEAD = 60
"""Characters after a full stop that `quoth.text.sentences` inspects."""
SPAN_LIMIT = 400
"""Characters within which a bracket, a tag or a code span must end."""
SLICE = 1024
"""Characters parsed at once, so that the buffer stays small."""


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A finished sentence or code block, without markers and sanitized.

    ``lead`` precedes it: white space, line breaks, the bullet of a list. ``numbers`` are the
    sources that it cites; a ``torn`` sentence was not finished by the model. What is before a
    ``restart`` seems to be reasoning.
    """

    lead: str
    text: str
    numbers: tuple[int, ...]
    kind: Literal["sentence", "code", "restart"] = "sentence"
    torn: bool = False


_BULLET = r"(?:[-*+•‣◦▪–—]|\d{1,3}[.)]|\(\d{1,2}\)|[a-z]\)|#{1,6}|>)"
_LEAD = re.compile(rf"\s*(?:{_BULLET}[^\S\n]+){{0,4}}")
_LEAD_MAYBE = re.compile(
    r"(?:[-*+•‣◦▪–—]|\d{1,3}[.)]?|\((?:\d{1,2}\)?)?|[a-z]\)?|#{1,6}|>|`{1,3}|~{1,3})"
)
_NEW_BLOCK = re.compile(rf"{_BULLET}[^\S\n]|\||`{{3}}|~{{3}}")
_HEADING = re.compile(r"\*\*[^*\n]{1,200}\*\*:?|(?s:.*)[:：]\**")
_EVENT = re.compile(
    r"(?P<stop>[.!?…]+)(?:[^\S\n]?»|[\"'”’)\]])*|(?P<wide>[。！？]+[」』”）]*)|(?P<line>\n)"
    rf"|(?P<ticks>`{{1,64}})|(?P<thought>{THOUGHT})|(?P<open>[\[【［〔⟦(（<])"
)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_TARGET = re.compile(r"\((?:[^()\n]|\([^()\n]{0,400}\)){0,400}\)")
_SEPARATOR = re.compile(r"\s*(?:[,;/&+]|(?:and|et)\b)?\s*")
_FENCE = re.compile(r"(`{3,60}|~{3,60})(?![`~])([^\n`]{0,100})(?=\n|\Z)")
_FENCE_END = re.compile(r"[^\S\n]{0,12}([`~]{3,60})[^\S\n]{0,12}\n?\Z")


class _NeedMoreText(Exception):
    """More text is needed to decide how to parse the buffer."""


class AnswerReader:
    """Parses the pieces of a model's answer into sanitized sentences.

    ``known`` are the source numbers in the prompt; markers that name others are removed and counted
    in ``invented``. ``cleaned`` counts removed links, images, tags and addresses. ``secret``, the
    fence of the prompt, is never shown. The result does not depend on how the answer is split into
    pieces.
    """

    def __init__(self, known: Collection[int], *, secret: str = "") -> None:
        self._characters = Characters()
        self._markers = MarkerReader(frozenset(known))
        self._sanitizer = Sanitizer(secret=secret)
        self._text = ""
        self._begin: int | None = None
        self._look = 0
        self._final = False
        self._new_line = True
        self._lead = ""
        self._fence = ""
        self._code = ""
        self._thought = ""
        self._reasoned = False
        self._markers_first: bool | None = None
        self._started = False
        self._out: list[ParsedSentence] = []

    @property
    def invented(self) -> int:
        """Return how many markers named a source that does not exist."""
        return self._markers.invented

    @property
    def cleaned(self) -> int:
        """Return how many links, images, tags and addresses were removed."""
        return self._sanitizer.cleaned

    def feed(self, piece: str) -> list[ParsedSentence]:
        """Parse the next piece; return the finished sentences."""
        self._out = []
        for at in range(0, len(piece), SLICE):
            self._read(self._characters.feed(piece[at : at + SLICE]))
        return self._out

    def close(self) -> list[ParsedSentence]:
        """Return the remaining sentences at the end of the stream."""
        self._out, self._final = [], True
        self._read(self._characters.feed("", final=True))
        return self._out

    def _read(self, text: str) -> None:
        self._text += text
        try:
            while self._text:
                self._step()
        except _NeedMoreText:
            pass
        if self._final and self._fence:
            self._end_code()

    def _step(self) -> None:
        """Parse to the next end of a sentence, or as far as is certain."""
        if self._thought:
            return self._skip_thought()
        if self._fence:
            return self._read_code()
        if self._begin is None:
            return self._find_begin()
        begin = self._begin
        event = _EVENT.search(self._text, self._look)
        at = event.start() if event else len(self._text)
        cut = forced_end(self._text, begin, at)
        if cut:
            return self._close(cut, forced=True)
        if event is None:
            if self._final:
                return self._close(len(self._text))
            self._look = len(self._text)
            raise _NeedMoreText
        if event["thought"]:
            self._begin_thought(event)
        elif event["ticks"] or event["open"]:
            self._look = self._span_end(event)
        else:
            self._end_at(event, begin)
        return None

    def _find_begin(self) -> None:
        """Find the beginning of the sentence, after white space and a bullet on a new line."""
        blanks = len(self._text) - len(self._text.lstrip())
        self._new_line = self._new_line or "\n" in self._text[:blanks]
        lead = _LEAD.match(self._text) if self._new_line else None
        start = lead.end() if lead else blanks
        rest = self._text[start : start + 200]
        if self._final and not rest:
            self._text = ""
        if not rest or (self._new_line and not self._final and _LEAD_MAYBE.fullmatch(rest)):
            raise _NeedMoreText
        if self._new_line and rest.startswith(("```", "~~~")):
            return self._begin_code(start)
        self._begin = self._look = start
        return None

    def _span_end(self, event: re.Match[str]) -> int:
        """Return the end of a code span, a bracket or a tag, which contain no sentence ends."""
        text, at = self._text, event.start()
        if event["ticks"]:
            if event.end() == len(text) and not self._final:
                raise _NeedMoreText
            ticks = event["ticks"]
            found = re.compile(rf"(?<!`){ticks}(?!`)").search(
                text, event.end(), event.end() + SPAN_LIMIT
            )
        else:
            found = (TAG if event["open"] == "<" else BRACKETS).match(text, at)
            if found and event["open"] != "<" and self._markers.marker_in(found) is None:
                linked = event["open"] == "[" and text[found.end() : found.end() + 1] in ("(", "")
                found = found if linked else None
        if found is None or _BLANK_LINE.search(text, at, found.end()):
            self._wait_for_end(at)
            return event.end()
        return self._target_end(found.end())

    def _target_end(self, end: int) -> int:
        """Return the end of the target of a link whose label ends at `end`."""
        if end == len(self._text) and not self._final:
            raise _NeedMoreText
        if not self._text.startswith("](", end - 1):
            return end
        target = _TARGET.match(self._text, end)
        if target is None:
            self._wait_for_end(end)
        return target.end() if target else end

    def _wait_for_end(self, at: int) -> None:
        """Raise if more text could still end the span that begins at `at`."""
        near = len(self._text) - at < SPAN_LIMIT and not _BLANK_LINE.search(self._text, at)
        if near and not self._final:
            raise _NeedMoreText

    def _end_at(self, event: re.Match[str], begin: int) -> None:
        """Close the sentence at a stop or a line break, or continue after it."""
        if event["line"]:
            end, ends = self._line_end(event.start(), begin)
        else:
            end, ends = self._stop_end(event, begin)
        if ends:
            self._close(end)
        else:
            self._look = end

    def _line_end(self, at: int, begin: int) -> tuple[int, bool]:
        """Decide whether a line break ends the sentence: before a list, a blank line."""
        rest = self._text[at:].lstrip()[:12]
        if _BLANK_LINE.match(self._text, at) or (not rest and self._final):
            return self._trail_end(at), True
        after = len(self._text) - len(self._text[at:].lstrip())
        if not rest or (not self._final and _LEAD_MAYBE.fullmatch(rest)):
            raise _NeedMoreText
        line = BRACKETS.sub(
            lambda found: "" if self._markers.marker_in(found) else found[0], self._text[:at]
        )
        line = line[begin:].rstrip()
        heading = "#" in self._text[:begin] or _HEADING.fullmatch(line)
        row = line.rpartition("\n")[2].startswith("|")
        if heading or row or _NEW_BLOCK.match(rest):
            return self._trail_end(at), True
        return after, False

    def _stop_end(self, event: re.Match[str], begin: int) -> tuple[int, bool]:
        """Decide whether a full stop ends the sentence; markers after it belong to it."""
        text = self._text
        if event.end() == len(text) and not self._final:
            raise _NeedMoreText
        end = self._trail_end(event.end())
        if event["wide"]:
            return end, True
        ahead = text[event.end() :] if end == event.end() else f" {text[end:]}"
        stop = _STOP.match(text[: event.end()] + ahead, event.start())
        if stop is None:
            return event.start() + len(event["stop"]), False
        blank = _BLANK_LINE.search(ahead[: 2 * LOOK_AHEAD])
        word = ahead.lstrip().lstrip(_OPENERS)
        sure = len(ahead) >= LOOK_AHEAD or re.search(r"\S\s", word)
        if not (self._final or blank or sure):
            raise _NeedMoreText
        limit = event.end() + blank.start() if blank else len(text) + 1
        ends = _ends(text[: event.end()] + ahead, stop, begin=begin, end=limit, lower=False)
        return end if ends else event.end(), ends

    def _trail_end(self, at: int) -> int:
        """Return the end of the markers and tags after the end of a sentence.

        Markers alone on their line belong to the sentence before, those before other text on a line
        to that text; in an answer that begins with a marker all belong to what follows.
        """
        text, end, line_end = self._text, at, at
        while True:
            start = _SEPARATOR.match(text, end).end()  # type: ignore[union-attr]
            if start == len(text) and not self._final:
                raise _NeedMoreText
            if UNFINISHED.match(text, start) and not self._final:
                raise _NeedMoreText
            tag = TAG.match(text, start)
            found = tag or BRACKETS.match(text, start)
            if found is None:
                opens = text[start : start + 1] in tuple("[【［〔⟦(（<*")
                if opens and not re.match(THOUGHT, text[start:]):
                    self._wait_for_end(start)
                break
            if not tag and (not self._markers.marker_in(found) or self._begins_with_marker()):
                break
            end = self._target_end(found.end())
            if "\n" not in text[at:start]:
                line_end = end
        alone = not text[end:].partition("\n")[0].strip()
        return end if alone else line_end

    def _begins_with_marker(self) -> bool:
        """Return whether the answer puts its markers before the sentences."""
        if self._markers_first is None:
            found = BRACKETS.match(self._text, self._begin or 0)
            return found is not None and self._markers.marker_in(found) is not None
        return self._markers_first

    def _close(self, end: int, *, forced: bool = False) -> None:
        """Sanitize the sentence that ends here, and append it if it has a word."""
        begin = self._begin or 0
        raw = self._text[begin:end]
        if self._markers_first is None:
            self._markers_first = self._begins_with_marker()
        at_end = self._final and end == len(self._text)
        marked, code = self._sanitizer.strip_markup(without_broken_marker(raw) if at_end else raw)
        unmarked, numbers = self._markers.extract(marked)
        text = self._sanitizer.finish(close_gaps(unmarked), code)
        text = collapse_white_space(text).strip()
        self._lead += self._text[:begin]
        if re.search(r"\w", text) and not self._sanitizer.is_emptied(text):
            self._add(text, numbers, "sentence")
        self._lead += " " if forced else ""
        self._text = self._text[end:]
        self._begin, self._new_line = None, False

    def _add(self, text: str, numbers: tuple[int, ...], kind: Literal["sentence", "code"]) -> None:
        lead = collapse_white_space(self._lead) if self._started else self._lead.lstrip()
        lead = re.sub(r"\A +\Z", " ", lead)  # a sentence between may have been left out
        self._out.append(ParsedSentence(lead, text, numbers, kind))
        self._lead, self._started = "", True

    def _begin_thought(self, event: re.Match[str]) -> None:
        """Begin to skip a model's reasoning; a first closing tag may end what came before."""
        at, closes = event.start(), event["thought"].startswith("</")
        restarts = closes and not self._reasoned and is_beside_line_break(event, self._new_line)
        if restarts is None and not self._final:
            raise _NeedMoreText
        self._text = self._text[:at] + self._text[event.end() :]
        self._look = at
        if not closes:
            self._thought = event["thought"].replace("<", "</").rstrip("> \t\n")
        elif restarts:
            self._text = self._text[at:]
            self._out.append(ParsedSentence("", "", (), "restart"))
            self._begin, self._new_line, self._lead = None, True, ""
            self._started, self._markers_first = False, None
        self._reasoned = True

    def _skip_thought(self) -> None:
        """Remove a model's reasoning up to its closing tag."""
        found = re.search(rf"{self._thought}\s*>", self._text[self._look :], re.IGNORECASE)
        if found is None:
            keep = 0 if self._final else 20
            rest = self._text[self._look :]
            self._text = self._text[: self._look] + rest[len(rest) - min(keep, len(rest)) :]
            self._thought = "" if self._final else self._thought
            raise _NeedMoreText
        self._text = self._text[: self._look] + self._text[self._look + found.end() :]
        self._thought = ""

    def _begin_code(self, start: int) -> None:
        found = _FENCE.match(self._text, start)
        if found is None or (found.end() == len(self._text) and not self._final):
            rest = self._text[start : start + 160]
            if len(rest) < 160 and "\n" not in rest and not self._final:
                raise _NeedMoreText
            if found is None:
                self._begin = self._look = start
                return
        assert found is not None
        words = re.sub(r"[^\w+#. -]", "", found[2]).split()
        self._lead += self._text[:start]
        self._fence = found[1][:60]
        self._code = self._fence[0] * 3 + (words[0][:20] if words else "")
        self._text = self._text[found.end() :]

    def _read_code(self) -> None:
        """Parse a line of code, or the end of the block."""
        size = self._text.find("\n", 1) + 1
        if not size:
            if not self._final and len(self._text) < LONGEST:
                raise _NeedMoreText
            size = len(self._text)
        line, self._text = self._text[:size], self._text[size:]
        end = _FENCE_END.fullmatch(line.lstrip("\n"))
        if end is not None and end[1].startswith(self._fence):
            self._text = "\n" * line[1:].count("\n") + self._text
            return self._end_code()
        if len(self._code) + len(line) > CODE_LIMIT - 10:
            self._add_code()
        self._code += self._sanitizer.plain(line, code=True)
        return None

    def _end_code(self) -> None:
        self._code = f"{self._code.rstrip()}\n{self._fence[0] * 3}"
        self._add_code()
        self._fence, self._lead, self._begin, self._new_line = "", "", None, False

    def _add_code(self) -> None:
        self._add(self._code.strip("\n"), (), "code")
        self._lead, self._code = "\n", ""
