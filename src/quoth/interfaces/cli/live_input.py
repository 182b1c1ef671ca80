"""What `quoth live` takes in: a transcript or sound.

A transcript is a file at its speed, a file that grows, or lines from a program; sound is a
recording, or the microphone of this machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from quoth.bootstrap import live_speech_settings, open_microphone
from quoth.core.errors import BackendError, InputError
from quoth.core.lecture import SpeechFormat, TranscriptSegment
from quoth.interfaces.cli.session import CliSession
from quoth.live.adapters import TranscriptSource
from quoth.live.segments import clean_segment
from quoth.live.sources import growing_captions, read_transcript
from quoth.pipeline.live_session import LiveSession
from quoth.pipeline.live_speech import LiveSpeech

POLL_S = 0.3
CAPTIONS = (".vtt", ".srt")


async def piped(lines: LineReader) -> AsyncIterator[TranscriptSegment]:
    """Yield the segments of JSON lines on standard input; raises InputError."""
    loop, read = asyncio.get_running_loop(), asyncio.Queue[str | Exception]()
    stdin = sys.stdin

    def tell(found: str | Exception) -> None:
        with suppress(RuntimeError):  # The loop is closed: the lecture has ended.
            loop.call_soon_threadsafe(read.put_nowait, found)

    def read_lines() -> None:
        try:
            for line in iter(stdin.readline, ""):
                tell(line)
            tell("")
        except (OSError, ValueError) as error:
            tell(error)

    # A thread of the loop's pool would keep the process alive until the next line.
    Thread(target=read_lines, daemon=True).start()
    while found := await read.get():
        if isinstance(found, Exception):
            raise found
        for segment in lines.read(found):
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


async def followed(file: Path, reader: LineReader) -> AsyncIterator[TranscriptSegment]:
    """Yield the segments of a file that is still being written, until this is cancelled.

    Captions count once they are followed by an empty line, JSON lines once they end. Raises
    InputError.
    """
    seen, read = set[str](), 0
    while True:
        text = await asyncio.to_thread(_text, file)
        if file.suffix.lower() in CAPTIONS:
            found = growing_captions(text)
            new = [each for each in found if each.segment_id not in seen]
            seen.update(each.segment_id for each in new)
        else:
            whole = text.rfind("\n") + 1
            lines, read = text[read:whole].splitlines(), max(read, whole)
            new = [segment for line in lines for segment in reader.read(line)]
        for segment in new:
            yield segment
        await asyncio.sleep(POLL_S)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None


class LineReader:
    """Reads the lines of one program; ``warn`` is told of those that are passed over."""

    def __init__(self, form: SpeechFormat, warn: Callable[[str], None]) -> None:
        self._source = TranscriptSource(form)
        self._warn = warn
        self._understood = False

    def read(self, line: str) -> list[TranscriptSegment]:
        """Return the segments of a line.

        Raises InputError where no line before was a message of this form; later on such a line is
        passed over.
        """
        if not line.strip():
            return []
        try:
            found = [clean_segment(each) for each in self._source.read(json.loads(line))]
        except (ValueError, RecursionError, InputError):
            said = f"This line is no segment: {line.strip()[:80]!r}."
            if self._understood:
                self._warn(f"{said} It is passed over.")
                return []
            hint = " Write JSON with start, end and text." if self._source.form == "quoth" else ""
            raise InputError(said + hint) from None
        self._understood = True
        return found


# --- sound -----------------------------------------------------------------------------------


async def speak_file(
    session: CliSession, file: Path, running: LiveSession, *, speed: float
) -> None:
    """Transcribe a recording into a session, at most ``speed`` times as fast as it was spoken.

    Raises InputError, NoTranscriber, and BackendError where recognition fails.
    """
    if not await asyncio.to_thread(file.is_file):
        raise InputError(f"There is no file {file}.")
    settings = live_speech_settings(session.settings)
    speech = await LiveSpeech.start(running, settings, file=file, speed=speed)
    try:
        await speech.wait()
    finally:
        await speech.stop()
    _require(speech)


async def speak_microphone(session: CliSession, running: LiveSession) -> None:
    """Transcribe the microphone into a session until Ctrl-C; raises as `speak_file` does."""
    settings = live_speech_settings(session.settings)
    speech = await LiveSpeech.start(running, settings)
    loop = asyncio.get_running_loop()
    try:
        with open_microphone(lambda pcm: loop.call_soon_threadsafe(speech.feed, pcm)):
            await speech.wait()
    except asyncio.CancelledError:  # Ctrl-C ends the lecture; what was said last is still taken
        await speech.finish()
    finally:
        await speech.stop()
    _require(speech)


def _require(speech: LiveSpeech) -> None:
    if speech.state.state == "failed":
        raise BackendError(speech.state.message)
