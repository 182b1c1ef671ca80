"""Circuit breaker: stops calling a component that keeps failing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from quoth.core.errors import BackendError

WITHIN_S = 30.0
"""Seconds within which the failures are in a row."""
HALF_OPEN_S = 15.0
"""Seconds for which no call passes."""

State = Literal["closed", "open", "half_open"]
"""All calls pass; no call passes; a single trial call passes and decides."""


class CircuitBreaker:
    """Opens after ``failures`` in a row within `WITHIN_S` seconds, for `HALF_OPEN_S` seconds.

    Then a single call passes: on success the breaker closes, on failure the wait begins again. A
    success between failures resets the count, so that a busy component is not cut off for the few
    calls in a hundred that go wrong.

    ``name`` is the component's name at the beginning of a sentence; ``error`` makes the error of a
    refused call; ``counts`` says which errors are the component's own failures: others, such as a
    refusal to answer, show that it works. ``clock`` gives seconds. A breaker belongs to one event
    loop.
    """

    def __init__(
        self,
        name: str,
        *,
        error: Callable[[str], BackendError] = BackendError,
        counts: Callable[[BackendError], bool] = lambda _error: True,
        failures: int = 5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._error = error
        self._counts = counts
        self._failures: deque[float] = deque(maxlen=failures)
        self._clock = clock
        self._opened: float | None = None
        self._probing = False

    @property
    def state(self) -> State:
        """Return the state that the next call would meet."""
        if self._opened is None:
            return "closed"
        return "half_open" if self.waits_s == 0 else "open"

    @property
    def waits_s(self) -> float:
        """Return the seconds until a call may be tried; 0 if it may be now."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + HALF_OPEN_S - self._clock())

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run the block and record its outcome; raises the breaker's error when open.

        A block that is cancelled, or ended by a bug, does not count.
        """
        probe = self._opened is not None
        if probe:
            self._begin_probe()
        failed: bool | None = None
        try:
            yield
            failed = False
        except BackendError as error:
            failed = self._counts(error)
            raise
        finally:
            if probe:
                self._probing = False
            # A call that began before the breaker opened does not count.
            counted = probe or self._opened is None
            if counted and failed:
                self._note_failure(probe=probe)
            elif counted and failed is False:
                self._opened = None
                self._failures.clear()

    def _begin_probe(self) -> None:
        """Let one call pass when the wait is over; raises the breaker's error otherwise."""
        wait = self.waits_s
        if wait or self._probing:
            again = f"in {wait:.0f} s" if wait else "as soon as one call succeeds"
            raise self._error(
                f"{self.name} failed {self._failures.maxlen} times in a row and is not called "
                f"for now. It is tried again {again}."
            )
        self._probing = True

    def _note_failure(self, *, probe: bool) -> None:
        now = self._clock()
        self._failures.append(now)
        full = len(self._failures) == self._failures.maxlen
        if probe or (full and now - self._failures[0] <= WITHIN_S):
            self._opened = now
