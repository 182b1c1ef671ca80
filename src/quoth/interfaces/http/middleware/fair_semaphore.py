"""A semaphore that serves tenants in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict


class FairSemaphore:
    """At most ``limit`` holders; waiters of all tenants are served round robin.

    Waiters of one tenant are served in their order. Used by one event loop.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.waiting = 0
        self._queues: OrderedDict[str, OrderedDict[asyncio.Future[None], None]] = OrderedDict()

    async def acquire(self, tenant: str, *, timeout_s: float) -> bool:
        """Wait for a slot; False after the timeout. A cancelled waiter leaves at once."""
        if self.held < self.limit:
            self.held += 1
            return True
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, OrderedDict())[slot] = None
        self.waiting += 1
        try:
            async with asyncio.timeout(timeout_s):
                await slot
        except TimeoutError:
            if slot.cancelled():
                self._remove(tenant, slot)
                return False
        except asyncio.CancelledError:
            if slot.cancelled():
                self._remove(tenant, slot)
            else:
                self.release()  # the slot was handed over just before the cancellation
            raise
        return True

    def release(self) -> None:
        """Hand a slot to the first waiter of the next tenant, or free it."""
        while self._queues:
            tenant, queue = next(iter(self._queues.items()))
            slot = next(iter(queue))
            self._remove(tenant, slot)
            if tenant in self._queues:
                self._queues.move_to_end(tenant)
            if not slot.done():  # else its waiter is just leaving
                slot.set_result(None)
                return
        self.held -= 1

    def _remove(self, tenant: str, slot: asyncio.Future[None]) -> None:
        queue = self._queues.get(tenant)
        if queue is not None and slot in queue:
            del queue[slot]
            self.waiting -= 1
            if not queue:
                del self._queues[tenant]
