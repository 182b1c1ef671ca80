"""How many questions are answered at once, how many wait, and what the others are told.

Without a bound a thousand questions at once would share the processor until none of them is
answered in time. Here a few are answered, some wait in a fair line, and the rest are told when to
come again: at once where waiting is hopeless, else after a bounded wait.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.fair_queue import FairQueue

LEAST_ADVISED_S, MOST_ADVISED_S = 1, 60
"""Seconds: the bounds of what `Busy.retry_after_s` says."""
HOPELESS = 2.0
"""Whoever would wait so many times longer than allowed, by the pace of late, is told at once."""
SMOOTHING = 0.1
"""The share that the newest question has in the pace."""
NEAR = 8
"""Questions that wait for their turn behind the walls, about; more wait in front of them."""
TOLD_S = 0.001
"""Seconds that it takes to tell one of those who wait that it was in vain."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """``in_flight`` questions at once, ``waiting`` behind them, each for at most ``wait_s``."""

    in_flight: int
    waiting: int = 1024
    wait_s: float = 10.0


def default_in_flight(*, cores: int | None = None, writes: bool = False) -> int:
    """Give how many questions at once are best; ``writes`` says that a language model takes part.

    In the sources' own words a question computes all the time, so that more than two a core only
    take longer each; what a model writes is waited for, and takes room in memory alone.
    """
    mine = cores or os.cpu_count() or 1
    return max(4, 2 * mine) + (32 if writes else 0)


class Admission:
    """Lets questions in, in their order, tenants in turn; one event loop uses it.

    There are two lines, in both of which tenants take turns: behind the walls, for being answered,
    and in front of them, where waiting takes a quarter of the memory, for coming near. ``clock``
    gives seconds.
    """

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float] = monotonic) -> None:
        self.bounds = bounds
        self.in_flight = 0
        self.admitted = 0
        self.shed = 0
        self._clock = clock
        self._line = FairQueue()
        self._outside = FairQueue()
        self._coming = 0
        self._closing = False
        self._pace_s = 0.1

    @property
    def waiting(self) -> int:
        """Questions in both lines."""
        return len(self._line) + len(self._outside)

    @property
    def expected_s(self) -> float:
        """Seconds that somebody behind all others would probably wait."""
        return self._expected_s(self.waiting)

    def acquire_front(self, whose: str) -> Coroutine[Any, Any, bool]:
        """Wait in front of the walls until few are ahead; false where that is in vain.

        Whoever may come near says so with `arrive` when he has come through the walls, or has not.
        Waiting ends early enough for everybody to be told in time. Who went away is noticed when
        he is called.
        """
        if self._room():
            self._coming += 1
            return _told(True)
        if self._closing or self._client_gone(self.waiting):
            return _told(False)
        wait_s = self.bounds.wait_s
        within_s = max(wait_s / 2, wait_s - TOLD_S * self.waiting)
        # Handed on, not awaited: a coroutine more for each of a thousand would stay in memory.
        return self._outside.wait(whose, within_s=within_s, give_back=self.arrive)

    def arrive(self) -> None:
        """Note that one of those who were let near is through the walls, or gone."""
        self._coming -= 1
        self._wake_next()

    def close(self) -> None:
        """Let nobody wait in front of the walls any more."""
        self._closing = True
        self._outside.dismiss_all()

    @asynccontextmanager
    async def turn(
        self, whose: str, *, waited_s: float = 0.0, may_wait: bool = True
    ) -> AsyncIterator[None]:
        """Wait for the turn of one more question of a tenant; raises Busy when it does not come.

        ``waited_s`` are the seconds that it waited elsewhere already; where it did so in vain, it
        may not wait once more. Whoever is cancelled while waiting leaves at once and takes
        nobody's place.
        """
        if self.in_flight < self.bounds.in_flight:
            self.in_flight += 1
        elif not may_wait or not await self._wait(whose, waited_s=waited_s):
            self.shed += 1
            raise self._busy()
        self.admitted += 1
        began = self._clock()
        try:
            yield
        finally:
            self._pace_s += SMOOTHING * (self._clock() - began - self._pace_s)
            self._pass_on()

    async def _wait(self, whose: str, *, waited_s: float) -> bool:
        if self._client_gone(len(self._line)):
            return False
        within_s = max(0.0, self.bounds.wait_s - waited_s)
        try:
            return await self._line.wait(whose, within_s=within_s, give_back=self._pass_on)
        finally:
            self._wake_next()

    def _room(self) -> bool:
        return self._coming + len(self._line) < NEAR

    def _wake_next(self) -> None:
        """Call those in front of the walls as long as there is room behind them."""
        while self._room() and self._outside.call_next():
            self._coming += 1

    def _pass_on(self) -> None:
        """Give a place that has become free to the next tenant's next question."""
        if not self._line.call_next():
            self.in_flight -= 1
        # Also where the line is kept full by those who do not wait in front of the walls.
        if self._outside.call_next():
            self._coming += 1

    def _expected_s(self, ahead: int) -> float:
        return (ahead + 1) * self._pace_s / self.bounds.in_flight

    def _client_gone(self, ahead: int) -> bool:
        too_long = self._expected_s(ahead) > HOPELESS * self.bounds.wait_s
        return too_long or ahead >= self.bounds.waiting

    def _busy(self) -> Busy:
        return Busy(
            "More is asked than can be answered at the moment. Try again later.",
            retryable=True,
            retry_after_s=min(MOST_ADVISED_S, max(LEAST_ADVISED_S, ceil(self.expected_s))),
        )


async def _told(answer: bool) -> bool:
    return answer
