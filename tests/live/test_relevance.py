"""The calibration of live citations: the stored weights, and what moves the probability."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

import pytest

from quoth.core.types import Candidate, Chunk, LegScore, Pages
from quoth.live.relevance import (
    CHECKSUM,
    MIN_COMPARED,
    PAGE,
    SCALED,
    TOPIC,
    relevance_features,
    relevance_model,
)


def _ranking(number: int, *, late: bool) -> tuple[list[Candidate], dict[str, Chunk]]:
    legs = lambda at: {"rerank": LegScore(at + 1, 0.7 - at / 100)} if late else {}  # noqa: E731
    ranking = [Candidate(f"c{at}", 1 - at / 20, "rerank", legs(at)) for at in range(number)]
    chunks = {
        f"c{at}": Chunk(
            f"c{at}",
            "book",
            at,
            0,
            30,
            "an eval and an apply call each other",
            Pages(at + 1, at + 1, "1", "1"),
            "pdf",
            section=("4", "4.1" if at < 3 else "4.2"),
        )
        for at in range(number)
    }
    return ranking, chunks


def _features(number: int, *, late: bool = True) -> object:
    ranking, chunks = _ranking(number, late=late)
    scored = [(each.chunk_id, 0.9 - at / 100) for at, each in enumerate(ranking)]
    return relevance_features(
        ranking,
        chunks,
        keyword=scored,
        semantic=scored,
        spoken="the eval and the apply",
        language="en",
    )


def test_the_weights_are_those_that_the_script_made() -> None:
    stored = (files("quoth.live") / "data" / "relevance.json").read_bytes()
    assert sha256(stored).hexdigest() == CHECKSUM


@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("read", [False, True])
def test_each_group_has_its_features_and_gives_a_probability(foreign: bool, read: bool) -> None:
    model = relevance_model(foreign=foreign, read=read)
    expected = {name for name in (*TOPIC, *PAGE) if read or name not in SCALED}
    assert set(model.topic.weights) | set(model.page.weights) == expected
    rows = _features(12, late=read)
    assert isinstance(rows, list)
    chances = [model.probability(rows[0][1], features) for _, features in rows]
    assert len(chances) == 10
    assert all(0 <= chance <= 1 for chance in chances)
    assert min(chances[:3]) > chances[-1]


def test_features_by_hand_and_too_few_passages() -> None:
    rows = _features(12)
    assert isinstance(rows, list)
    first = rows[0][1]
    assert first["late"] == pytest.approx(0.7)
    assert first["late_lead"] == pytest.approx(0.055)
    assert (first["known"], first["common"]) == (1.0, 1.0)
    assert (first["agree"], first["keyword_rank"], first["rank"]) == (1.0, 1.0, 0.0)
    assert first["keyword_share"] == 1.0
    assert _features(MIN_COMPARED - 1) is None
