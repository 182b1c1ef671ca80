"""Events of a live session, and the log that viewers read them from.

The field ``event`` is the name on every surface: server-sent events, WebSocket, command line.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from quoth.core.lecture import LiveCitation, SpeechState, TranscriptSegment

KEPT_S = 600.0
"""Seconds for which events are kept for a viewer who comes back."""
MAX_EVENTS = 20_000


@dataclass(frozen=True, slots=True)
class SegmentSpoken:
    """A segment of the transcript, new or revised, final or not."""

    segment: TranscriptSegment
    event: Literal["segment"] = "segment"


@dataclass(frozen=True, slots=True)
class WindowCompleted:
    """A window is complete and is being looked up; `CitationsFound` follows."""

    window_index: int
    start: float
    end: float
    transcript_id: str
    event: Literal["window"] = "window"


@dataclass(frozen=True, slots=True)
class CitationsFound:
    """The citations of a window, perhaps none; they replace those sent for it before.

    ``early`` ones are sent while the window is still being spoken.
    """

    window_index: int
    citations: tuple[LiveCitation, ...]
    early: bool = False
    event: Literal["citations"] = "citations"


@dataclass(frozen=True, slots=True)
class CitationsStale:
    """Citations whose support was lost when the transcript was revised."""

    window_index: int
    citation_ids: tuple[str, ...]
    event: Literal["stale"] = "stale"


@dataclass(frozen=True, slots=True)
class LookupSlow:
    """A window has been waiting for its citations for longer than usual."""

    window_index: int
    waited_s: float
    event: Literal["slow"] = "slow"


@dataclass(frozen=True, slots=True)
class SpeechChanged:
    """The microphone was switched on or off, lags, or hears no speech."""

    speech: SpeechState
    event: Literal["speech"] = "speech"


@dataclass(frozen=True, slots=True)
class LectureEnded:
    """The session has ended; all windows have been looked up."""

    windows: int
    event: Literal["end"] = "end"


LiveEvent = (
    SegmentSpoken
    | WindowCompleted
    | CitationsFound
    | CitationsStale
    | LookupSlow
    | SpeechChanged
    | LectureEnded
)


@dataclass(slots=True)
class EventLog:
    """The last events with their ids, which rise; readers wait for the next one."""

    clock: Callable[[], float] = time.monotonic
    last_id: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    _events: deque[tuple[int, float, LiveEvent]] = field(default_factory=deque)
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def put(self, event: LiveEvent) -> None:
        """Add an event and wake every reader."""
        self.last_id += 1
        now = self.clock()
        self._events.append((self.last_id, now, event))
        while len(self._events) > MAX_EVENTS or self._events[0][1] < now - KEPT_S:
            self._events.popleft()
        self.closed = self.closed or isinstance(event, LectureEnded)
        more, self._more = self._more, asyncio.Event()
        more.set()

    def close(self) -> None:
        """End the reading of every reader, who has what there is."""
        self.closed = True
        self._more.set()

    def after(self, number: int) -> list[tuple[int, LiveEvent]]:
        """Return the events behind an id that are kept."""
        behind = takewhile(lambda kept: kept[0] > number, reversed(self._events))
        return [(key, event) for key, _at, event in behind][::-1]

    async def read(self, after: int | None = None) -> AsyncGenerator[tuple[int, LiveEvent], None]:
        """Yield the events behind an id, or all that are kept, until the session has ended or was
        stopped.
        """
        position = after if after is not None else 0
        while True:
            more = self._more
            for number, event in self.after(position):
                position = number
                yield number, event
            if self.closed and not self.after(position):
                return
            if more is self._more:
                await more.wait()
