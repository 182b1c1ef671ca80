"""Detect audience questions and demonstrations as ranges of chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from quoth.core.outline import Heading
from quoth.core.types import Chunk, Seconds, Segment
from quoth.text.analyzer import normalize_name
from quoth.text.locators import speakers_in
from quoth.text.tables import expand, language_tables, tables_for

CueKind = Literal["questions", "any", "following", "over", "demo", "slides"]
"""Questions begin · they are asked for · one more comes · they are over · a demonstration
begins · it is over."""


def may_hold_cue(text: str) -> bool:
    """Return whether a text contains a word that every cue requires (fast filter)."""
    small = text.casefold()
    return any(word in small for word in _telling())


@cache
def _telling() -> frozenset[str]:
    tables = language_tables(__package__, "segments").values()
    return frozenset(word for table in tables for word in table["telling"])


@cache
def _pattern(name: str, language: str) -> re.Pattern[str]:
    """Return the pattern of a row in a language."""
    either = "|".join(
        expand(pattern, table["words"])
        for table in tables_for(__package__, "segments", language)
        for pattern in table[name]
    )
    return re.compile(_FORMS.get(name, r"\b(?:{})\b").replace("{}", either or "(?!)"))


_NUMBER = r"(?:\d+(?:\.\d+)*[.:)]? +)?"
_FORMS = {
    "begin_not": r"(?! (?:{}))",
    "any": r"\b(?:{})\s*\?",
    "qa_title": rf"{_NUMBER}(?:{{}})",
    "demo_title": rf"{_NUMBER}(?:{{}})",
    "audience": r"(?:{})",
}
"""Patterns of rows that are no whole words."""


@cache
def _beginning(language: str) -> re.Pattern[str]:
    begin, refused = (_pattern(name, language).pattern for name in ("begin", "begin_not"))
    return re.compile(begin + refused)


def cue_kind(sentence: str, language: str) -> CueKind | None:
    """Return what a normalized sentence begins or ends, None for any other sentence."""
    for kind in ("over", "slides", "any", "following"):
        if _pattern(kind, language).search(sentence):
            return kind
    if _pattern("not_now", language).search(sentence):
        return None
    if _beginning(language).search(sentence):
        return "questions"
    return "demo" if _pattern("demo", language).search(sentence) else None


DEMO_SECONDS = 300.0
"""How long a demonstration is taken to last where nothing says that it is over."""
ANNOUNCED = 0.1
"""Share of a talk within which a cue only announces what is to come."""
LATE = 0.5
"""Share of a talk after which "let's take your questions" holds to the end."""
VERY_LATE = 0.85
"""Share of a talk after which "any questions?" holds to the end."""
NEAR = 2
"""Chunks by which two questions of one round are apart at most."""

_MARK = re.compile(r"[.?!]")
_SENTENCE = re.compile(r"[^.?!…\s][^.?!…]*[.?!…]*")


@dataclass(frozen=True, slots=True)
class _Cue:
    """A spoken cue for a segment: the chunk and its relative position in the talk.

    ``kind`` is a `segment_cues.CueKind`, or "audience" where the audience speaks; ``start`` is
    where its caption begins in the text.
    """

    ordinal: int
    kind: str
    share: float
    start: int


def segments_of(chunks: Sequence[Chunk]) -> tuple[Heading, ...]:
    """Return the segments of questions and answers or demonstrations, in order.

    A segment named by a heading has the span of the heading. In a transcript spoken cues mark where
    one begins ("let's take some questions") and ends ("thank you for your questions"), and so do
    speakers from the audience. Precision is preferred over recall: announcements are ignored, and
    early cues count only where others nearby confirm them.
    """
    found = list(_titled(chunks))
    if not found and _is_talk(chunks):
        found = list(_heard(chunks, list(_cues(chunks))))
    return tuple(sorted(found, key=lambda each: each.first))


def segment_starts(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Return where in the text the segments begin that are only heard: at their first cue.

    A chunk that begins there has nothing of the talk before.
    """
    if not _is_talk(chunks) or any(_titled(chunks)):
        return ()
    cues = list(_cues(chunks))
    opening = {"qa": ("questions", "any", "audience"), "demo": ("demo",), "": ()}
    return tuple(
        min(
            cue.start
            for cue in cues
            if cue.ordinal == heading.first and cue.kind in opening[heading.segment]
        )
        for heading in _heard(chunks, cues)
    )


def _is_talk(chunks: Sequence[Chunk]) -> bool:
    return bool(chunks) and chunks[0].kind == "transcript"


# --- headings ---------------------------------------------------------------------------------


def _titled(chunks: Sequence[Chunk]) -> Iterator[Heading]:
    known: dict[tuple[str, ...], tuple[tuple[str, ...], Segment]] = {}
    current: Heading | None = None
    for at, chunk in enumerate(chunks):
        if chunk.section not in known:
            known[chunk.section] = _kind_of_title(chunk)
        path, kind = known[chunk.section]
        if current is not None and path == current.path:
            current = replace(current, last=at)
            continue
        if current is not None:
            yield current
        current = Heading(chunk.document_id, path, at, at, segment=kind) if kind else None
    if current is not None:
        yield current


def _kind_of_title(chunk: Chunk) -> tuple[tuple[str, ...], Segment]:
    path = chunk.section
    for depth, title in enumerate(path, start=1):
        folded = normalize_name(title)
        if _pattern("qa_title", chunk.language).fullmatch(folded):
            return path[:depth], "qa"
        if _pattern("demo_title", chunk.language).fullmatch(folded):
            return path[:depth], "demo"
    return (), ""


