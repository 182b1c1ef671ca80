"""The windows that wait to be looked up: few, and none is left out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

MAX_WAITING = 8
"""Look-ups that wait; beyond, the oldest two become one."""


@dataclass(frozen=True, slots=True)
class LookupJob:
    """Windows that are looked up together, and when the first began to wait (monotonic)."""

    windows: tuple[int, ...]
    since: float


@dataclass(slots=True)
class LookupQueue:
    """Look-ups in order; windows that were merged are looked up alone when there is time."""

    waiting: list[LookupJob] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    merged: int = 0

    def put(self, window: int) -> None:
        """Add a window, in place of the same one."""
        self.waiting = [job for job in self.waiting if job.windows != (window,)]
        self.waiting.append(LookupJob((window,), time.monotonic()))
        if len(self.waiting) > MAX_WAITING:
            first, second, *rest = self.waiting
            both = (*first.windows, *second.windows)
            self.merged += 1
            self.again += [index for index in both if index not in self.again]
            self.waiting = [LookupJob(both, first.since), *rest]

    def next(self) -> LookupJob | None:
        """Take the look-up that has waited longest."""
        return self.waiting.pop(0) if self.waiting else None

    def next_again(self) -> LookupJob | None:
        """Take a window that was looked up with others before, or has lost its passages."""
        return LookupJob((self.again.pop(0),), time.monotonic()) if self.again else None
