"""Convert transcript cues into readable text with the time of every word."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument, Seconds, Section, SpanLocator
from quoth.ingest.readers.blocks import GAP, normalize_whitespace, plain_line, to_plain_text
from quoth.ingest.readers.cue_parsers import (
    CHAPTERS,
    Cue,
    read_json,
    read_lines,
    vtt_language,
)
from quoth.ingest.readers.metadata import EMPTY, Metadata, make_meta
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.speaker_turns import find_speaker_labels, is_lecturer, turns, voices

NEAR = 1.0
"""Seconds within which a cue can repeat the one before it."""
PAUSE = 2.0
"""Seconds of silence after a sentence that begin a new paragraph."""

_TAG = re.compile(
    r"</?(?:b|i|u|s|c|v|font|lang|ruby|rt)(?:[.\s][^<>]*)?>"
    r"|<\d{1,4}:\d\d[\d:.]*>|\{\\[^{}]*\}",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,;&/]|\b(?:and|et|und)\b")
_BREAK = re.compile(r"<(?:br|BR)\s*/?>|\\N(?![a-z])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ASIDE = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_LONE_SPACE = re.compile(r" (?=[,.])")
_NOTES = re.compile(r"[♩♪♫♬#]*[♩♪♫♬][♩♪♫♬#]*")
_SOUND = re.compile(
    r"(?i)music|musique|applau|laugh|\brires?\b|chuckl|whoosh|swoosh|striking|ding(?:s|ing)?\b|chim|"
    r"click|beep|\bbip|cough|\btoux\b|silence|clap|cheer|\bnoise|\bbruit|snap|thud|jingle|\blogo\b|"
    r"\bintro\b|\boutro\b|\bbell\b|sigh|soupir|clears? throat|static|foreign$"
)
_UNHEARD = re.compile(r"(?i)unintelligible|inaudible|crosstalk")
_STOPPED = re.compile(r"[.!?…][\"'”’»)\]\s]*$")


@dataclass(frozen=True, slots=True)
class CueText:
    """A readable part of a cue; ``new`` marks the beginning of a paragraph.

    ``estimated`` marks times between those of the source.
    """

    start: float
    end: float
    text: str
    speaker: str | None
    new: bool = False
    estimated: bool = False


def read_captions(file: SourceFile, *, vtt: bool = False) -> ParsedDocument:
    """Read SRT, SBV or WebVTT; raises DocumentError when no cue can be used."""
    own = Metadata(language=vtt_language(file.text)) if vtt else EMPTY
    cues = read_lines(file.text, vtt=vtt)
    return make_transcript(cues, file, meta=own, lecturer=file.meta.speaker)


def read_vtt(file: SourceFile) -> ParsedDocument:
    """Read WebVTT; raises DocumentError when no cue can be used."""
    return read_captions(file, vtt=True)


def read_json_transcript(file: SourceFile) -> ParsedDocument:
    """Read a transcript in JSON; raises DocumentError when it is damaged, empty or none."""
    try:
        found = read_json(file.text)
    except ValueError:
        raise DocumentError(
            "damaged", f"{file.name} is not valid JSON. Export the transcript again."
        ) from None
    if found is None:
        raise DocumentError(
            "unsupported",
            f"{file.name} is JSON but holds no transcript: a list of texts with their times.",
        )
    cues, beside = found
    chapters = beside.pop(CHAPTERS, ())
    own, _ = make_meta(beside, where=file.name)
    cues = [replace(cue, text=normalize_whitespace(cue.text)) for cue in cues]
    return make_transcript(cues, file, meta=own, chapters=chapters)


def make_transcript(
    cues: Sequence[Cue],
    file: SourceFile,
    *,
    meta: Metadata = EMPTY,
    chapters: Sequence[tuple[float, str]] = (),
    lecturer: str | None = None,
) -> ParsedDocument:
    """Return the document of a recording from its cues, in any order.

    ``meta`` is what the file says of itself, ``chapters`` are its parts by their beginning, in
    order, ``lecturer`` who is meant by a label such as PROFESSOR.
    """
    ordered = sorted((_monotonic_times(cue) for cue in cues), key=lambda cue: (cue.start, cue.end))
    cues = _in_turn(list(_without_repeats(_merge_split_brackets(ordered))))
    said = _name_lecturer(
        list(_spoken(cues, speaker=file.meta.speaker or meta.speaker)), person=lecturer
    )
    if not said:
        raise DocumentError("empty", f"{file.name} holds no cue with words in it.")
    begins = [
        bisect_left(said, start - NEAR / 2, key=lambda piece: piece.start) for start, _ in chapters
    ]
    said = [
        replace(piece, new=piece.new or number in begins)
        for number, piece in enumerate(_paragraphs(said))
    ]
    text, places = compose(said)
    content = text, places, _chapter_sections(chapters, begins, places=places)
    seconds = max(piece.end for piece in said)
    return file.document("transcript", content, meta=meta, seconds=seconds)


def _name_lecturer(said: Sequence[CueText], *, person: str | None) -> list[CueText]:
    """Return the pieces with the speaker of the recording in place of the role of its lecturer.

    Only where one role is that of a lecturer, and ``person`` is one person whom no label names.
    """
    labels = {piece.speaker for piece in said if piece.speaker}
    roles = {label for label in labels if is_lecturer(label)}
    if not person or len(roles) != 1 or _SEVERAL.search(person):
        return list(said)
    if person.casefold() in {label.casefold() for label in labels}:
        return list(said)
    return [replace(piece, speaker=person) if piece.speaker in roles else piece for piece in said]


def _chapter_sections(
    chapters: Sequence[tuple[float, str]], begins: Sequence[int], *, places: Sequence[SpanLocator]
) -> tuple[Section, ...]:
    """Return the sections that chapters make; one without words is left out."""
    borders = [*begins, len(places)]
    return tuple(
        Section(places[first].start, places[last - 1].end, (title,))
        for (_, chapter), first, last in zip(chapters, begins, borders[1:], strict=True)
        if first < last and (title := plain_line(chapter))
    )


def compose(said: Sequence[CueText]) -> tuple[str, tuple[SpanLocator, ...]]:
    """Join the pieces by spaces, and paragraphs by an empty line."""
    parts: list[str] = []
    places: list[SpanLocator] = []
    position = 0
    for piece in said:
        if parts:
            gap = GAP if piece.new else " "
            parts.append(gap)
            position += len(gap)
        end = position + len(piece.text)
        locator = Seconds(piece.start, piece.end, speaker=piece.speaker, estimated=piece.estimated)
        places.append(SpanLocator(position, end, locator))
        parts.append(piece.text)
        position = end
    return "".join(parts), tuple(places)


def _monotonic_times(cue: Cue) -> Cue:
    return replace(
        cue, start=round(cue.start, 3), end=round(max(cue.start, cue.end), 3), text=cue.text.strip()
    )


def _merge_split_brackets(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Remove a sound cue such as "[MUSIC" … "BY BACH]" that is split over several cues."""
    open_since: int | None = None
    for number, cue in enumerate(cues):
        if open_since is None:
            opens = cue.text.startswith("[") and "]" not in cue.text and _SOUND.search(cue.text)
            closed = any("]" in later.text for later in cues[number + 1 : number + 4])
            if opens and closed:
                open_since = number
                continue
            yield cue
        elif "]" in cue.text:
            open_since = None
            yield replace(cue, text=cue.text.split("]", 1)[1].strip())


