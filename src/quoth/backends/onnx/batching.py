"""Lets work of several requests share batches, without waiting for batches to be filled.

A batch begins as soon as a thread is free. While all are busy, what arrives piles up, and the
next batch takes it together; only where other requests are under way does a batch that is not
full wait a moment for theirs. Each batch holds the oldest item and those nearest to it in size, so
that little is padded and nothing starves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class _Request(Generic[Item, Result]):
    """What one caller asked for: the results so far, and how many are missing."""

    done: asyncio.Future[None]
    results: list[Result | None]
    missing: int


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Item, Result]):
    """One item in the queue: whose it is, which of theirs, and its size."""

    request: _Request[Item, Result]
    at: int
    item: Item
    size: int


@dataclass(eq=False, slots=True)
class _SpaceQueue:
    """Requests that wait for space in the queue, in their order."""

    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def open(self) -> None:
        """Let all of them look again."""
        for each in self.waiting:
            if not each.done():
                each.set_result(None)
        self.waiting.clear()


class Batcher(Generic[Item, Result]):
    """Runs ``work`` on batches of items in threads; one event loop uses it at a time.

    ``work`` takes up to ``most`` items and gives as many results in their order; ``size`` tells
    which items go well together. At most ``threads`` batches run at once and ``room`` items wait
    in the queue; further ones wait for space. ``window_ms`` is the longest a batch waits to be
    filled, and it waits only while other batches run.
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
        self._space = _SpaceQueue()
        self._closed = False

    async def run(self, items: Sequence[Item]) -> list[Result]:
        """Return the result of each item; raises what ``work`` raised for one of them.

        An error reaches only the request whose item caused it. Cancelling removes the items
        that have not begun from the queue.
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
                    await self._for_room()
                self._queue.append(_Waiting(request, at, item, self._size(item)))
                self._start_workers(loop)
            await request.done
        except BaseException:
            request.done.cancel()
            self._sweep()
            raise
        return request.results  # type: ignore[return-value]  # done: none is missing

    def close(self) -> None:
        """Let the work that has begun finish, and end the threads."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _for_room(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._space.waiting.append(turn)
        await turn

    def _start_workers(self, loop: asyncio.AbstractEventLoop) -> None:
        # Tasks of a loop that has ended never come back to take themselves off the list.
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
            # At once and not by a callback: an item that arrives in between would not be taken.
            self._workers = {lane for lane in self._workers if lane is not asyncio.current_task()}

    def _take(self) -> list[_Waiting[Item, Result]]:
        """Take the oldest item and those nearest to it in size, in the order of their sizes."""
        self._sweep()
        if not self._queue:
            return []
        oldest = self._queue[0].size
        near = sorted(range(len(self._queue)), key=lambda at: abs(self._queue[at].size - oldest))
        chosen = set(near[: self._most])
        batch = [self._queue[at] for at in sorted(chosen)]
        self._queue = [each for at, each in enumerate(self._queue) if at not in chosen]
        self._space.open()
        return sorted(batch, key=lambda each: each.size)

    def _sweep(self) -> None:
        """Drop the items of requests that have ended, by an error or by being cancelled."""
        self._queue = [each for each in self._queue if not each.request.done.done()]
        self._space.open()

    async def _supervise(self, batch: list[_Waiting[Item, Result]]) -> None:
        """Compute a batch; where it fails and several requests share it, each one's part alone."""
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