# --- spoken cues --------------------------------------------------------------------------------


def _heard(chunks: Sequence[Chunk], cues: Sequence[_Cue]) -> Iterator[Heading]:
    rounds = list(_rounds(cues, last=len(chunks) - 1))
    for first, last in rounds:
        yield Heading(chunks[0].document_id, (), first, last, segment="qa")
    taken = {ordinal for first, last in rounds for ordinal in range(first, last + 1)}
    for first, last in _demos(cues, chunks, taken=taken):
        yield Heading(chunks[0].document_id, (), first, last, segment="demo")


def _cues(chunks: Sequence[Chunk]) -> Iterator[_Cue]:
    length = max(1, chunks[-1].end)
    voices: dict[str, bool] = {}
    for at, chunk in enumerate(chunks):
        asking = _pattern("audience", chunk.language)
        if any(_is_audience(voice, voices, asking) for voice in speakers_in(chunk)):
            asked = (
                each.start
                for each in chunk.places
                if each.locator.speaker and _is_audience(each.locator.speaker, voices, asking)
            )
            yield _Cue(at, "audience", chunk.start / length, next(asked, chunk.start))
        if not may_hold_cue(chunk.text):
            continue
        heard: set[str] = set()
        for start, sentence in _sentences(chunk):
            kind = cue_kind(sentence, chunk.language) if may_hold_cue(sentence) else None
            if kind and kind not in heard:
                heard.add(kind)
                share = (chunk.start + start) / length
                yield _Cue(at, kind, share, _caption_start(chunk, start))


def _sentences(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """Return the normalized sentences with their approximate offsets.

    Automatic captions have no punctuation: two cues at a time form a sentence.
    """
    folded = normalize_name(chunk.text)
    if _MARK.search(folded):
        yield from ((each.start(), each[0]) for each in _SENTENCE.finditer(folded))
        return
    for one, other in pairwise((*chunk.places, *chunk.places[-1:])):
        start, end = one.start - chunk.start, other.end - chunk.start
        yield start, normalize_name(chunk.text[start:end])


def _caption_start(chunk: Chunk, position: int) -> int:
    """Return where the caption begins that holds a position of the normalized text."""
    before = ((each.start, chunk.text[: each.start - chunk.start]) for each in chunk.places)
    begun = [start for start, text in before if len(normalize_name(text)) <= position]
    return max(begun, default=chunk.start)


def _is_audience(voice: str, known: dict[str, bool], asking: re.Pattern[str]) -> bool:
    if voice not in known:
        known[voice] = asking.fullmatch(normalize_name(voice)) is not None
    return known[voice]


def _rounds(cues: Sequence[_Cue], *, last: int) -> Iterator[tuple[int, int]]:
    """Return the question rounds: those during the talk, and the one at its end."""
    asked = [cue for cue in cues if cue.kind in ("questions", "any", "following", "audience")]
    end = _last_round(cues, asked, last=last)
    group: list[_Cue] = []
    for cue in [*(each for each in asked if end is None or each.ordinal < end[0]), None]:
        if group and (cue is None or cue.ordinal > group[-1].ordinal + NEAR):
            yield from _round(group)
            group = []
        if cue is not None:
            group.append(cue)
    if end is not None:
        yield end


def _last_round(
    cues: Sequence[_Cue], asked: Sequence[_Cue], *, last: int
) -> tuple[int, int] | None:
    for number, cue in enumerate(asked):
        more = asked[number + 1 :]
        late = {"questions": LATE, "any": VERY_LATE}.get(cue.kind, 2.0)
        borne_out = cue.kind == "questions" and cue.share > ANNOUNCED and len(more) > 1
        if cue.share >= late or borne_out:
            latest = max((each.ordinal for each in more), default=cue.ordinal)
            over = [cue.ordinal for cue in cues if cue.kind in ("over", "slides")]
            closing = [ordinal for ordinal in over if ordinal >= latest]
            return cue.ordinal, closing[0] if closing else last
    return None


def _round(group: Sequence[_Cue]) -> Iterator[tuple[int, int]]:
    """Return a question round during the talk, confirmed by following questions."""
    opening = [at for at, each in enumerate(group) if each.kind in ("questions", "any", "audience")]
    if not opening:
        return
    rest = group[opening[0] :]
    if len(rest) > 1 or rest[0].kind == "audience":
        yield rest[0].ordinal, rest[-1].ordinal


def _demos(
    cues: Sequence[_Cue], chunks: Sequence[Chunk], *, taken: set[int]
) -> Iterator[tuple[int, int]]:
    """Return the demonstrations, each up to its closing cue or the maximum length."""
    after = -1
    for number, cue in enumerate(cues):
        if cue.kind != "demo" or cue.ordinal <= after or cue.ordinal in taken:
            continue
        over = [cue.ordinal for cue in cues[number + 1 :] if cue.kind == "slides"]
        free = cue.ordinal
        while free + 1 < len(chunks) and free + 1 not in taken:
            free += 1
        after = min(over[0] if over else _reach(chunks, cue.ordinal), free)
        yield cue.ordinal, after


def _reach(chunks: Sequence[Chunk], first: int) -> int:
    """Return the last chunk that begins within DEMO_SECONDS of the first."""
    begun = _second(chunks[first])
    last = first
    while last + 1 < len(chunks) and _second(chunks[last + 1]) <= begun + DEMO_SECONDS:
        last += 1
    return last


def _second(chunk: Chunk) -> float:
    return chunk.locator.start if isinstance(chunk.locator, Seconds) else float("inf")
