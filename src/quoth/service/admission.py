"""How many questions are answered at once, how many wait, and what the others are told.

Without a bound a thousand questions at once would share the processor until none of them is
answered in time. Here a few are answered, some wait in a fair line, and the rest are told when to
come again: at once where waiting is hopeless, else after a bounded wait.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic

from quoth.errors import Busy

LEAST_ADVISED_S, MOST_ADVISED_S = 1, 60
"""Seconds: the bounds of what `Busy.retry_after_s` says."""
HOPELESS = 2.0
"""Whoever would wait so many times longer than allowed, by the pace of late, is told at once."""
SMOOTHING = 0.1
"""The share that the newest question has in the pace."""

_Line = OrderedDict[asyncio.Future[None], None]
"""Those who wait of one tenant, in their order; whoever leaves is found at once."""


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

    ``clock`` gives seconds.
    """

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float] = monotonic) -> None:
        self.bounds = bounds
        self.in_flight = 0
        self.waiting = 0
        self.admitted = 0
        self.shed = 0
        self._clock = clock
        self._lines: OrderedDict[str, _Line] = OrderedDict()
        self._pace_s = 0.1

    @property
    def expected_s(self) -> float:
        """Seconds that somebody who comes now would probably wait."""
        return (self.waiting + 1) * self._pace_s / self.bounds.in_flight

    @asynccontextmanager
    async def turn(self, whose: str, *, waited_s: float = 0.0) -> AsyncIterator[None]:
        """Wait for the turn of one more question of a tenant; raises Busy when it does not come.

        ``waited_s`` are the seconds that it waited elsewhere already. Whoever is cancelled while
        waiting leaves at once and takes nobody's place.
        """
        await self._enter(whose, wait_s=max(0.0, self.bounds.wait_s - waited_s))
        self.admitted += 1
        began = self._clock()
        try:
            yield
        finally:
            self._pace_s += SMOOTHING * (self._clock() - began - self._pace_s)
            self._pass_on()

    async def _enter(self, whose: str, *, wait_s: float) -> None:
        if self.in_flight < self.bounds.in_flight:
            self.in_flight += 1
            return
        full = self.waiting >= self.bounds.waiting
        if full or self.expected_s > HOPELESS * self.bounds.wait_s:
            raise self._busy()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(whose, OrderedDict())[turn] = None
        self.waiting += 1
        try:
            await asyncio.wait([turn], timeout=wait_s)
        except asyncio.CancelledError:
            if turn.done():
                self._pass_on()
            else:
                self._leave(whose, turn)
            raise
        if not turn.done():
            self._leave(whose, turn)
            raise self._busy()

    def _pass_on(self) -> None:
        """Give a place that has become free to the next tenant's next question."""
        if not self._lines:
            self.in_flight -= 1
            return
        whose, line = next(iter(self._lines.items()))
        turn = next(iter(line))
        self._leave(whose, turn)
        if whose in self._lines:
            self._lines.move_to_end(whose)
        turn.set_result(None)

    def _leave(self, whose: str, turn: asyncio.Future[None]) -> None:
        line = self._lines[whose]
        del line[turn]
        self.waiting -= 1
        if not line:
            del self._lines[whose]

    def _busy(self) -> Busy:
        self.shed += 1
        return Busy(
            "More is asked than can be answered at the moment. Try again later.",
            retryable=True,
            retry_after_s=min(MOST_ADVISED_S, max(LEAST_ADVISED_S, ceil(self.expected_s))),
        )
