"""The trace times stages and turns the failures of backends, and nothing else, into fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from quoth.core.errors import (
    BackendError,
    ConfigError,
    EmbeddingError,
    StorageFull,
)
from quoth.core.trace import Trace
from tests.support.clock import Clock


async def given() -> str:
    return "work"


def failing(error: BaseException) -> Callable[[], Awaitable[str]]:
    async def work() -> str:
        raise error

    return work


async def attempt(trace: Trace, work: Callable[[], Awaitable[str]]) -> str:
    return await trace.attempt("leg", work(), otherwise="fallback", fallback="other")


def test_nothing_remains_after_the_deadline() -> None:
    clock = Clock()
    trace = Trace(deadline_ms=500, clock=clock)
    clock.now += 2
    assert trace.remaining_ms() == 0


def test_a_stage_that_fails_is_timed_too() -> None:
    clock = Clock()
    trace = Trace(clock=clock)

    def work() -> None:
        with trace.stage("fuse"):
            clock.now += 0.5
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert trace.timings_ms()["fuse"] == 500


async def test_work_that_succeeds_is_given_and_timed() -> None:
    clock = Clock()
    trace = Trace(clock=clock)

    async def work() -> str:
        clock.now += 0.5
        return "work"

    assert await attempt(trace, work) == "work"
    assert (trace.timings_ms()["leg"], trace.degraded) == (500, ())


@pytest.mark.parametrize("error", [BackendError("Down."), EmbeddingError("Down."), StorageFull("")])
async def test_a_backend_that_fails_is_replaced_and_recorded_once(error: BackendError) -> None:
    trace = Trace()
    assert await attempt(trace, failing(error)) == "fallback"
    assert trace.degraded == (f"leg:{error.code}:other",)


@pytest.mark.parametrize(
    "error", [ValueError(), AssertionError(), OSError(), TimeoutError(), ConfigError("Wrong.")]
)
@pytest.mark.parametrize("deadline_ms", [None, 60_000])
async def test_a_bug_stays_visible(error: Exception, deadline_ms: float | None) -> None:
    trace = Trace(deadline_ms=deadline_ms)
    with pytest.raises(type(error)):
        await attempt(trace, failing(error))
    assert trace.degraded == ()


async def test_the_deadline_ends_the_work() -> None:
    trace = Trace(deadline_ms=20)
    ended: list[str] = []

    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")
        return "late"

    assert await attempt(trace, work) == "fallback"
    assert (trace.degraded, ended) == (("leg:deadline:other",), ["ended"])


async def test_no_work_begins_after_the_deadline() -> None:
    clock = Clock()
    trace = Trace(deadline_ms=20, clock=clock)
    clock.now += 1
    began: list[str] = []

    async def work() -> str:
        began.append("began")
        return "late"

    assert await attempt(trace, work) == "fallback"
    assert (trace.degraded, began) == (("leg:deadline:other",), [])


async def test_a_cancelled_request_stays_cancelled() -> None:
    trace = Trace(deadline_ms=60_000)
    task = asyncio.create_task(attempt(trace, failing_late))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace.degraded == ()


async def failing_late() -> str:
    await asyncio.sleep(60)
    raise BackendError("Never.")


async def test_a_stream_that_never_waits_ends_with_the_deadline() -> None:
    clock = Clock()
    trace = Trace(deadline_ms=1000, clock=clock)

    async def pieces() -> AsyncGenerator[str, None]:
        while True:
            clock.now += 0.4
            yield "piece"

    followed = trace.wrap_stream("write", pieces(), fallback="nothing", cut="truncated")
    assert [each async for each in followed] == ["piece"] * 3
    assert trace.degraded == ("write:deadline:truncated",)


async def test_a_stream_is_not_begun_behind_the_deadline() -> None:
    clock = Clock()
    trace = Trace(deadline_ms=1000, clock=clock)
    clock.now += 2
    begun = []

    async def pieces() -> AsyncGenerator[str, None]:
        begun.append(True)
        yield ""

    followed = trace.wrap_stream("write", pieces(), fallback="nothing", cut="truncated")
    assert [each async for each in followed] == []
    assert begun == []
    assert trace.degraded == ("write:deadline:nothing",)
