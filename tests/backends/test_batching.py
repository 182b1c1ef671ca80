"""Concurrent requests share batches, and nothing else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.onnx.batching import Batcher


class Work:
    """Doubles numbers and remembers the batches; a negative number fails."""

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.batches: list[list[int]] = []
        self._seconds = seconds

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        time.sleep(self._seconds)
        if any(item < 0 for item in items):
            raise ValueError(f"{min(items)} is negative")
        return [2 * item for item in items]


def batcher(work: Work, *, most: int = 4, threads: int = 1, room: int = 1024) -> Batcher[int, int]:
    return Batcher(work, most=most, threads=threads, size=abs, room=room, window_ms=0.5)


@given(
    requests=st.lists(st.lists(st.integers(0, 50), max_size=9), max_size=6),
    most=st.integers(1, 5),
    threads=st.integers(1, 3),
    room=st.integers(1, 8),
)
def test_everybody_gets_their_own_results_in_order(
    requests: list[list[int]], most: int, threads: int, room: int
) -> None:
    work = Work()

    async def ask() -> list[list[int]]:
        batches = batcher(work, most=most, threads=threads, room=room)
        try:
            return await asyncio.gather(*(batches.run(each) for each in requests))
        finally:
            batches.close()

    assert asyncio.run(ask()) == [[2 * item for item in each] for each in requests]
    assert sorted(i for batch in work.batches for i in batch) == sorted(
        item for each in requests for item in each
    )
    assert all(len(batch) <= most for batch in work.batches)


async def test_requests_that_come_together_share_batches() -> None:
    work = Work(seconds=0.01)
    batches = batcher(work)
    await asyncio.gather(*(batches.run([each]) for each in (1, 2, 3, 4, 5)))
    batches.close()
    assert work.batches == [[1, 2, 3, 4], [5]]


async def test_a_lone_request_waits_for_nobody() -> None:
    batches = Batcher(Work(), most=8, threads=2, size=abs, window_ms=10_000)
    assert await asyncio.wait_for(batches.run([1]), 5) == [2]
    batches.close()


async def test_an_error_reaches_only_the_request_that_caused_it() -> None:
    batches = batcher(Work(seconds=0.01), most=8)
    calls = [batches.run([1]), batches.run([2, 3]), batches.run([-1]), batches.run([4])]
    one, two, bad, four = await asyncio.gather(*calls, return_exceptions=True)
    batches.close()
    assert (one, two, four) == ([2], [4, 6], [8])
    assert isinstance(bad, ValueError)


async def test_who_is_cancelled_falls_out_of_the_queue() -> None:
    work = Work(seconds=0.02)
    batches = batcher(work, most=1)
    first = asyncio.create_task(batches.run([1]))
    second = asyncio.create_task(batches.run([2]))
    await asyncio.sleep(0.005)
    second.cancel()
    assert await first == [2]
    assert await batches.run([3]) == [6]
    batches.close()
    assert [2] not in work.batches


async def test_no_more_batches_run_at_once_than_there_are_threads() -> None:
    running, most = 0, 0
    guard = threading.Lock()

    def work(items: Sequence[int]) -> Sequence[int]:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with guard:
            running -= 1
        return items

    batches = Batcher(work, most=1, threads=2, size=abs)
    await asyncio.gather(*(batches.run([1, 2, 3]) for _ in range(5)))
    batches.close()
    assert most == 2
