"""Workers killed at every step and at any time, poison in a hundred, a long-lived library."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.operations.test_worker import kill_and_recover, text
from tests.support.controlled_process import DEADLY, Killed, Maker, make_hands
from tests.support.library_model import Library

NAMED, RANDOM = 25, 25
EXAMPLES, PART, STEPS = 100, 25, 50


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
def test_a_library_is_a_dictionary_for_a_long_time() -> None:
    parts = range(EXAMPLES // PART)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        counted = list(pool.map(play, parts))
    assert sum(steps for steps, _ in counted) > EXAMPLES * STEPS / 2
    assert sum(kills for _, kills in counted) > EXAMPLES


def play(part: int) -> tuple[int, int]:
    """Play some of the examples in a process of its own; gives the number of steps and kills."""
    chosen = settings(
        max_examples=PART,
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    with make_hands() as made:
        Library.maker, Library.steps, Library.kills = made, 0, 0
        run_state_machine_as_test(seed(part)(Library), settings=chosen)
    return Library.steps, Library.kills