def _without_repeats(cues: Iterator[Cue]) -> Iterator[Cue]:
    """Undo rolling captions, in which a cue repeats the last line of the previous one.

    A file has rolling captions when at least a third of its cues begin as the previous cue ended.
    There, after a pause too, first lines that repeat the last ones of the previous cue are dropped.
    In any file a cue that only repeats the previous one at the same time is dropped.
    """
    filled = [cue for cue in cues if _bare(cue.text).strip()]
    lines = [
        [line.split() for line in _bare(cue.text).split("\n") if line.strip()] for cue in filled
    ]
    shared = [0, *(_shared(one, other) for one, other in pairwise(lines))]
    near = [False, *(other.start - one.end < NEAR for one, other in pairwise(filled))]
    repeats = sum(words > 1 and close for words, close in zip(shared, near, strict=True))
    rolls = repeats >= 2 and 3 * repeats >= len(filled)
    for number, cue in enumerate(filled):
        words = [word for line in lines[number] for word in line]
        first_lines = accumulate(len(line) for line in lines[number][:-1])
        if rolls and shared[number] and (near[number] or shared[number] in first_lines):
            if len(words) > shared[number]:
                yield replace(cue, text=" ".join(words[shared[number] :]))
        elif not number or shared[number] < len(words) or cue.start >= filled[number - 1].end:
            yield cue


