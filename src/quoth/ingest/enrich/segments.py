"""Detect audience questions and demonstrations as ranges of chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quoth.core.outline import Heading
from quoth.core.types import Chunk, Seconds, Segment
from quoth.ingest.enrich.segment_cues import (
    AUDIENCE,
    DEMO_TITLE,
    QA_TITLE,
    cue_kind,
    may_hold_cue,
)
from quoth.text.analyzer import normalize_name

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
_SENTENCE = re.compile(r"[^.?!…]+[.?!…]*")


@dataclass(frozen=True, slots=True)
class _Cue:
    """A spoken cue for a segment: the chunk and its relative position in the talk.

    ``kind`` is a `segment_cues.CueKind`, or "audience" where the audience speaks.
    """

    ordinal: int
    kind: str
    share: float


def segments_of(chunks: Sequence[Chunk]) -> tuple[Heading, ...]:
    """Return the segments of questions and answers or demonstrations, in order.

    A segment named by a heading has the span of the heading. In a transcript spoken cues mark where
    one begins ("let's take some questions") and ends ("thank you for your questions"), and so do
    speakers from the audience. Precision is preferred over recall: announcements are ignored, and
    early cues count only where others nearby confirm them.
    """
    found = list(_titled(chunks))
    if not found and chunks and chunks[0].kind == "transcript":
        found = list(_heard(chunks))
    return tuple(sorted(found, key=lambda each: each.first))


# --- headings ---------------------------------------------------------------------------------


def _titled(chunks: Sequence[Chunk]) -> Iterator[Heading]:
    known: dict[tuple[str, ...], tuple[tuple[str, ...], Segment]] = {}
    current: Heading | None = None
    for at, chunk in enumerate(chunks):
        if chunk.section not in known:
            known[chunk.section] = _kind_of_title(chunk.section)
        path, kind = known[chunk.section]
        if current is not None and path == current.path:
            current = replace(current, last=at)
            continue
        if current is not None:
            yield current
        current = Heading(chunk.document_id, path, at, at, segment=kind) if kind else None
    if current is not None:
        yield current


def _kind_of_title(path: Sequence[str]) -> tuple[tuple[str, ...], Segment]:
    for depth, title in enumerate(path, start=1):
        folded = normalize_name(title)
        if QA_TITLE.fullmatch(folded):
            return tuple(path[:depth]), "qa"
        if DEMO_TITLE.fullmatch(folded):
            return tuple(path[:depth]), "demo"
    return (), ""


# --- spoken cues --------------------------------------------------------------------------------


def _heard(chunks: Sequence[Chunk]) -> Iterator[Heading]:
    cues = list(_cues(chunks))
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
        if any(_is_audience(voice, voices) for voice in _speaker_turns(chunk)):
            yield _Cue(at, "audience", chunk.start / length)
        if not may_hold_cue(chunk.text):
            continue
        heard: set[str] = set()
        for start, sentence in _sentences(chunk):
            kind = cue_kind(sentence) if may_hold_cue(sentence) else None
            if kind and kind not in heard:
                heard.add(kind)
                yield _Cue(at, kind, (chunk.start + start) / length)


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


def _speaker_turns(chunk: Chunk) -> set[str]:
    whole = chunk.locator
    if isinstance(whole, Seconds) and whole.speaker:
        return {whole.speaker}
    locators = (place.locator for place in chunk.places)
    return {
        locator.speaker for locator in locators if isinstance(locator, Seconds) and locator.speaker
    }


def _is_audience(voice: str, known: dict[str, bool]) -> bool:
    if voice not in known:
        known[voice] = AUDIENCE.fullmatch(normalize_name(voice)) is not None
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
