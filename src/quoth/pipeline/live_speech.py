"""A microphone or a recording as the voice of a live session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from quoth.core.errors import Busy, Conflict, NoTranscriber, QuothError
from quoth.core.lecture import LiveSpeechSettings, SpeechState, TranscriptSegment
from quoth.ingest.sandbox.speech_process import (
    END_S,
    SAMPLE_RATE,
    SpeechProcess,
    SpeechSource,
)
from quoth.live.events import SpeechChanged
from quoth.pipeline.live_session import LiveSession
from quoth.store.rows import now

log = logging.getLogger("quoth.live")

LAST_ATTEMPTS = 3
MAX_UNSAID = 2_000
"""Sentences kept while the catalogue cannot be written: more than are said in two hours."""


class LiveSpeech:
    """The speech of one session while it is transcribed; sound is never stored."""

    def __init__(self, session: LiveSession, process: SpeechProcess) -> None:
        self.session = session
        self.state = SpeechState("starting")
        self._process = process
        self.ending = False
        """Whether no more sound comes."""
        self._left_out = False
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        session: LiveSession,
        settings: LiveSpeechSettings,
        *,
        rate: int = SAMPLE_RATE,
        language: str | None = None,
        file: Path | None = None,
        speed: float = 1.0,
    ) -> LiveSpeech:
        """Begin to transcribe behind what was said so far, and store that the speaker agreed.

        Raises NoTranscriber where there is no speech to text, and Conflict after the end.
        """
        if settings.problem:
            raise NoTranscriber(settings.problem)
        if session.lecture.state == "ended":
            raise Conflict("This session has ended. Start another one.")
        key = session.lecture.session_id
        session.lecture = await asyncio.to_thread(session.store.change, key, consent_at=now())
        source = SpeechSource(
            name=f"m{uuid4().hex[:8]}",
            start=session.said_until,
            rate=rate,
            language=language or session.lecture.language,
            file=file,
            speed=speed,
        )
        made = cls(session, await SpeechProcess.start(settings, source))
        made._tell(made.state)
        return made

    def feed(self, samples: bytes) -> None:
        """Take PCM of 16 bits at the rate of the start; never waits for recognition."""
        if not self._process.feed(samples) and not self._left_out:
            self._left_out = True
            log.warning("sound_left_out", extra={"session": self.session.lecture.session_id})

    async def finish(self) -> None:
        """Say that no more sound comes, and wait for the last sentence."""
        self.ending = True
        self._process.finish()
        await asyncio.wait({self._reading}, timeout=END_S)
        await self.stop()

    async def wait(self) -> None:
        """Wait until recognition has ended: a file was heard, the session ended, or it failed."""
        await asyncio.wait({self._reading})

    async def stop(self) -> None:
        """End at once; what was recognised is stored."""
        self._reading.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await self._reading
        finally:
            await self._process.kill()
        if self.state.state != "failed":
            self._tell(SpeechState("off"))

    async def _read(self) -> None:
        unsaid: list[TranscriptSegment] = []
        try:
            async for answer in self._process.answers():
                if isinstance(answer, TranscriptSegment):
                    unsaid = await self._say([*unsaid, answer])
                else:
                    self._tell(answer)
            for _ in range(LAST_ATTEMPTS):
                unsaid = await self._say(unsaid)
            if unsaid:
                await self.session.push(unsaid)
        except QuothError as error:
            self._tell(SpeechState("failed", message=str(error)))

    async def _say(self, segments: Sequence[TranscriptSegment]) -> list[TranscriptSegment]:
        """Push segments; return those that are kept for the next attempt, as others write now."""
        try:
            if segments:
                await self.session.push(segments)
        except Busy as error:
            log.warning("segments_wait", extra={"code": error.code, "segments": len(segments)})
            await asyncio.sleep(error.retry_after_s or 0.0)
            return [each for each in segments if each.final][-MAX_UNSAID:]
        return []

    def _tell(self, state: SpeechState) -> None:
        if state != self.state or state.state == "starting":
            self.state = state
            self.session.events.put(SpeechChanged(state))
