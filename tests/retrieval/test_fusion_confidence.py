"""How far the semantic leg is trusted depends on how far it tells chunks apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Scored
from quoth.retrieval.fusion import (
    FULL_LIST,
    FULL_SPREAD,
    MIN_SEPARATION,
    score_separation,
)


def _ranking(*scores: float) -> list[Scored]:
    return [(f"c{number}", score) for number, score in enumerate(scores)]


def _even(length: int, *, spread: float) -> list[Scored]:
    return _ranking(*(0.9 - spread * number / (length - 1) for number in range(length)))


def test_a_full_list_with_the_full_spread_is_trusted() -> None:
    assert score_separation(_even(FULL_LIST, spread=FULL_SPREAD)) == pytest.approx(1)


def test_half_the_spread_gives_half_the_trust() -> None:
    assert score_separation(_even(FULL_LIST, spread=FULL_SPREAD / 2)) == pytest.approx(0.5)


@given(st.lists(st.floats(-1, 1), max_size=120))
def test_trust_is_a_share(scores: list[float]) -> None:
    assert MIN_SEPARATION <= score_separation(_ranking(*sorted(scores, reverse=True))) <= 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50), st.floats(1, 5))
def test_a_wider_list_is_never_trusted_less(scores: list[float], factor: float) -> None:
    wider = [score * factor for score in scores]
    assert score_separation(_ranking(*wider)) >= score_separation(_ranking(*scores)) - 1e-9
