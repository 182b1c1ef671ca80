"""The line in front of the engine: bounded, fair, and left at once by whoever goes."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.concurrency_limit import Admission, Bounds, default_in_flight


async def _hold(line: Admission, whose: str, done: list[str], *, until: asyncio.Event) -> None:
    async with line.turn(whose):
        done.append(whose)
        await until.wait()


async def _line_up(line: Admission, names: list[str], done: list[str]) -> list[asyncio.Task[None]]:
    """Each in turn, so that the order in which they came is theirs in the list."""
    go = asyncio.Event()
    go.set()
    tasks = []
    for name in names:
        tasks.append(asyncio.create_task(_hold(line, name, done, until=go)))
        await asyncio.sleep(0)
    return tasks


async def test_no_more_than_allowed_are_in_at_once() -> None:
    line, most = Admission(Bounds(in_flight=3)), 0

    async def ask() -> None:
        nonlocal most
        async with line.turn("a"):
            most = max(most, line.in_flight)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask() for _ in range(50)))
    assert (most, line.in_flight, line.waiting, line.admitted) == (3, 0, 0, 50)


async def test_one_tenants_questions_come_in_the_order_they_were_asked() -> None:
    line, order = Admission(Bounds(in_flight=1)), []

    async def ask(number: int) -> None:
        async with line.turn("a"):
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask(number) for number in range(20)))
    assert order == list(range(20))


async def test_a_tenant_with_many_questions_does_not_keep_another_waiting() -> None:
    line, done = Admission(Bounds(in_flight=1)), list[str]()
    async with line.turn("first"):
        tasks = await _line_up(line, [*["many"] * 9, "few"], done)
    await asyncio.gather(*tasks)
    assert done.index("few") == 1


async def test_who_finds_the_line_full_is_told_at_once_when_to_come_again() -> None:
    line, never = Admission(Bounds(in_flight=1, waiting=1, wait_s=60)), asyncio.Event()
    tasks = [asyncio.create_task(_hold(line, "a", [], until=never)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Busy) as told:
        async with asyncio.timeout(1), line.turn("a"):
            pass
    assert told.value.retry_after_s is not None
    assert told.value.retry_after_s >= 1
    for task in tasks:
        task.cancel()


async def test_who_waits_too_long_is_told_and_leaves_the_line() -> None:
    line, never = Admission(Bounds(in_flight=1, wait_s=0.01)), asyncio.Event()
    held = asyncio.create_task(_hold(line, "a", [], until=never))
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        async with line.turn("b"):
            pass
    assert (line.waiting, line.shed) == (0, 1)
    held.cancel()


async def test_what_was_waited_elsewhere_counts() -> None:
    line = Admission(Bounds(in_flight=1, wait_s=60))
    async with line.turn("first"), asyncio.timeout(1):
        with pytest.raises(Busy):
            async with line.turn("late", waited_s=60):
                pass
    assert line.waiting == 0


async def test_who_would_wait_far_too_long_is_told_at_once() -> None:
    at = 0.0
    line, never = Admission(Bounds(in_flight=1, wait_s=60), clock=lambda: at), asyncio.Event()
    for _ in range(20):
        async with line.turn("a"):
            at += 100.0
    held = asyncio.create_task(_hold(line, "a", [], until=never))
    await asyncio.sleep(0)
    assert line.expected_s > 80
    line.bounds = Bounds(in_flight=1, wait_s=10)
    with pytest.raises(Busy) as told:
        async with asyncio.timeout(1), line.turn("b"):
            pass
    assert told.value.retry_after_s == 60
    held.cancel()


async def test_who_goes_while_waiting_takes_nobodys_place() -> None:
    line, done = Admission(Bounds(in_flight=1)), list[str]()
    async with line.turn("first"):
        tasks = await _line_up(line, ["gone", "next"], done)
        tasks[0].cancel()
        await asyncio.sleep(0)
        assert line.waiting == 1
    await asyncio.wait(tasks)
    assert (done, line.in_flight) == (["next"], 0)


async def test_who_goes_in_the_moment_of_his_turn_passes_it_on() -> None:
    line, done = Admission(Bounds(in_flight=1)), list[str]()
    async with line.turn("first"):
        tasks = await _line_up(line, ["gone", "next"], done)
    tasks[0].cancel()  # his turn has come, but he has not run yet
    await asyncio.wait(tasks)
    assert (done, line.in_flight) == (["next"], 0)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40),
    st.integers(1, 4),
    st.integers(0, 8),
)
def test_whatever_comes_and_goes_every_place_is_free_in_the_end(
    askers: list[tuple[str, int, bool]], in_flight: int, waiting: int
) -> None:
    async def all_of_them() -> Admission:
        line = Admission(Bounds(in_flight=in_flight, waiting=waiting, wait_s=5))

        async def ask(whose: str, takes: int) -> None:
            try:
                async with line.turn(whose):
                    assert line.in_flight <= in_flight
                    for _ in range(takes):
                        await asyncio.sleep(0)
            except Busy:
                assert line.waiting >= waiting

        tasks = []
        for whose, takes, goes in askers:
            task = asyncio.create_task(ask(whose, takes))
            tasks.append(task)
            if takes % 2:
                await asyncio.sleep(0)
            if goes:
                task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert result is None or isinstance(result, asyncio.CancelledError)
        return line

    line = asyncio.run(all_of_them())
    assert (line.in_flight, line.waiting) == (0, 0)


def test_where_a_language_model_is_waited_for_more_may_be_in_at_once() -> None:
    assert default_in_flight(cores=4) == 8
    assert default_in_flight(cores=4, writes=True) > 32
