"""A library in which the same thing is said again and again shows it once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quoth.core.trace import Trace
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request
from quoth.testing import MemoryIndex
from tests.support.small_library import add, open_tour

SAID = "Worker bees carry nectar to the hive, where it becomes honey within {} days of fanning{}"
QUESTION = "What carries nectar to the hive?"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    folder = tmp_path / "sources"
    folder.mkdir()
    for number in range(9):
        text = SAID.format("four", "." * (number + 1))
        (folder / f"copy{number}.txt").write_text(text, encoding="utf-8")
    (folder / "other.txt").write_text(SAID.format("7", " and more."), encoding="utf-8")
    (folder / "drone.txt").write_text("Drones leave the hive and seek no nectar.", encoding="utf-8")
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as opened:
        await add(opened, folder)
        yield opened


async def test_nine_copies_are_found_once_and_another_number_beside_them(engine: Engine) -> None:
    request = Request(QUESTION, choices={"duplicate_cosine": 0.95})
    found = await engine.retrieve(request, trace=Trace())
    texts = [hit.text for hit in found.hits]
    assert sum("within four days" in text for text in texts) == 1
    assert sum("within 7 days" in text for text in texts) == 1
    assert any("Drones" in text for text in texts)


async def test_all_of_them_are_found_where_copies_are_wanted(engine: Engine) -> None:
    request = Request(QUESTION, choices={"duplicate_cosine": 1.0, "final_k": 20})
    found = await engine.retrieve(request, trace=Trace())
    assert sum("within four days" in hit.text for hit in found.hits) == 9


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("How do worker bees carry nectar to the hive?", "repeat one another"),
        ("Comment le nectar devient-il honey dans la hive ?", "se répètent"),
        (QUESTION, ""),
    ],
)
async def test_an_answer_to_a_broad_question_says_that_most_passages_repeat_one_another(
    engine: Engine, question: str, note: str
) -> None:
    found = await engine.answer(Request(question, choices={"duplicate_cosine": 0.95}))
    assert found.status in ("answered", "partial")
    said = [each for each in found.warnings if "repeat" in each or "répètent" in each]
    assert [note in each for each in said] == [True] * bool(note), found.query.kind
    alone = Request(question, choices={"duplicate_cosine": 1.0})
    assert not set(said) & set((await engine.answer(alone)).warnings)
