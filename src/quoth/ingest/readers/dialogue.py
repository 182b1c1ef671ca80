"""Who says what in a text without times: minutes, interviews, plays.

A line or an item that begins with a name and a colon begins a turn. The names stay in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from quoth.core.types import DocumentKind, ParsedDocument, SpanLocator
from quoth.ingest.readers.speaker_turns import is_role, is_speaker_name
from quoth.text.locators import clip
from quoth.text.tables import Table, language_tables

KINDS: tuple[DocumentKind, ...] = ("text", "markdown", "html", "document", "pdf", "book")
"""Documents that may be a dialogue; program files have labels of other kinds."""
MIN_TURNS = 6
MIN_PEOPLE = 2
"""Turns of a dialogue, and people in it whose names are certain."""
MIN_TIMES = 2
"""Turns of a person; "Present:" stands once."""
MIN_SHARE = 0.3
"""Share of the text that stands in turns."""
MIN_WORDS = 8
"""Words of a turn, on average; the lines of a form are shorter."""
MIN_FIRST_PERSON = 0.1
"""Share of the turns in which a person says "I"; the parts of a guide have none."""

_BEGINNING = re.compile(
    r"^[ \t]*(?P<mark>(?:[-*•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:(?P<name>[^\W\d_][\w.'’\- ]{0,38}?)(?: ?\([^()\n]{1,40}\))?"
    r"(?:[^\S\n]?:|\. ?[—–]| [-—–])(?=\s)(?!\s*https?:|.* \| )"
    r"|(?P<other>[^:\n]{1,60}:(?=\s)))?",
    re.MULTILINE,
)
"""The mark of an item, and the label of a turn, which is no row of a table and names no address, or
another label.
"""
_WORD = re.compile(r"\w+")
_END = re.compile(r"\n\s*\n|\n(?=[^\n]* \| )")
"""Where a paragraph ends or a table begins."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A part of a text; the speaker is empty where no name begins it."""

    start: int
    end: int
    speaker: str


def with_speakers(reading: ParsedDocument) -> ParsedDocument:
    """Return the document with the speaker of each part in its locator, where it is a dialogue.

    A document that is no dialogue for certain, or has times, is returned as it is.
    """
    if reading.kind not in KINDS:
        return reading
    text = reading.text
    parts = _parts(text, borders=[section.start for section in reading.sections])
    times = Counter(part.speaker for part in parts if part.speaker)
    turns = [part for part in parts if part.speaker and times[part.speaker] >= MIN_TIMES]
    names = _people(text, turns) if len(turns) >= MIN_TURNS else ()
    if not names:
        return reading
    named = [part if part.speaker in names else replace(part, speaker="") for part in parts]
    spoken = list(_ended(text, named))
    if not _is_dialogue(text, [part for part in spoken if part.speaker]):
        return reading
    places = tuple(piece for place in reading.places for piece in _pieces(place, spoken))
    return replace(reading, places=places)


def _parts(text: str, *, borders: Sequence[int]) -> list[_Turn]:
    """Return the parts of a text between headings, items and labels, with the name of the label."""
    begins = dict.fromkeys((0, *borders), "")
    for line in _BEGINNING.finditer(text):
        name = " ".join((line["name"] or "").split())
        if name or line["mark"] or line["other"]:
            begins[line.start()] = name if name and is_speaker_name(name) else ""
    marks = sorted(begins.items())
    return [
        _Turn(start, end, name) for (start, name), (end, _) in pairwise([*marks, (len(text), "")])
    ]


def _people(text: str, turns: Sequence[_Turn]) -> frozenset[str]:
    """Return the labels that are names; none where it is not certain that some are.

    A name is certain where its words are never written in lower case, and never follow an article
    as German nouns and abbreviations do. Two such people say "I", and two are named elsewhere in
    the text. Another label is a name if it often says "I". The language is the one whose common
    words are most frequent: the detector of languages cannot be loaded where files are read.
    """
    words = _WORD.findall(text)
    counts = Counter(map(str.casefold, words))
    common = {each: sum(counts[word] for word in _words("common", each)) for each in _languages()}
    language = max(common, key=common.__getitem__)
    articles = "|".join(_words("article", language))
    first_person = _words("first_person", language)
    lower = {word for word in words if word[0].islower()}
    nouns = set(re.findall(rf"(?i)\b(?:{articles})(?:['’]| +)(\w+)", text))
    said = ((turn.speaker, _WORD.findall(text, turn.start, turn.end)) for turn in turns)
    says_i = Counter(name for name, spoken in said if not first_person.isdisjoint(spoken))
    certain: set[str] = set()
    named: set[str] = set()
    others: set[str] = set()
    for label, times in Counter(turn.speaker for turn in turns).items():
        own = _WORD.findall(label)
        if is_role(label):
            certain.add(label)
            named.add(label)
        elif own[0] in _words("time", language) or own[-1].isdecimal():
            continue
        elif own[0] in nouns or all(word.lower() in lower for word in own):
            others.add(label)
        else:
            certain.add(label)
            if counts[own[-1].casefold()] > times:
                named.add(label)
    enough = says_i.total() >= MIN_FIRST_PERSON * len(turns)
    if not enough or min(len(certain & says_i.keys()), len(named)) < MIN_PEOPLE:
        return frozenset()
    return frozenset(certain | {label for label in others if says_i[label] >= MIN_TIMES})


@cache
def _languages() -> Mapping[str, Table]:
    return language_tables("quoth.ingest.readers", "dialogue")


@cache
def _words(kind: str, language: str) -> frozenset[str]:
    return frozenset(_languages()[language][kind].split())


def _ended(text: str, parts: Sequence[_Turn]) -> Iterator[_Turn]:
    """Yield the parts; a turn ends with its paragraph: what follows may be narration."""
    for part in parts:
        found = _END.search(text, part.start, part.end) if part.speaker else None
        if found is None:
            yield part
        else:
            yield replace(part, end=found.start())
            yield _Turn(found.start(), part.end, "")


def _is_dialogue(text: str, turns: Sequence[_Turn]) -> bool:
    """Return whether the turns are enough of the text, and one follows the question of another."""
    said = [text[turn.start : turn.end] for turn in turns]
    return (
        len(turns) >= MIN_TURNS
        and sum(map(len, said)) >= MIN_SHARE * len(text)
        and sum(len(each.split()) for each in said) >= MIN_WORDS * len(said)
        and any(
            "?" in asked and one.speaker != other.speaker
            for asked, (one, other) in zip(said, pairwise(turns), strict=False)
        )
    )


def _pieces(place: SpanLocator, parts: Sequence[_Turn]) -> Iterator[SpanLocator]:
    """Yield the pieces of a place, each with who speaks."""
    first = bisect_right(parts, place.start, key=lambda part: part.start) - 1
    for at in range(first, len(parts)):
        start, end = max(parts[at].start, place.start), min(parts[at].end, place.end)
        if start >= place.end:
            return
        piece = clip(place, start, end)
        yield replace(piece, locator=replace(piece.locator, speaker=parts[at].speaker or None))
