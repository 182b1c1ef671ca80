"""Reader for transcripts with a time on a line, as programs for meetings and videos export them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import to_plain_text
from quoth.ingest.readers.captions import make_transcript
from quoth.ingest.readers.cue_parsers import Cue, seconds
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.speaker_turns import split_label

MIN_MARKS = 3
MAX_FIRST = 60.0
"""Seconds within which a recording has its first time; verses and programmes begin later.
A part of a recording may, too, where its times have hours, 0 at first, and each has a speaker: the
clock times of chats and minutes are no seconds."""
MAX_LINES = 10
"""Lines to each time, and before the first."""
MIN_WORDS = 3
"""Words to each time; results of a race have fewer."""
MAX_TITLE = 120
MIN_PACE, PACE, MAX_PACE = 8.0, 15.0, 40.0
"""Characters of speech to a second: at least in a part of a recording, in the mean, at most."""

_TIME = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_TIMES = rf"(?P<time>{_TIME})(?:\s*(?:-->|[-–—])\s*{_TIME})?"
_NAME = r"[^\W\d_][^:!?]{0,59}?"
_FORMS = tuple(
    map(
        re.compile,
        (
            rf"[\[(]{_TIMES}[\])](?:\s*[-–—|:])?\s+(?P<words>.+)",
            rf"[\[(]?{_TIMES}[\])]?(?:(?:\s*[-–—|])?\s+(?P<words>(?P<name>{_NAME})(?::\s.*)?))?",
            rf"(?P<speaker>{_NAME})[ \t,|]+[\[(]?{_TIMES}[\])]?(?::\s*(?P<words>.*))?",
        ),
    )
)
"""Lines such as "[0:12] Yes.", "0:12 Ada: Yes.", "0:12" or "Ada Lovelace   0:12"."""
_FIRST_HOUR = re.compile(r"00?:\d{2}:")
_BOLD = re.compile(r"(?<!\S)\*\*(\S.*?)\*\*")
_MARKUP = re.compile(r"#|```|\|")
"""What begins the lines of other texts: headings, code, tables."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A time: the number of its line, the seconds, and what else its line holds."""

    line: int
    at: float
    words: str
    speaker: str | None
    in_first_hour: bool
    """Whether it is written with hours, which are 0."""


def has_timed_lines(text: str) -> bool:
    """Return whether a text is clearly a transcript with times that grow from its beginning."""
    return bool(_marks(_lines(text)))


def read_timed_lines(file: SourceFile) -> ParsedDocument:
    """Read a transcript with a time on the first line of each turn; its first line is its title.

    The end of the recording is estimated from the length of what is said last.
    """
    lines = _lines(file.text)
    marks = _marks(lines)
    title, *before = [line.lstrip("# ") for line in lines[: marks[0].line]] or [""]
    if len(title) > MAX_TITLE or (title and file.meta.title):
        title, before = "", [title, *before]
    follow = [*(mark.line for mark in marks[1:]), len(lines)]
    last = " ".join([marks[-1].words, *lines[marks[-1].line + 1 :]])
    ends = [*(mark.at for mark in marks[1:]), marks[-1].at + len(last) / PACE]
    cues = [
        Cue(mark.at, end, words, speaker)
        for mark, line, end in zip(marks, follow, ends, strict=True)
        for speaker, words in _turns(mark, lines[mark.line + 1 : line])
    ]
    head = [Cue(0.0, marks[0].at, " ".join(before))] if before else []
    own = Metadata(title=to_plain_text(title) or None)
    return make_transcript([*head, *cues], file, meta=own)


def _turns(mark: _Mark, lines: Sequence[str]) -> list[tuple[str | None, str]]:
    """Return who says what from one time to the next; another speaker may begin a line."""
    turns = [(mark.speaker, mark.words)]
    for line in lines:
        turn = split_label(line)
        if turn.new:
            turns.append((turn.speaker, turn.text))
        else:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]} {line}".strip())
    return [(speaker, words) for speaker, words in turns if words]


def _lines(text: str) -> list[str]:
    lines = (_BOLD.sub(r"\1", line.strip()).strip() for line in text.split("\n"))
    return [line for line in lines if line]


def _marks(lines: Sequence[str]) -> list[_Mark]:
    """Return the times of a transcript, none for another text."""
    marks = [mark for number, line in enumerate(lines) if (mark := _mark(number, line))]
    if len(marks) < MIN_MARKS or len(lines) > MAX_LINES * len(marks):
        return []
    if all(map(_is_speaker_alone, marks, [*marks[1:], None])):
        marks = [replace(mark, words="", speaker=mark.words) for mark in marks]
    beside = set(range(len(lines))) - {mark.line for mark in marks}
    words = [*(mark.words for mark in marks), *(lines[number] for number in beside)]
    length = marks[-1].at - marks[0].at
    said = sum(map(len, words))
    is_part = marks[0].in_first_hour and all(mark.speaker for mark in marks)
    is_one = (
        all(one.at <= other.at for one, other in pairwise(marks))
        and (marks[0].at <= MAX_FIRST or (is_part and said >= MIN_PACE * length))
        and marks[0].line <= MAX_LINES
        and sum(len(each.split()) for each in words) >= MIN_WORDS * len(marks)
        and 0 < said <= MAX_PACE * length
        and not any(map(_MARKUP.match, lines[marks[0].line :]))
    )
    return marks if is_one else []


def _is_name(text: str) -> bool:
    return split_label(f"{text}: ").speaker is not None


def _is_speaker_alone(mark: _Mark, following: _Mark | None) -> bool:
    """Return whether a line holds a name beside its time, and other lines what is said."""
    has_lines = following is None or mark.line + 1 < following.line
    return has_lines and _is_name(mark.words)


def _mark(number: int, line: str) -> _Mark | None:
    """Return the time of a line, None for a line without one."""
    for form in _FORMS:
        match = form.fullmatch(line)
        if match is None:
            continue
        found = match.groupdict()
        turn, speaker = split_label(found["words"] or ""), found.get("speaker")
        name = found.get("name") or speaker
        if name is None or _is_name(name):
            return _Mark(
                number,
                seconds(found["time"]),
                turn.text,
                speaker or turn.speaker,
                _FIRST_HOUR.match(found["time"]) is not None,
            )
    return None
