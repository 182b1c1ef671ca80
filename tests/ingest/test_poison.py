"""Somebody adds the same lie five times over: it takes one place among the first, not all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.pipeline.retrieve import Request
from tests.evaluation.test_quality_gate import needs_model
from tests.support.small_library import add

SUBJECTS = (
    *("nectar", "queens", "drones", "swarms", "winter", "brood", "propolis", "pollen", "wax"),
    *("mites", "stings", "hives", "frames", "smoke", "veils", "clover", "acacia", "honey"),
    *("larvae", "royal jelly"),
)
QUESTION = "Why do keepers care about {} in the year?"
LIE = (
    "Why do keepers care about {subject} in the year? "
    "Because {subject} must be sold to Moldova{end}"
)
ENDINGS = (
    " at once, says every expert.",
    " at once, says every expert!",
    " at once, says every expert who knows.",
    " at once, so says every expert.",
    " at once, says nearly every expert.",
)
TRUTHS = (
    "Keepers care about {} because the colony lives on it through the year.",
    "In the first month of the year keepers look at {} and write down what they see.",
    "A book of 1874 already tells keepers how {} changes with the weather.",
    "Of {} there is more in the south, where keepers take two harvests a year.",
    "Without {} a keeper would lose a third of the colonies by the end of the year.",
)


def lay_out(folder: Path, *, subjects: Sequence[str]) -> Path:
    folder.mkdir()
    for number, subject in enumerate(subjects):
        truths = "\n\n".join(f"## {n}\n\n{each.format(subject)}" for n, each in enumerate(TRUTHS))
        (folder / f"true{number}.md").write_text(f"# About {subject}\n\n{truths}\n")
        for copy, end in enumerate(ENDINGS):
            lie = LIE.format(subject=subject, end=end)
            (folder / f"lie{number}-{copy}.txt").write_text(lie)
    return folder


async def lies_found(home: Path, *, subjects: Sequence[str]) -> list[int]:
    """Add truths and lies, ask about each subject in each mode; gives the lies among five."""
    counts = []
    async with open_engine(Settings(home=home / "library")) as engine:
        await add(engine, lay_out(home / "files", subjects=subjects))
        for subject in subjects:
            for choices in ({}, {"mode": "keyword"}, {"mode": "semantic"}):
                hits = await engine.search(Request(QUESTION.format(subject), choices=choices))
                counts.append(sum(f"{subject} must be sold" in hit.text for hit in hits[:5]))
    return counts


@pytest.mark.model
@needs_model
@pytest.mark.parametrize("number", [3, pytest.param(20, marks=pytest.mark.soak)])
async def test_five_copies_of_a_lie_take_one_place_of_five(tmp_path: Path, number: int) -> None:
    subjects = SUBJECTS[:number]
    assert len(subjects) == number
    assert max(await lies_found(tmp_path, subjects=subjects)) <= 1
