"""Who says what in a text without times: minutes, interviews, plays.

A line or an item that begins with a name and a colon begins a turn. The names stay in the text.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import pairwise

from quoth.core.types import ParsedDocument, Seconds, SpanLocator
from quoth.ingest.readers.speaker_turns import is_role, is_speaker_name
from quoth.text.locators import clip

MIN_TURNS = 6
MIN_PEOPLE = 2
"""Turns of a dialogue, and people in it."""
MIN_TIMES = 2
"""Turns of a person; "Present:" stands once."""
MIN_SHARE = 0.3
"""Share of the text that stands in turns."""
MIN_WORDS = 8
"""Words of a turn, on average; the lines of a form are shorter."""
MIN_FIRST_PERSON = 0.1
"""Share of the turns in which someone says "I" or "we"; the parts of a guide have none."""

_BEGINNING = re.compile(
    r"^[ \t]*(?P<mark>(?:[-*•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:(?P<name>[^\W\d_][\w.'’\- ]{0,38}?)(?: ?\([^()\n]{1,40}\))?"
    r"(?:\s?:|\. ?[—–]| [-—–])(?=\s)(?!\s*https?:|.* \| ))?",
    re.MULTILINE,
)
"""The mark of an item, and the label of a turn, which is no row of a table and names no address."""


@dataclass(frozen=True, slots=True)
class _Turn:
    start: int
    end: int
    speaker: str | None


def with_speakers(reading: ParsedDocument) -> ParsedDocument:
    """Return the document with the speaker of each part in its locator, where it is a dialogue.

    Names are not guessed: what is no dialogue beyond doubt, or has times, is returned as it is.
    """
    if any(isinstance(place.locator, Seconds) for place in reading.places[:1]):
        return reading
    turns = _turns(reading.text, borders=[section.start for section in reading.sections])
    if not _is_dialogue(reading.text, [turn for turn in turns if turn.speaker]):
        return reading
    places = tuple(part for place in reading.places for part in _spoken(place, turns))
    return replace(reading, places=places)


def _turns(text: str, *, borders: Sequence[int]) -> list[_Turn]:
    """Return the turns; others begin a part without speaker: headings, items, labels."""
    labels: list[tuple[int, str]] = []
    for each in _BEGINNING.finditer(text):
        name = " ".join((each["name"] or "").split())
        is_name = bool(name) and is_speaker_name(name)
        if is_name or each["mark"]:
            labels.append((each.start(), name if is_name else ""))
    times = Counter(name for _, name in labels if name)
    often = [name for name, count in times.items() if count >= MIN_TIMES]
    names = {name for name in often if _is_name(name, text)} if times.total() >= MIN_TURNS else ()
    begins: dict[int, str | None] = dict.fromkeys(borders)
    begins |= {start: name if name in names else None for start, name in labels}
    marks = sorted(begins.items())
    return [
        _Turn(start, end, name) for (start, name), (end, _) in pairwise([*marks, (len(text), None)])
    ]


def _is_name(label: str, text: str) -> bool:
    """Return whether a label names a person: not with words that the text writes small.

    What follows an article anywhere, as nouns do in German and abbreviations, is no name.
    """
    if is_role(label):
        return True
    words = label.lower().split()
    small = [re.search(rf"\b{re.escape(word)}(?!\w)", text) for word in words]
    if all(small) or any(word[0].isdecimal() for word in words):
        return False
    noun = rf"\b(?:{_words('article')})\s*\b{re.escape(label)}(?!\w)"
    return not re.search(noun, text, re.IGNORECASE)


def _is_dialogue(text: str, turns: Sequence[_Turn]) -> bool:
    if len(turns) < MIN_TURNS or len({turn.speaker for turn in turns}) < MIN_PEOPLE:
        return False
    said = [text[turn.start : turn.end] for turn in turns]
    if sum(map(len, said)) < MIN_SHARE * len(text):
        return False
    if sum(len(each.split()) for each in said) < MIN_WORDS * len(said):
        return False
    first_person = re.compile(rf"\b(?:{_words('first_person')})(?!\w)", re.IGNORECASE)
    return sum(bool(first_person.search(each)) for each in said) >= MIN_FIRST_PERSON * len(said)


@cache
def _words(kind: str) -> str:
    """Return a pattern of the words of a kind in all languages."""
    data = resources.files("quoth.ingest.readers") / "data" / "dialogue.toml"
    words = " ".join(tomllib.loads(data.read_text("utf-8"))[kind].values()).split()
    return "|".join(map(re.escape, words))


def _spoken(place: SpanLocator, turns: Sequence[_Turn]) -> Iterator[SpanLocator]:
    """Yield the parts of a place, each with who speaks."""
    first = max(0, bisect_right(turns, place.start, key=lambda turn: turn.start) - 1)
    position = place.start
    for turn in turns[first:]:
        if turn.start >= place.end:
            break
        if turn.start > position:
            yield clip(place, position, turn.start)
        start, position = max(turn.start, position), min(turn.end, place.end)
        part = clip(place, start, position)
        yield replace(part, locator=replace(part.locator, speaker=turn.speaker))
    if position < place.end:
        yield clip(place, position, place.end)
