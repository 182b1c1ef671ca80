"""Seconds that pass when a test says so."""

from __future__ import annotations


class Clock:
    """A clock and a sleep that takes no time; ``slept`` are the seconds of each."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
