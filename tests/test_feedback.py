from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.protocols import Matrix
from quoth.retrieval.feedback import feedback_vector, rescored
from quoth.types import Candidate


def row(degrees: float) -> Matrix:
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def angle(vector: Matrix) -> float:
    return float(np.degrees(np.arctan2(vector[1], vector[0])))


RANKED = [Candidate(f"c{n}", score, "convex") for n, score in enumerate([1.0, 1.0, 0.9])]


def test_the_question_moves_towards_the_best_chunks() -> None:
    found = feedback_vector(
        row(0), ranked=RANKED, vectors={"c0": row(20), "c1": row(40), "c2": row(90)}, weight=0.5
    )
    assert angle(found) == pytest.approx(15, abs=0.01)


def test_where_words_do_not_help_it_moves_less() -> None:
    vectors = {"c0": row(30), "c1": row(30)}
    far = feedback_vector(row(0), ranked=RANKED, vectors=vectors, coverage=0.6)
    near = feedback_vector(row(0), ranked=RANKED, vectors=vectors, coverage=0.1)
    still = feedback_vector(row(0), ranked=RANKED, vectors=vectors, coverage=0.0)
    assert angle(far) > angle(near) > angle(still) == pytest.approx(0, abs=1e-3)


def test_without_vectors_or_scores_the_question_stays() -> None:
    nothing = [Candidate("c0", 0.0, "rrf")]
    assert feedback_vector(row(10), ranked=RANKED, vectors={}) is not None
    assert angle(feedback_vector(row(10), ranked=RANKED, vectors={})) == pytest.approx(10, abs=0.01)
    found = feedback_vector(row(10), ranked=nothing, vectors={"c0": row(90)})
    assert angle(found) == pytest.approx(10, abs=0.01)


def test_the_leg_is_ranked_by_the_new_vector() -> None:
    found = rescored(
        [("c0", 0.9), ("c1", 0.8), ("c2", 0.1)],
        vector=row(40),
        vectors={"c0": row(0), "c1": row(40)},
    )
    assert [key for key, _score in found] == ["c1", "c0", "c2"]
    assert found[0][1] == pytest.approx(1)


@given(st.lists(st.floats(-90, 90), min_size=3, max_size=3), st.floats(0, 0.9), st.floats(0, 1))
def test_it_stays_a_unit_vector_between_the_question_and_the_best(
    degrees: list[float], weight: float, coverage: float
) -> None:
    vectors = {f"c{n}": row(each) for n, each in enumerate(degrees)}
    found = feedback_vector(
        row(0), ranked=RANKED, vectors=vectors, weight=weight, coverage=coverage
    )
    assert float(np.linalg.norm(found)) == pytest.approx(1, abs=1e-4)
    assert min(0, *degrees[:2]) - 0.1 <= angle(found) <= max(0, *degrees[:2]) + 0.1
