"""Value types of live lectures: the session, its transcript and the citations of its windows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quoth.core.types import Citation

Numbering = Literal["", "server", "caller"]
"""Who numbers the windows of a session, from its first call on; "" before it."""
LectureState = Literal["open", "ended"]
SpeechFormat = Literal["quoth", "deepgram", "openai", "livekit", "zoom"]
"""Whose messages bring a transcript."""
SpeechStateName = Literal["off", "starting", "listening", "lagging", "silent", "failed"]


@dataclass(frozen=True, slots=True)
class TranscriptSegment:
    """The words from `start` to `end`, in seconds of the lecture.

    A segment with the id of an earlier one and a higher ``revision`` replaces it. Only ``final``
    ones make windows.
    """

    segment_id: str
    start: float
    end: float
    text: str
    final: bool = True
    revision: int = 0
    speaker: str | None = None
    language: str | None = None

    @property
    def place(self) -> tuple[float, float, str]:
        """Return what segments are ordered by."""
        return self.start, self.end, self.segment_id


@dataclass(frozen=True, slots=True)
class SpeechState:
    """Whether a microphone is on, and how its recognition keeps up.

    ``lag_s`` is the sound that waits, in seconds; ``message`` says why it failed. ``silent`` means
    that no speech was heard for ten minutes.
    """

    state: SpeechStateName = "off"
    model: str = ""
    lag_s: float = 0.0
    message: str = ""


@dataclass(frozen=True, slots=True)
class LiveSpeechSettings:
    """Which module recognises, with which weights; the second ones are taken when it lags.

    ``english`` are those that take their place once English is spoken. ``problem`` is why there is
    no speech to text here, if so.
    """

    module: str
    folders: tuple[Path, ...]
    memory_mb: int
    threads: int = 2
    problem: str = ""
    english: Path | None = None


@dataclass(frozen=True, slots=True)
class Lecture:
    """A live session; its windows are looked up in ``collections`` and single ``documents``.

    ``document_id`` is the talk that it was kept as. ``consent_at`` is when the speaker
    agreed that the microphone is transcribed.
    """

    session_id: str
    title: str
    language: str | None
    collections: tuple[str, ...]
    numbering: Numbering
    state: LectureState
    created_at: str
    ended_at: str | None = None
    document_id: str | None = None
    consent_at: str | None = None
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveCitation(Citation):
    """A citation shown for a window of a lecture.

    ``number`` counts the citations of the session. ``transcript_id`` is the last segment of the
    window. A stale one has lost its support by a revision of the transcript.
    """

    session_id: str = ""
    transcript_id: str = ""
    window_index: int = 0
    rank: int = 1
    stale: bool = False


@dataclass(frozen=True, slots=True)
class WindowRecord:
    """A window of a session as stored: its words, from `start` to `end` seconds."""

    index: int
    start: float
    end: float
    text: str
    transcript_id: str
    created_at: str
    citations: tuple[LiveCitation, ...] = ()
