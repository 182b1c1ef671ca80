"""Short work off the event loop, in a thread that stays on the core of the loop.

A question hands over half a dozen pieces of half a millisecond to two. A thread woken on another
core finds nothing of the interpreter's in that core's caches, and may take the core from the
embedder, which is at work there at the same time: docs/decisions/039.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Lock, get_native_id
from typing import TypeVar

T = TypeVar("T")


class Near:
    """One thread, for one piece of work at a time, that follows whoever hands it over.

    What it does must start no threads or processes, which would be held on one core as it is.
    """

    def __init__(self, core_of_caller: Callable[[], int]) -> None:
        self._core_of_caller = core_of_caller
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="near")
        self._free = Lock()
        self._thread: int | None = None
        self._core: int | None = None

    def take(self, work: Callable[[], T]) -> Future[T] | None:
        """Begin some work; None while there is other work."""
        if not self._free.acquire(blocking=False):
            return None
        try:
            self._follow()
            begun = self._pool.submit(work)
        except BaseException:
            self._free.release()
            raise
        begun.add_done_callback(lambda _done: self._free.release())
        return begun

    def _follow(self) -> None:
        if self._thread is None:
            self._thread = self._pool.submit(get_native_id).result()
        core = self._core_of_caller()
        if core != self._core:
            with suppress(OSError, ValueError):  # the core was just taken away, or has no number
                os.sched_setaffinity(self._thread, {core})
                self._core = core


async def run_in_thread(work: Callable[[], T], *, pool: Executor | None = None) -> T:
    """Do short work in the near thread if it is free, else in ``pool`` or the loop's own."""
    bound = partial(copy_context().run, work)
    begun = None if _near is None else _near.take(bound)
    if begun is None:
        return await asyncio.get_running_loop().run_in_executor(pool, bound)
    return await asyncio.wrap_future(begun)


def _make() -> Near | None:
    """Return the thread where one can be held on a core and cores can be told apart (Linux)."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    # Calls by `PyDLL` keep the interpreter's lock: letting go of it would take longer than they do.
    core = getattr(ctypes.PyDLL(None), "sched_getcpu", None)
    return None if core is None else Near(core)


def _give_up() -> None:
    global _near
    _near = None


_near = _make()
if hasattr(os, "register_at_fork"):
    # A child has no threads, and libraries of numbers start theirs anew, in whichever thread first
    # needs them: on both sides of a fork everything goes to the pools.
    os.register_at_fork(after_in_parent=_give_up, after_in_child=_give_up)
