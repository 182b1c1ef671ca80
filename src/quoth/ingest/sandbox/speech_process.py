"""The service's side of the process that recognises live speech."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quoth.core.errors import BackendError
from quoth.core.lecture import LiveSpeechSettings, SpeechState, TranscriptSegment
from quoth.core.types import Json
from quoth.ingest.sandbox.child import LENGTH
from quoth.ingest.sandbox.parent import kill_group, start_process

SAMPLE_RATE = 16_000
MAX_ANSWER = 1 << 20
MAX_UNSENT = 4 << 20
"""Bytes of sound that wait for a process that does not read; beyond, sound is left out."""
END_S = 30.0
"""Seconds for the process to recognise what is left."""


@dataclass(frozen=True, slots=True)
class SpeechSource:
    """Sound at ``rate`` samples a second that begins at ``start`` seconds of the lecture.

    ``name`` begins the ids of the segments. A ``file`` is read by the process itself, ``speed``
    times as fast as it was spoken.
    """

    name: str
    start: float = 0.0
    rate: int = SAMPLE_RATE
    language: str | None = None
    file: Path | None = None
    speed: float = 1.0


class SpeechProcess:
    """A process that recognises one stream of sound; sound is held in memory only."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, settings: LiveSpeechSettings, source: SpeechSource) -> SpeechProcess:
        """Start the process; it loads the weights while sound comes already."""
        request = {
            "module": settings.module,
            "folders": [str(folder) for folder in settings.folders],
            "english": str(settings.english) if settings.english else None,
            "memory_mb": settings.memory_mb,
            "threads": settings.threads,
            "name": source.name,
            "start": source.start,
            "rate": source.rate,
            "language": source.language,
            "file": os.path.join(os.getcwd(), source.file) if source.file else None,
            "speed": source.speed,
        }
        process = cls(await start_process("quoth.ingest.sandbox.listen"))
        process.feed(json.dumps(request).encode() + b"\n")
        return process

    def feed(self, samples: bytes) -> bool:
        """Send PCM on without waiting; return whether it was taken."""
        stdin = self._process.stdin
        assert stdin is not None
        if stdin.is_closing() or stdin.transport.get_write_buffer_size() > MAX_UNSENT:
            return False
        stdin.write(samples)
        return True

    def finish(self) -> None:
        """Say that no more sound comes; `answers` goes on to the last sentence."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()

    async def answers(self) -> AsyncIterator[TranscriptSegment | SpeechState]:
        """Yield segments and states until the sound has ended and all of it is recognised.

        Raises BackendError for a process that broke down.
        """
        while (answer := await self._receive()) is not None:
            if "segment_id" in answer:
                yield TranscriptSegment(**answer)
            else:
                yield SpeechState(**answer)
        code = await self._process.wait()
        if code != 0:
            raise BackendError(
                f"Speech recognition broke down (exit code {code}). Switch the microphone on "
                "again; if it happens again, choose smaller weights with QUOTH_SPEECH_MODEL."
            )

    async def _receive(self) -> Json | None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            (length,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
            if length > MAX_ANSWER:
                return None
            found: Any = json.loads(await stdout.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return found if isinstance(found, dict) else None

    async def kill(self) -> None:
        """End the process at once."""
        kill_group(self._process)
        self.finish()
        await self._process.wait()
