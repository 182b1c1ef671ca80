"""Reader for Markdown transcripts: paragraphs with speaker labels and occasional times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import to_plain_text
from quoth.ingest.readers.captions import CueText, compose, strip_sound_cues
from quoth.ingest.readers.cue_parsers import seconds
from quoth.ingest.readers.markdown import inline_text, make_parser
from quoth.ingest.readers.metadata import Metadata, file_title
from quoth.ingest.readers.speaker_turns import SPEAKER_PARAGRAPH, TIME_MARK, paragraphs

# A clock inside another remark belongs to the raw recording: "[unintelligible 00:27:31.27]".
_RAW_CLOCK = re.compile(r"(?<=[^\W\d_])\s+\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?=\\?\])")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")


def read_spoken(text: str, *, meta: Metadata, name: str) -> ParsedDocument:
    """Read a Markdown transcript. A place spans from one time mark to the next, since no times
    between them are known.
    The end of the recording is estimated from how fast it was spoken before the last mark.
    """
    title: str | None = None
    speaker = meta.speaker
    said: list[CueText] = []
    marks: list[tuple[int, float]] = []
    for paragraph in paragraphs(text):
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
            if time is not None and (not marks or time >= marks[-1][1]):
                marks.append((len(said), time))
            if words:
                said.append(CueText(0.0, 0.0, words, speaker, new=begins))
                begins = False
    timed = _timed(said, marks)
    stored, places = compose(timed)
    return ParsedDocument(
        kind="transcript",
        title=meta.title or title or file_title(name),
        text=stored,
        places=places,
        language=meta.language,
        url=meta.url,
        speaker=meta.speaker,
        seconds=max((piece.end for piece in timed), default=None),
        warnings=(
            f"Times are known at {len(marks)} marks only; a place reaches from one to the next.",
        ),
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


def _timed(said: Sequence[CueText], marks: Sequence[tuple[int, float]]) -> list[CueText]:
    """Return each piece with the times of the marks before and after it."""
    if not said:
        return []
    until, last = marks[-1] if marks else (len(said), 0.0)
    before = sum(len(piece.text) for piece in said[:until])
    after = sum(len(piece.text) for piece in said[until:])
    end = round(last * (1 + after / before), 1) if before else last
    borders = [(0, 0.0), *marks, (len(said), end)]
    timed: list[CueText] = []
    for (first, start), (following, stop) in pairwise(borders):
        timed.extend(replace(piece, start=start, end=stop) for piece in said[first:following])
    return timed
