"""Transcripts for `quoth live`: a file at its speed, a file that grows, lines from a program."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.lecture import SpeechFormat, TranscriptSegment
from quoth.live.adapters import TranscriptSource
from quoth.live.sources import growing_captions, read_transcript

POLL_S = 0.3
CAPTIONS = (".vtt", ".srt")


async def piped(form: SpeechFormat) -> AsyncIterator[TranscriptSegment]:
    """Yield the segments of JSON lines on standard input; raises InputError."""
    source = TranscriptSource(form)
    while line := await asyncio.to_thread(sys.stdin.readline):
        for segment in _read_line(source, line):
            yield segment


async def replayed(file: Path, *, speed: float) -> AsyncIterator[TranscriptSegment]:
    """Return the segments of a transcript at their times; raises InputError."""
    recorded = await asyncio.to_thread(read_transcript, file)
    if not recorded:
        raise InputError(f"There is nothing said in {file}.")

    async def replay() -> AsyncIterator[TranscriptSegment]:
        began, first = time.monotonic(), recorded[0].start
        for segment in recorded:
            due = began + (segment.end - first) / speed
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield segment

    return replay()


async def followed(file: Path, form: SpeechFormat) -> AsyncIterator[TranscriptSegment]:
    """Yield the segments of a file that is still being written, until this is cancelled.

    Captions count once they are followed by an empty line, JSON lines once they end. Raises
    InputError.
    """
    source, seen, read = TranscriptSource(form), set[str](), 0
    try:
        while True:
            text = await asyncio.to_thread(_text, file)
            if file.suffix.lower() in CAPTIONS:
                found = growing_captions(text)
                new = [each for each in found if each.segment_id not in seen]
                seen.update(each.segment_id for each in new)
            else:
                whole = text.rfind("\n") + 1
                lines, read = text[read:whole].splitlines(), max(read, whole)
                new = [segment for line in lines for segment in _read_line(source, line)]
            for segment in new:
                yield segment
            await asyncio.sleep(POLL_S)
    except asyncio.CancelledError:  # Ctrl-C ends the lecture, not the command
        return


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None


def _read_line(source: TranscriptSource, line: str) -> list[TranscriptSegment]:
    if not line.strip():
        return []
    try:
        return source.read(json.loads(line))
    except (ValueError, InputError):
        hint = " Write JSON with start, end and text." if source.form == "quoth" else ""
        raise InputError(f"This line is no segment: {line.strip()[:80]!r}.{hint}") from None
