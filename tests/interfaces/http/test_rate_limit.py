"""How much one caller may ask."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import Busy, StoreDown
from quoth.interfaces.http.middleware.rate_limit import (
    MAX_NAMES,
    DailyQuota,
    GcraLimiter,
    RequestQuota,
    client_network,
)
from quoth.store.database import open_database
from quoth.store.privacy_settings import DailyUsage
from tests.support.clock import Clock

STEPS = st.lists(st.floats(min_value=0, max_value=30), max_size=200)


@given(STEPS, st.integers(1, 120), st.integers(1, 30))
def test_no_stretch_of_time_sees_more_than_its_share(
    waits: list[float], per_minute: int, burst: int
) -> None:
    clock = Clock()
    rate = GcraLimiter(per_minute, burst=burst, clock=clock)
    passed: list[float] = []
    for wait in waits:
        clock.now += wait
        if not rate.take("a"):
            passed.append(clock.now)
    for first, start in enumerate(passed):
        for last, end in enumerate(passed[first:], start=first):
            assert last - first + 1 <= burst + (end - start) * per_minute / 60 + 1e-6


@given(STEPS, st.integers(1, 120), st.integers(1, 30))
def test_who_waits_as_long_as_he_is_told_gets_in(
    waits: list[float], per_minute: int, burst: int
) -> None:
    clock = Clock()
    rate = GcraLimiter(per_minute, burst=burst, clock=clock)
    for wait in waits:
        clock.now += wait
        told = rate.take("a")
        assert 0 <= told <= 60 / per_minute + 1e-6
        if told:
            clock.now += told + 1e-6
            assert rate.wait_s("a") == 0


def test_the_burst_is_whole_at_once_and_comes_back_with_time() -> None:
    clock = Clock()
    rate = GcraLimiter(60, burst=20, clock=clock)
    assert [rate.take("a") for _ in range(20)] == [0] * 20
    assert rate.take("a") == pytest.approx(1)
    assert rate.take("b") == 0
    clock.now += 20
    assert [rate.take("a") for _ in range(20)] == [0] * 20


async def test_questions_a_day_are_counted_over_processes_and_restarts(
    address: Path | str,
) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    database = open_database(address)

    def process() -> DailyQuota:
        return DailyQuota(5, database, clock=lambda: now, save_s=0)

    async def ask(quota: DailyQuota, times: int) -> None:
        for _ in range(times):
            await quota.take("ada")
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})  # it is written

    first, second = process(), process()
    await ask(first, 3)
    await ask(second, 2)
    for refused in (second, process()):
        with pytest.raises(Busy, match="5 questions today") as told:
            await refused.take("ada")
        assert told.value.retry_after_s == 12 * 3600
        await refused.take("bob")
    now += timedelta(days=1)
    await ask(second, 5)
    database.close()


async def test_questions_that_were_written_count_also_where_they_cannot_be_read_back(
    address: Path | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(address)
    quota = DailyQuota(3, database, save_s=0)
    await quota.take("ada")

    def questions(_usage: DailyUsage) -> int:
        raise StoreDown("The catalogue is made to fail.")

    monkeypatch.setattr(DailyUsage, "questions", questions)
    for _ in range(2):
        await quota.take("ada")
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    with pytest.raises(Busy, match="3 questions today"):
        await quota.take("ada")
    database.close()


def test_any_number_of_names_takes_a_bounded_room() -> None:
    rate = GcraLimiter(10, burst=1, clock=Clock())
    for number in range(MAX_NAMES + 100):
        rate.take(str(number))
    assert len(rate._full_at) == MAX_NAMES
    assert rate.take(str(MAX_NAMES)) > 0
    assert rate.take("0") == 0


async def test_a_place_is_given_back_also_after_a_failure() -> None:
    quota = RequestQuota("questions", rate=GcraLimiter(1e6, burst=1000), max_in_flight=1)
    for _ in range(3):
        with pytest.raises(KeyError):
            async with quota.hold("a"):
                raise KeyError
    async with quota.hold("a"), quota.hold("b"):
        with pytest.raises(Busy) as refused:
            async with quota.hold("a"):
                pass
        assert (refused.value.status, refused.value.retry_after_s) == (429, 1)
    async with quota.hold("a"):
        pass
    assert not quota._slots


async def test_requests_above_the_limit_wait_in_a_bounded_queue_of_their_key() -> None:
    rate = GcraLimiter(1e6, burst=1000)
    quota = RequestQuota("questions", rate=rate, max_in_flight=2, max_waiting=4, wait_s=60)
    most, running = 0, 0

    async def ask() -> int:
        nonlocal most, running
        try:
            async with quota.hold("a"):
                running += 1
                most = max(most, running)
                for _ in range(3):
                    await asyncio.sleep(0)
                running -= 1
        except Busy as refused:
            return refused.status
        return 200

    assert sorted(await asyncio.gather(*(ask() for _ in range(9)))) == [200] * 6 + [429] * 3
    assert most == 2
    assert not quota._slots


async def test_a_request_that_waits_too_long_is_refused() -> None:
    rate = GcraLimiter(1e6, burst=1000)
    quota = RequestQuota("questions", rate=rate, max_in_flight=1, max_waiting=4, wait_s=0.01)
    async with quota.hold("a"):
        with pytest.raises(Busy):
            async with quota.hold("a"):
                pass
        assert quota._slots["a"].waiting == 0


@pytest.mark.parametrize(
    ("address", "shared"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_counted_with_all_that_one_person_has(address: str, shared: str) -> None:
    assert client_network(address) == shared
