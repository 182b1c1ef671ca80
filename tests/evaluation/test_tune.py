"""What a collection teaches about itself: weights that never fall below the better leg."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from quoth.backends.indexes import rows as index_rows
from quoth.core.protocols import Matrix, Role
from quoth.core.settings import Settings
from quoth.core.types import Scored
from quoth.evaluation.probe import PREFIX_TIMES, ProbeResult
from quoth.evaluation.tune import (
    GRID,
    LEAST,
    Tuned,
    choose_weight,
    learn_chance,
    tune,
)
from quoth.retrieval.calibration import DEFAULT_CALIBRATION, E5, answer_probability
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.small_library import add, open_tour

KEYS = [f"c{each}" for each in range(12)]


def asked(keyword: list[str], semantic: list[str], *, gold: str) -> ProbeResult:
    def scored(keys: list[str]) -> tuple[Scored, ...]:
        return tuple((key, 1.0 - place / 20) for place, key in enumerate(keys))

    return ProbeResult("en", scored(keyword), scored(semantic), frozenset({gold}), None)


def sharp_and_blind(count: int, *, sharp: str) -> list[ProbeResult]:
    """Questions that one leg answers at once, and to which the other ranks at random."""
    chance = np.random.default_rng(3)
    found = []
    for _ in range(count):
        gold = str(chance.choice(KEYS))
        good = [gold, *(key for key in KEYS if key != gold)]
        blind = [str(key) for key in chance.permutation(KEYS)]
        legs = (good, blind) if sharp == "keyword" else (blind, good)
        found.append(asked(*legs, gold=gold))
    return found


few = hypothesis_settings(max_examples=25)
questions = st.lists(
    st.builds(
        asked,
        st.permutations(KEYS),
        st.permutations(KEYS),
        gold=st.sampled_from(KEYS),
    ),
    min_size=LEAST,
    max_size=30,
)


@few
@given(questions, st.sampled_from(GRID))
def test_a_weight_never_falls_below_the_better_leg(
    found: list[ProbeResult], shipped: float
) -> None:
    chosen = choose_weight(found, shipped=shipped)
    scores = chosen.scores
    assert 0 <= chosen.dense_weight <= 1
    assert scores["after"] >= max(scores["keyword"], scores["semantic"])


def test_a_blind_keyword_leg_loses_its_weight() -> None:
    found = choose_weight(sharp_and_blind(100, sharp="semantic"), shipped=0.3)
    assert found.moved
    assert found.dense_weight > 0.5


@pytest.mark.parametrize("shipped", [0.5, 0.47])
def test_a_gain_that_may_be_chance_moves_nothing(shipped: float) -> None:
    good = [asked(KEYS, KEYS, gold="c0") for _ in range(30)]
    found = choose_weight(good, shipped=shipped)
    assert (found.dense_weight, found.moved, found.p) == (shipped, False, 1.0)


class Blind(HashEmbedder):
    """An embedder to which every question looks like any chunk: its vectors are noise."""

    async def embed(self, texts: list[str], *, role: Role) -> Matrix:  # type: ignore[override]
        """Give one random unit row per text; the same text has another in another role."""
        rows = []
        for text in texts:
            chance = np.random.default_rng([len(role), *text.encode()[:200]])
            row = chance.normal(size=self.dimension).astype(np.float32)
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, np.float32)


def write_library(folder: Path, *, pages: int) -> Path:
    """Pages on subjects of their own: each says three things about it, in its own words."""
    folder.mkdir()
    chance = np.random.default_rng(5)
    letters = list("abcdefghiklmnoprstuvw")
    for at in range(pages):
        words = ["".join(chance.choice(letters, 7)) for _ in range(9)]
        text = (
            f"# Report {at} on {words[0]} {words[1]}\n\n"
            f"The old {words[0]} of {words[1]} was built with {words[2]} stones near the sea.\n"
            f"Many people say that {words[0]} and {words[3]} keep the {words[4]} of the town.\n"
            f"Every winter the {words[1]} guild sells {words[5]} and {words[0]} to the "
            f"{words[6]} merchants.\n"
            f"Nobody knows why {words[3]} were never found beside the {words[7]} {words[0]} "
            f"before {words[8]} came.\n"
        )
        (folder / f"report{at}.md").write_text(text, encoding="utf-8")
    return folder


def settings(home: Path) -> Settings:
    return Settings(home=home, chunk_tokens=200)


def no_progress(_what: str, _done: int, _of: int) -> None:
    pass


@pytest.fixture(scope="module")
def tuned_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tuned, Tuned]:
    """What a collection whose vectors are noise teaches, learnt twice."""
    folder = tmp_path_factory.mktemp("tune")
    home = folder / "home"

    async def learn() -> tuple[Tuned, Tuned]:
        async with open_tour(
            home, index=MemoryIndex(), embedder=Blind(), settings=settings(home)
        ) as engine:
            await add(engine, write_library(folder / "pages", pages=40))
            first = await tune(engine, progress=no_progress)
            return first, await tune(engine, progress=no_progress)

    return asyncio.run(learn())


def test_a_collection_with_a_blind_leg_learns_to_trust_the_other(
    tuned_twice: tuple[Tuned, Tuned],
) -> None:
    tuned, again = tuned_twice
    assert tuned.languages == again.languages
    assert tuned.tuning is not None
    english = tuned.languages["en"]
    assert english.questions >= LEAST
    assert english.scores["keyword"] > english.scores["semantic"] + 0.3
    assert english.scores["after"] >= english.scores["keyword"]
    assert tuned.tuning.dense_weight["en"] < 0.5
    # The embedder comes without a calibration, so the collection makes its own.
    assert tuned.tuning.answerable is not None
    assert not any(name.startswith("foreign") for name in tuned.tuning.answerable.weights)
    assert tuned.silent["after"] >= 0.9


def with_signals(count: int, **signals: float) -> list[ProbeResult]:
    return [replace(asked(KEYS, KEYS, gold="c0"), signals=signals) for _ in range(count)]


READ = {"matched": 1.5, "best": 0.88, "read": 0.6, "ahead": 0.2}
UNREAD = {"unread": 1.0, "unread_matched": 1.5, "unread_gap": 0.4, "unread_best": 0.88}


async def test_the_chance_of_an_answer_is_learnt_from_searches_as_the_settings_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signs of the keyword leg mean nothing where questions are searched by vectors alone."""
    learnt: list[bool] = []

    def note(asked: Sequence[ProbeResult], *_others: Any, **_known: Any) -> None:
        signs = [each.signals.get("unread_meets", 0.0) for each in asked if each.signals]
        learnt.append(any(signs))
        assert all(each.keyword for each in asked), "the weights are learnt from both legs"

    monkeypatch.setattr("quoth.evaluation.tune.learn_chance", note)
    async with open_tour(
        tmp_path / "home",
        index=MemoryIndex(),
        embedder=HashEmbedder(),
        settings=settings(tmp_path / "home"),
    ) as engine:
        await add(engine, write_library(tmp_path / "pages", pages=40))
        for mode in ("hybrid", "semantic"):
            chosen = engine.parts.settings.model_copy(update={"plan": {"mode": mode}})
            engine.parts = replace(engine.parts, settings=chosen)
            await tune(engine, progress=no_progress)
    assert learnt == [True, False]


