"""Trace of one request: deadline, timings and degradations; and how long stages usually take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
)
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from quoth.core.errors import BackendError

LATEST_WEIGHT = 0.2
"""Weight of the last call in the usual latency."""
SKIP_DECAY = 0.98
"""Decay of a stage's usual latency each time it is skipped."""

T = TypeVar("T")
F = TypeVar("F")


class Trace:
    """Times the stages of one request and turns their failures into fallbacks.

    ``clock`` gives seconds; ``deadline_ms`` is for the whole request, None for no limit.
    """

    def __init__(
        self, *, deadline_ms: float | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock = clock
        self._began = clock()
        self._deadline_ms = deadline_ms
        self._timings: dict[str, float] = {}
        self._spans: dict[str, tuple[float, float]] = {}
        self._degraded: list[str] = []
        self._failures: list[str] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return the fallbacks taken, as ``stage:reason:fallback``, in order."""
        return tuple(dict.fromkeys(self._degraded))

    @property
    def failures(self) -> tuple[str, ...]:
        """Return the fallbacks caused by failures, not by a budget."""
        return tuple(dict.fromkeys(self._failures))

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the request began."""
        return (self._clock() - self._began) * 1000

    def remaining_ms(self) -> float | None:
        """Return the milliseconds until the deadline, never negative; None without one."""
        if self._deadline_ms is None:
            return None
        return max(0.0, self._deadline_ms - self.elapsed_ms())

    def timings_ms(self) -> dict[str, float]:
        """Return the milliseconds per stage, and in total."""
        stages = {stage: round(spent, 3) for stage, spent in self._timings.items()}
        return {**stages, "total": round(self.elapsed_ms(), 3)}

    def mark(self, name: str) -> None:
        """Record when something first happened, in milliseconds since the request began."""
        self._timings.setdefault(name, self.elapsed_ms())

    def note(self, stage: str, *, reason: str, fallback: str, failed: bool = False) -> None:
        """Record that a stage took a fallback; ``failed`` where a failure was the reason."""
        self._degraded.append(f"{stage}:{reason}:{fallback}")
        if failed:
            self._failures.append(self._degraded[-1])

    def spans_ms(self) -> dict[str, tuple[float, float]]:
        """Return when each stage first began and last ended, in milliseconds."""
        return dict(self._spans)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block under this name; repeated names add up."""
        began = self._clock()
        try:
            yield
        finally:
            spent = (self._clock() - began) * 1000
            self._timings[name] = self._timings.get(name, 0.0) + spent
            start, end = (began - self._began) * 1000, self.elapsed_ms()
            first, last = self._spans.get(name, (start, end))
            self._spans[name] = (min(first, start), max(last, end))

    async def attempt(
        self,
        stage: str,
        work: Awaitable[T],
        *,
        otherwise: F,
        fallback: str,
        limit_ms: float | None = None,
        timed: bool = True,
    ) -> T | F:
        """Await the work; return ``otherwise`` when a backend fails or the deadline passes.

        ``limit_ms`` is this stage's maximum of the remaining time. ``timed`` False leaves the
        deadline to the inner stages, so that each of them takes its own fallback.

        This is the only place where a failure becomes a fallback. It catches `BackendError` and the
        deadline and nothing else, so that a bug stays visible. ``fallback`` names the replacement
        for the answer, the logs and the metrics.
        """
        limits = (self.remaining_ms(), limit_ms) if timed else ()
        remaining = min((limit for limit in limits if limit is not None), default=None)
        reason = "deadline"
        with self.stage(stage):
            limit = asyncio.timeout(None if remaining is None else remaining / 1000)
            try:
                if remaining != 0:
                    async with limit:
                        return await work
                if isinstance(work, Coroutine):
                    work.close()  # it never started
            except TimeoutError:
                if not limit.expired():
                    raise
            except BackendError as error:
                reason = error.code
        self.note(stage, reason=reason, fallback=fallback, failed=True)
        return otherwise

    async def wrap_stream(
        self, stage: str, items: AsyncIterator[T], *, fallback: str, cut: str
    ) -> AsyncGenerator[T, None]:
        """Yield the items until the end, or until a backend fails or the deadline passes.

        It is `attempt` for a stream: ``fallback`` names what is used when no item was yielded,
        ``cut`` what becomes of an interrupted stream. Yielded items stay.
        """
        reason = ""
        came = False
        async with AsyncExitStack() as closing:
            if isinstance(items, AsyncGenerator):
                await closing.enter_async_context(aclosing(items))
            while not reason:
                remaining = self.remaining_ms()
                # An item that is ready at once never lets the event loop check the deadline.
                if remaining == 0:
                    reason = "deadline"
                    break
                limit = asyncio.timeout(None if remaining is None else remaining / 1000)
                try:
                    with self.stage(stage):
                        async with limit:
                            item = await anext(items)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    if not limit.expired():
                        raise
                    reason = "deadline"
                except BackendError as error:
                    reason = error.code
                else:
                    came = True
                    yield item
        self.note(stage, reason=reason, fallback=cut if came else fallback, failed=True)


@dataclass(slots=True)
class LatencyEstimator:
    """Estimates stage latencies in milliseconds; recent calls count most."""

    _usual: dict[str, float] = field(default_factory=dict)

    @property
    def usual_ms(self) -> Mapping[str, float]:
        """Return the estimated latency of each observed stage."""
        return dict(self._usual)

    def note(self, stage: str, spent_ms: float) -> None:
        """Record the latency of a stage; for an answer, of its first token."""
        before = self._usual.get(stage, spent_ms)
        self._usual[stage] = before + LATEST_WEIGHT * (spent_ms - before)

    def left_out(self, stage: str) -> None:
        """Record a skipped stage, so that it is eventually tried again."""
        self._usual[stage] *= SKIP_DECAY
