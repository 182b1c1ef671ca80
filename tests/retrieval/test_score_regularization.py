"""Candidates with near ones of high score rise; nothing else moves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.protocols import Matrix
from quoth.core.types import Candidate
from quoth.retrieval.score_regularization import smooth_scores

EAST, NEARLY_EAST, NORTH = (1.0, 0.0), (0.98, 0.199), (0.0, 1.0)


def _ranking(*scores: float) -> list[Candidate]:
    return [Candidate(f"c{number}", score, "convex") for number, score in enumerate(scores)]


def _vectors(*rows: tuple[float, ...]) -> dict[str, Matrix]:
    return {f"c{number}": np.array(row, np.float32) for number, row in enumerate(rows)}


def _order(ranking: list[Candidate]) -> list[str]:
    return [each.chunk_id for each in ranking]


def test_the_neighbour_of_the_best_passes_a_lonely_one() -> None:
    ranking = _ranking(1.0, 0.5, 0.49)
    vectors = _vectors(EAST, NORTH, NEARLY_EAST)
    smoothed = smooth_scores(ranking, vectors=vectors, weight=0.1, neighbours=1)
    assert _order(smoothed) == ["c0", "c2", "c1"]


def test_the_score_is_mixed_with_the_mean_of_the_nearest() -> None:
    ranking = _ranking(1.0, 0.5, 0.2)
    vectors = _vectors(EAST, NORTH, NEARLY_EAST)
    best = smooth_scores(ranking, vectors=vectors, weight=0.1, neighbours=2)[0]
    assert best.score == pytest.approx(0.9 * 1.0 + 0.1 * 0.35)


def test_weight_zero_changes_nothing() -> None:
    ranking = _ranking(0.9, 0.8)
    assert smooth_scores(ranking, vectors=_vectors(EAST, NORTH), weight=0) == ranking


def test_without_vectors_nothing_changes() -> None:
    ranking = _ranking(0.9, 0.8)
    assert smooth_scores(ranking, vectors={}, weight=0.5) == ranking


def test_a_candidate_without_a_vector_keeps_its_score() -> None:
    ranking = _ranking(0.9, 0.8, 0.1)
    vectors = {"c0": np.array(EAST, np.float32), "c2": np.array(EAST, np.float32)}
    smoothed = smooth_scores(ranking, vectors=vectors, weight=0.5)
    assert {each.chunk_id: each.score for each in smoothed}["c1"] == 0.8


def test_those_behind_the_depth_keep_their_places() -> None:
    ranking = _ranking(0.9, 0.8, 0.3, 0.2)
    vectors = _vectors(EAST, NORTH, EAST, EAST)
    smoothed = smooth_scores(ranking, vectors=vectors, weight=0.5, depth=2)
    assert smoothed[2:] == ranking[2:]


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.floats(0, 1),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
)
def test_the_result_is_ranked_and_complete(
    scores: list[float], weight: float, depth: int, seed: int
) -> None:
    ranking = _ranking(*sorted(scores, reverse=True))
    rows = np.random.default_rng(seed).normal(size=(len(ranking), 4)).astype(np.float32)
    vectors = {each.chunk_id: row for each, row in zip(ranking, rows, strict=True)}
    smoothed = smooth_scores(ranking, vectors=vectors, weight=weight, depth=depth)
    assert sorted(_order(smoothed)) == sorted(_order(ranking))
    found = [each.score for each in smoothed]
    assert all(a >= b - 1e-9 for a, b in pairwise(found))