def _in_turn(cues: Sequence[Cue]) -> list[Cue]:
    """End each cue where the next begins, if most overlap (two lines shown at a time)."""
    overlaps = sum(other.start < one.end - 0.05 for one, other in pairwise(cues))
    if not overlaps or 2 * overlaps < len(cues):
        return list(cues)
    ends = [min(one.end, max(one.start, other.start)) for one, other in pairwise(cues)]
    return [*(replace(cue, end=end) for cue, end in zip(cues, ends, strict=False)), cues[-1]]


def _shared(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> int:
    """Count the leading words of a cue that repeat the last lines of the previous one."""
    words = [word for line in after for word in line]
    best = 0
    tail: list[str] = []
    for line in reversed(before):
        tail = [*line, *tail]
        if words[: len(tail)] == tail:
            best = len(tail)
    return best


def _spoken(cues: Sequence[Cue], *, speaker: str | None) -> Iterator[CueText]:
    """Clean the cues and assign speakers; ``speaker`` applies where no name is given."""
    pieces = [
        (cue, replace(voice, text=plain_caption(voice.text)))
        for cue in cues
        for voice in voices(cue.text, speaker=cue.speaker)
    ]
    labels = find_speaker_labels((voice.text for _, voice in pieces), speaker=speaker)
    voiced = any(voice.new for _, voice in pieces)
    current, changed, heard = speaker, False, False
    for cue, voice in pieces:
        if voiced:
            changed |= voice.speaker != current
            current = voice.speaker
        for turn in turns(voice.text, labels=labels):
            # The dash before the first words does not mark a change of speaker.
            begins = heard or turn.speaker or turn.labelled
            if turn.new and begins and not (voiced and turn.speaker is None):
                # A name that stands before every cue does not begin a new turn.
                changed |= turn.speaker is None or turn.speaker != current
                current = turn.speaker
            words = strip_sound_cues(turn.text)
            if any(character.isalnum() for character in words):
                yield CueText(cue.start, cue.end, words, current, new=changed and heard)
                changed, heard = False, True


def plain_caption(text: str) -> str:
    """Return a caption without its tags, entities as the characters that they stand for."""
    return normalize_whitespace(_ENTITY.sub(lambda found: html.unescape(found[0]), _bare(text)))


def _bare(text: str) -> str:
    return _TAG.sub("", _BREAK.sub("\n", text))


def strip_sound_cues(text: str) -> str:
    """Remove sound cues such as "[MUSIC]" from a text and join its lines.

    "[INAUDIBLE]" is kept within a sentence, where it marks missing words.
    """
    text = _NOTES.sub(" ", to_plain_text(text)).strip()
    alone = _ASIDE.fullmatch(text.strip(" .-"))
    if alone and _is_noise(alone[0]):
        return ""
    kept = _ASIDE.sub(lambda aside: " " if _is_sound(aside[0]) else aside[0], text)
    return _LONE_SPACE.sub("", to_plain_text(kept)).lstrip(" ,.") if kept != text else text


def _is_noise(aside: str) -> bool:
    """Return whether a bracketed cue on its own describes a sound or inaudible words."""
    words = len(aside.split())
    if aside[0] == "[":
        return words <= 12
    return words <= 4 and (_SOUND.search(aside) or _UNHEARD.search(aside)) is not None


def _is_sound(aside: str) -> bool:
    return aside[0] == "[" and len(aside.split()) <= 10 and _SOUND.search(aside) is not None


def _paragraphs(said: Sequence[CueText]) -> Iterator[CueText]:
    """Begin a paragraph where the speaker changes, and after a pause at a sentence end.

    Where full stops are rare, as in automatic captions, a pause is sufficient.
    """
    stops = sum(1 for piece in said if re.search(r"[.!?…]", piece.text))
    unpunctuated = stops * 10 < len(said)
    yield said[0]
    for before, piece in pairwise(said):
        pause = piece.start - before.end >= PAUSE
        ended = unpunctuated or _STOPPED.search(before.text) is not None
        yield replace(piece, new=piece.new or (pause and ended))
