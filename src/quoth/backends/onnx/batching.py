"""Dynamic batching across requests, without waiting for full batches.

A batch starts as soon as a thread is free. While all are busy, items queue up for the next batch;
only while other requests are active does an incomplete batch wait briefly for more items. Each
batch consists of the oldest item and those closest to it in size, so that padding is small and no
item starves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class _Request(Generic[Item, Result]):
    """One request: the results so far, and the number of missing ones."""

    done: asyncio.Future[None]
    results: list[Result | None]
    missing: int


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Item, Result]):
    """One queued item: its request, its index there, and its size."""

    request: _Request[Item, Result]
    at: int
    item: Item
    size: int


class Batcher(Generic[Item, Result]):
    """Runs ``work`` on batches of items in threads; for one event loop at a time.

    ``work`` receives up to ``most`` items and returns their results in order; items of similar
    ``size`` are batched together. At most ``threads`` batches run at once and ``room`` items wait
    in the queue; callers with further ones wait for space. ``window_ms`` is the longest a batch
    waits to be filled, and it waits only while other batches run.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result]],
        *,
        most: int,
        threads: int,
        size: Callable[[Item], int],
        room: int = 1024,
        window_ms: float = 1.0,
        name: str = "batch",
    ) -> None:
        self._work = work
        self._most = most
        self._threads = threads
        self._size = size
        self._room = room
        self._window = window_ms / 1000
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._queue: list[_Waiting[Item, Result]] = []
        self._workers: set[asyncio.Task[None]] = set()
        self._without_room: list[asyncio.Future[None]] = []
        self._closed = False

    async def run(self, items: Sequence[Item]) -> list[Result]:
        """Return the result of each item; raises the error of ``work`` for one of them.

        An error affects only the request whose item caused it. Cancelling removes its waiting items
        from the queue.
        """
        if not items:
            return []
        if self._closed:
            raise RuntimeError("The batches are closed.")
        loop = asyncio.get_running_loop()
        request = _Request[Item, Result](loop.create_future(), [None] * len(items), len(items))
        try:
            for at, item in enumerate(items):
                while len(self._queue) >= self._room and not request.done.done():
                    turn: asyncio.Future[None] = loop.create_future()
                    self._without_room.append(turn)
                    await turn
                self._queue.append(_Waiting(request, at, item, self._size(item)))
                self._start_workers(loop)
            await request.done
        except BaseException:
            request.done.cancel()
            self._sweep()
            raise
        return request.results  # type: ignore[return-value]  # done: none is missing

    def close(self) -> None:
        """Finish the running work and stop the threads."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _start_workers(self, loop: asyncio.AbstractEventLoop) -> None:
        # Tasks of a closed loop can no longer remove themselves from the list.
        self._workers = {lane for lane in self._workers if lane.get_loop() is loop}
        if len(self._workers) < min(self._threads, len(self._queue)):
            self._workers.add(loop.create_task(self._worker()))

    async def _worker(self) -> None:
        try:
            while self._queue:
                if len(self._queue) < self._most and len(self._workers) > 1 and self._window:
                    await asyncio.sleep(self._window)
                if batch := self._take():
                    await self._supervise(batch)
        finally:
            # Immediately, not in a callback: an item that arrives in between would be missed.
            self._workers = {lane for lane in self._workers if lane is not asyncio.current_task()}

    def _take(self) -> list[_Waiting[Item, Result]]:
        """Pop the oldest item and those closest to it in size, sorted by size."""
        self._sweep()
        if not self._queue:
            return []
        oldest = self._queue[0].size
        near = sorted(range(len(self._queue)), key=lambda at: abs(self._queue[at].size - oldest))
        chosen = set(near[: self._most])
        batch = [self._queue[at] for at in sorted(chosen)]
        self._queue = [each for at, each in enumerate(self._queue) if at not in chosen]
        self._wake_callers()
        return sorted(batch, key=lambda each: each.size)

    def _sweep(self) -> None:
        """Drop the items of failed or cancelled requests."""
        self._queue = [each for each in self._queue if not each.request.done.done()]
        self._wake_callers()

    def _wake_callers(self) -> None:
        """Wake the callers that wait for space, in their order."""
        for each in self._without_room:
            if not each.done():
                each.set_result(None)
        self._without_room.clear()

    async def _supervise(self, batch: list[_Waiting[Item, Result]]) -> None:
        """Compute a batch; if a shared one fails, recompute it per request."""
        loop = asyncio.get_running_loop()
        items = [each.item for each in batch]
        computing = loop.run_in_executor(self._pool, self._compute, items)
        await asyncio.wait([computing])
        if computing.cancelled():  # closed in the meantime
            for each in batch:
                each.request.done.cancel()
            return
        if error := computing.exception():
            requests = list({id(each.request): each.request for each in batch}.values())
            if len(requests) == 1:
                if not requests[0].done.done():
                    requests[0].done.set_exception(error)
                return
            for request in requests:
                await self._supervise([each for each in batch if each.request is request])
            return
        results = computing.result()
        for each, result in zip(batch, results, strict=True):
            each.request.results[each.at] = result
            each.request.missing -= 1
            if not each.request.missing and not each.request.done.done():
                each.request.done.set_result(None)

    def _compute(self, items: Sequence[Item]) -> Sequence[Result]:
        results = self._work(items)
        if len(results) != len(items):
            raise RuntimeError(f"The work gave {len(results)} results for {len(items)} items.")
        return results
