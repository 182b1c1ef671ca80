"""How much of a provider's time, text and patience one call may take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take, in seconds and bytes of text.

    The time for connecting belongs to the client (`llm_http.CONNECT_S`). After a failure no try
    begins later than ``retry_within_s`` after the call began, unless the provider named the time
    itself.
    """

    first_token_s: float = 10.0
    between_tokens_s: float = 10.0
    total_s: float = 30.0
    max_bytes: int = 1 << 20
    retries: int = 2
    retry_within_s: float = 2.0


class RetryBudget:
    """Lets a tenth of the calls of the last minute be tried again, and two in any case.

    When a provider is down, tries on top of calls would keep it down.
    """

    def __init__(
        self,
        *,
        share: float = 0.1,
        least: int = 2,
        window_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._share = share
        self._least = least
        self._window_s = window_s
        self._clock = clock
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()

    def called(self) -> None:
        """Note a call that begins."""
        self._forget()
        self._calls.append(self._clock())

    def take(self) -> bool:
        """Take one more try, if there is one left."""
        self._forget()
        if len(self._retries) >= max(self._least, int(self._share * len(self._calls))):
            return False
        self._retries.append(self._clock())
        return True

    def _forget(self) -> None:
        past = self._clock() - self._window_s
        for times in (self._calls, self._retries):
            while times and times[0] < past:
                times.popleft()
