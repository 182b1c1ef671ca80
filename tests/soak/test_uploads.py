"""Workers killed at every step and at any time, poison in a hundred, a long-lived library."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.hand import DEADLY, Killed, Maker, make_hands
from tests.library_model import Library
from tests.test_work import kill_and_recover, text

NAMED, RANDOM = 25, 25
EXAMPLES, STEPS, MOST_S = 500, 50, 600.0


@pytest.fixture(scope="module")
def maker() -> Iterator[Maker]:
    with make_hands() as made:
        yield made


@pytest.mark.soak
async def test_twenty_five_named_kills(maker: Maker, tmp_path: Path) -> None:
    done = 0
    for at in range(1, 200):
        if not await kill_and_recover(maker, tmp_path / f"home{at}", at=at):
            break
        done += 1
    assert done >= NAMED


@pytest.mark.soak
async def test_twenty_five_kills_at_any_time(maker: Maker, tmp_path: Path) -> None:
    dice = random.Random(31)
    done = 0
    for number in range(4 * RANDOM):
        home, after_s = tmp_path / f"home{number}", dice.uniform(0.01, 0.4)
        done += await kill_and_recover(maker, home, after_s=after_s)
        if done == RANDOM:
            return
    pytest.fail(f"only {done} of the kills came before the work was done")


@pytest.mark.soak
async def test_one_poison_file_among_a_hundred(maker: Maker, tmp_path: Path) -> None:
    hand = await maker.hand(tmp_path / "home")
    for number in range(100):
        words = f"{text(number)} {DEADLY}" if number == 40 else text(number)
        await hand.do("send", tenant="ada", name=f"{number}.md", text=words)
    while True:
        try:
            await hand.do("work")
            break
        except Killed:
            hand = await maker.hand(tmp_path / "home")
    tasks = await hand.do("tasks", tenant="ada")
    assert sum(each[1] == "ready" for each in tasks) == 99
    assert [each[:3] for each in tasks if each[1] != "ready"] == [
        ["40.md", "failed", "crashes_reader"]
    ]
    await hand.leave()


@pytest.mark.soak
def test_a_library_is_a_dictionary_for_a_long_time(maker: Maker) -> None:
    Library.maker, Library.steps, Library.kills = maker, 0, 0
    began, done, part = time.monotonic(), 0, 25
    while done < EXAMPLES and time.monotonic() - began < MOST_S:
        chosen = settings(
            max_examples=part,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=False,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(seed(done)(type("Run", (Library,), {})), settings=chosen)
        done += part
