"""Reader for Markdown transcripts: paragraphs with speaker labels and occasional times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import to_plain_text
from quoth.ingest.readers.captions import CueText, compose, strip_sound_cues
from quoth.ingest.readers.cue_parsers import seconds
from quoth.ingest.readers.markdown import inline_text, make_parser
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.speaker_turns import SPEAKER_PARAGRAPH, TIME_MARK, paragraphs

# A clock inside another remark belongs to the raw recording: "[unintelligible 00:27:31.27]".
_RAW_CLOCK = re.compile(r"(?<=[^\W\d_])\s+\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?=\\?\])")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")
_SENTENCE_END = re.compile(r"(?<=[.?!…]) ")


@dataclass(frozen=True, slots=True)
class _TimeMark:
    """A time: the number of the piece that begins there; nothing is said where a break begins."""

    piece: int
    at: float
    is_break: bool = False


def read_spoken(file: SourceFile) -> ParsedDocument:
    """Read a Markdown transcript. Times between its marks are estimated, sentence by sentence, from
    the length of what is said; those after the last mark from the pace before it.
    """
    title: str | None = None
    speaker = file.meta.speaker
    said: list[CueText] = []
    marks: list[_TimeMark] = []
    for paragraph in paragraphs(file.text):
        heading = _HEADING.fullmatch(paragraph)
        if heading is not None:
            title = title or to_plain_text(heading["title"].rstrip("#").rstrip())
            continue
        label = SPEAKER_PARAGRAPH.match(paragraph)
        pieces = list(_pieces(paragraph[label.end() :] if label else paragraph))
        if label is not None and any(words for _, words in pieces):
            speaker = to_plain_text(label["name"])
        begins = True
        for time, words in pieces:
            if time is not None and (not marks or time >= marks[-1].at):
                marks.append(_TimeMark(len(said), time, is_break=not words))
            for sentence in _SENTENCE_END.split(words) if words else ():
                said.append(CueText(0.0, 0.0, sentence, speaker, new=begins))
                begins = False
    timed = _timed(said, marks)
    return file.document(
        "transcript",
        (*compose(timed), ()),
        meta=Metadata(title=title),
        seconds=max((piece.end for piece in timed), default=None),
        warnings=(f"Times are known at {len(marks)} marks only; those between are estimated.",),
    )


def _pieces(paragraph: str) -> Iterator[tuple[float | None, str]]:
    """Split a paragraph at its time marks; yield each piece with the mark before it."""
    time: float | None = None
    position = 0
    for mark in TIME_MARK.finditer(paragraph):
        yield time, _readable(paragraph[position : mark.start()])
        time, position = seconds(mark["time"]), mark.end()
    yield time, _readable(paragraph[position:])


def _readable(text: str) -> str:
    inline = make_parser().parseInline(_RAW_CLOCK.sub("", text))
    words = strip_sound_cues(
        inline_text([child for token in inline for child in token.children or []])
    )
    return words if any(character.isalnum() for character in words) else ""


def _timed(said: Sequence[CueText], marks: Sequence[_TimeMark]) -> list[CueText]:
    """Return each piece with its times, in proportion to its length between two marks.

    What follows the mark of a break, such as an advertisement, is timed back from the next mark.
    """
    if not said:
        return []
    ends = [0, *accumulate(len(piece.text) + 1 for piece in said)]
    known = [_TimeMark(0, 0.0), *marks]
    steady = [
        (one, other)
        for one, other in pairwise(known)
        if other.piece > one.piece and not one.is_break
    ]
    length = sum(ends[other.piece] - ends[one.piece] for one, other in steady)
    pace = sum(other.at - one.at for one, other in steady) / max(length, 1)
    end = known[-1].at + (ends[-1] - ends[known[-1].piece]) * pace
    spans = pairwise([*known, _TimeMark(len(said), end)])
    timed: list[CueText] = []
    for one, other in spans:
        first, size = ends[one.piece], max(ends[other.piece] - ends[one.piece], 1)
        start = max(one.at, other.at - size * pace) if one.is_break and pace else one.at
        for number in range(one.piece, other.piece):
            begin, stop = (
                round(start + (other.at - start) * (place - first) / size, 1)
                for place in (ends[number], ends[number + 1])
            )
            timed.append(replace(said[number], start=begin, end=stop, estimated=True))
    return timed
