"""Short work beside the event loop: the thread it is done in, and the core of that thread."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from quoth.core.concurrency import Near, run_in_thread

HELD = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="threads cannot be held on cores here"
)


@pytest.fixture
def cores() -> Iterator[list[int]]:
    """The cores of this process; the thread of the test may use all of them again afterwards."""
    before = os.sched_getaffinity(0)
    yield sorted(before)
    os.sched_setaffinity(0, before)


def where() -> tuple[str, set[int]]:
    return threading.current_thread().name, os.sched_getaffinity(0)


@HELD
async def test_the_work_is_done_on_the_core_of_the_loop(cores: list[int]) -> None:
    for core in [*cores, *reversed(cores)]:
        os.sched_setaffinity(0, {core})
        name, held = await run_in_thread(where)
        assert (name.startswith("near"), held) == (True, {core})


@HELD
async def test_what_comes_while_it_is_at_work_may_run_on_any_core(cores: list[int]) -> None:
    release = threading.Event()
    first = asyncio.create_task(run_in_thread(release.wait))
    await asyncio.sleep(0)
    name, free = await run_in_thread(where)
    release.set()
    assert await first
    assert (name.startswith("near"), free) == (False, set(cores))
    assert (await run_in_thread(where))[0].startswith("near")


async def test_errors_and_context_come_through() -> None:
    word: ContextVar[str] = ContextVar("word")
    word.set("kept")
    assert await run_in_thread(word.get) == "kept"
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 // 0)
    assert await run_in_thread(lambda: 1) == 1


@HELD
async def test_who_waits_no_longer_leaves_the_thread_to_others() -> None:
    release = threading.Event()
    waiting = asyncio.create_task(run_in_thread(release.wait))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()
    async with asyncio.timeout(10):
        while not (await run_in_thread(where))[0].startswith("near"):
            pass


@HELD
def test_a_core_that_nobody_can_name_holds_nothing(cores: list[int]) -> None:
    for core in (-1, 10_000):
        begun = Near(lambda core=core: core).take(where)  # type: ignore[misc]
        assert begun is not None
        assert begun.result()[1] == set(cores)


FORKING = """
import asyncio, os, threading
from quoth.core.concurrency import aside

def name():
    return threading.current_thread().name.partition("_")[0]

print(asyncio.run(aside(name)), flush=True)
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
print(asyncio.run(aside(name)), flush=True)
"""


@HELD
def test_both_sides_of_a_fork_go_on_in_the_pools() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["near", "asyncio", "asyncio"])
