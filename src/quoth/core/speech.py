"""The values of speech to text."""

from __future__ import annotations

from dataclasses import dataclass


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
