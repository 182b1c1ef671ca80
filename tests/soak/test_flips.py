"""A thousand flipped bits in twenty places of a home: the doctor names each, none is quoted."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.cli import quoth
from tests.support.flipped_home import (
    LOG,
    PLACES,
    flip,
    make_home,
    rows_of,
    said_wrongly,
)
from tests.support.tiny_e5 import build_tiny

FLIPS = int(os.environ.get("TEST_FLIPS", "1000"))


@pytest.mark.soak
def test_every_flipped_bit_is_named_and_none_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUOTH_RERANKER", "late")
    killed, closed = tmp_path / "killed", tmp_path / "closed"
    killed.mkdir()
    build_tiny(tmp_path).rename(killed / "model")
    known = asyncio.run(make_home(killed / "home", killed / "model"))
    assert all(answer.citations for answer in known.answers[:2])
    shutil.copytree(killed, closed)
    assert rows_of(closed / "home") == known.rows  # which writes the log into the file
    assert doctor(closed / "home", closed / "model") == 0
    dice = random.Random(20)
    seen, wrong = Counter[str](), list[str]()
    places = (*PLACES, LOG)
    for number in range(FLIPS):
        place = places[number % len(places)]
        at = tmp_path / "flipped"
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(killed if place is LOG else closed, at)
        home, model = at / "home", at / "model"
        what = flip(home, place, dice=dice)
        named = doctor(home, model) > 0  # 1: damage, 3: the settings or the model cannot be read
        if not named and rows_of(home) != known.rows:
            wrong.append(f"{what} is not named")
        if said := asyncio.run(said_wrongly(home, model, known, named=named)):
            wrong.append(f"{what} {said}")
        seen[f"{place.name} {'named' if named else 'harmless'}"] += 1
    logging.getLogger("quoth").warning("flips: %s", dict(sorted(seen.items())))
    assert wrong == []


def doctor(home: Path, model: Path) -> int:
    """Return the exit code of ``quoth doctor``; a traceback is raised."""
    return quoth(home, "doctor", embedder=str(model)).code