@pytest.mark.parametrize("near", [READ, UNREAD])
def test_what_is_known_of_other_groups_is_kept(near: dict[str, float]) -> None:
    known = DEFAULT_CALIBRATION[E5]
    far = {name: value if name == "unread" else value / 2 for name, value in near.items()}
    learnt = learn_chance(with_signals(40, **near), with_signals(40, **far), known=known)
    assert learnt is not None
    assert answer_probability(learnt, near) != answer_probability(known, near)
    others = (
        UNREAD if near is READ else READ,
        {"foreign": 1.0, "foreign_read": 0.5},
        {"foreign_unread": 1.0, "foreign_unread_gap": 0.3},
    )
    for each in others:
        assert answer_probability(learnt, each) == pytest.approx(answer_probability(known, each))
    assert learnt.answer_from is not None
    assert learnt.answer_from >= (known.answer_from or 0)


def test_the_stems_of_a_chunk_are_counted_as_the_index_counts_them() -> None:
    assert PREFIX_TIMES == index_rows.PREFIX_TIMES


async def test_a_collection_of_one_chunk_is_told_that_it_is_too_small(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with open_tour(home, index=MemoryIndex(), settings=settings(home)) as engine:
        await add(engine, write_library(tmp_path / "pages", pages=1))
        tuned = await tune(engine, progress=no_progress)
    assert tuned.tuning is None
    assert "too small to learn from" in tuned.note
    assert "one passage" in tuned.note
    assert json.dumps(dict(tuned.languages)) == "{}"
