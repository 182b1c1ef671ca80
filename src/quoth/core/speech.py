"""Speech to text: its protocol and its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from quoth.core.protocols import Matrix


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word with the blank before it, from `start` to `end` in seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A sentence that is spoken from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str
    words: tuple[SpokenWord, ...] = ()


class Transcriber(Protocol):
    """Turns speech into text with times."""

    name: str

    async def transcribe(
        self, sound: Matrix, *, language: str | None = None, start: float = 0.0
    ) -> list[SpokenSegment]:
        """Return what is said in a mono sound of 16 kHz, values from -1 to 1; raises BackendError.

        ``start`` is the second at which the sound begins, from which times count.
        """
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...
