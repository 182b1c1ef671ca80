"""How many questions are answered at once, how many wait, and what the others are told.

Without a bound a thousand questions at once would share the processor until none of them is
answered in time. Here a few are answered, some wait in a fair line, and the rest are told when to
come again: at once where waiting is hopeless, else after a bounded wait.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Literal

from quoth.errors import Busy
from quoth.service.line import Line

LEAST_ADVISED_S, MOST_ADVISED_S = 1, 60
"""Seconds: the bounds of what `Busy.retry_after_s` says."""
HOPELESS = 2.0
"""Whoever would wait so many times longer than allowed, by the pace of late, is told at once."""
SMOOTHING = 0.1
"""The share that the newest question has in the pace."""
NEAR = 16
"""Questions that may wait for their turn behind the walls; the others wait in front of them."""
TOLD_S = 0.002
"""Seconds that it takes to tell one of those who wait that it was in vain, at most."""

Place = Literal["free", "called", "none"]
"""How a question came near: there was room, it was called, or it goes on without a place."""


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

    There are two lines: tenants take turns at being answered, and in front of the walls, where
    waiting takes a third of the memory and nobody knows yet whose a question is, keys take turns at
    coming near. ``clock`` gives seconds.
    """

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float] = monotonic) -> None:
        self.bounds = bounds
        self.in_flight = 0
        self.admitted = 0
        self.shed = 0
        self._clock = clock
        self._line = Line()
        self._outside = Line()
        self._near = 0
        self._closing = False
        self._pace_s = 0.1

    @property
    def waiting(self) -> int:
        """Questions in both lines."""
        return len(self._line) + len(self._outside)

    @property
    def expected_s(self) -> float:
        """Seconds that somebody who comes now would probably wait."""
        return (self.waiting + 1) * self._pace_s / self.bounds.in_flight

    async def come_near(self, whose: Hashable) -> Place:
        """Wait in front of the walls until few are ahead; `leave` gives back a place.

        Who is not called in time goes on without one, early enough for everybody to be told.
        Who went away is noticed when he is called, and gone at once then.
        """
        if self._near < self.bounds.in_flight + NEAR:
            self._near += 1
            return "free"
        within_s = self.bounds.wait_s - TOLD_S * self.waiting
        if self._closing or within_s <= 0 or self._in_vain():
            return "none"
        called = await self._outside.wait(whose, within_s=within_s, give_back=self.leave)
        return "called" if called else "none"

    def leave(self) -> None:
        """Give a place near back, to the next who waits for one."""
        if not self._outside.call_next():
            self._near -= 1

    def close(self) -> None:
        """Let nobody wait in front of the walls any more."""
        self._closing = True
        self._outside.dismiss_all()

    @asynccontextmanager
    async def turn(
        self, whose: str, *, waited_s: float = 0.0, called: bool = False
    ) -> AsyncIterator[None]:
        """Wait for the turn of one more question of a tenant; raises Busy when it does not come.

        ``waited_s`` are the seconds that it waited elsewhere already. Those who wait outside are
        not ahead of one that was ``called``. Whoever is cancelled while waiting leaves at once and
        takes nobody's place.
        """
        wait_s = max(0.0, self.bounds.wait_s - waited_s)
        if self.in_flight < self.bounds.in_flight:
            self.in_flight += 1
        elif (self._in_vain() and not called) or not await self._line.wait(
            whose, within_s=wait_s, give_back=self._pass_on
        ):
            raise self._busy()
        self.admitted += 1
        began = self._clock()
        try:
            yield
        finally:
            self._pace_s += SMOOTHING * (self._clock() - began - self._pace_s)
            self._pass_on()

    def _in_vain(self) -> bool:
        full = self.waiting >= self.bounds.waiting
        return full or self.expected_s > HOPELESS * self.bounds.wait_s

    def _pass_on(self) -> None:
        """Give a place that has become free to the next tenant's next question."""
        if not self._line.call_next():
            self.in_flight -= 1

    def _busy(self) -> Busy:
        self.shed += 1
        return Busy(
            "More is asked than can be answered at the moment. Try again later.",
            retryable=True,
            retry_after_s=min(MOST_ADVISED_S, max(LEAST_ADVISED_S, ceil(self.expected_s))),
        )
