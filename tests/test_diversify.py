from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.protocols import Matrix
from quoth.retrieval.diversify import cap_per_document, maximal_marginal_relevance
from quoth.types import Candidate


def candidates(*scores: float) -> list[Candidate]:
    return [Candidate(f"c{i}", score, "convex") for i, score in enumerate(scores)]


def rows(*angles: float) -> dict[str, Matrix]:
    turned = np.radians(angles)
    return {
        f"c{i}": np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
        for i, angle in enumerate(turned)
    }


def ids(found: list[Candidate]) -> list[str]:
    return [each.chunk_id for each in found]


def test_a_near_copy_waits_behind_something_new() -> None:
    found = maximal_marginal_relevance(
        candidates(1.0, 0.95, 0.6, 0.0), vectors=rows(0, 1, 80, 90), mmr_lambda=0.5, limit=4
    )
    # Second pick: c1 .5·.95 − .5·1 = −.025; c2 .5·.6 − .5·cos 80° spread = .3 − .087 > 0
    assert ids(found)[:2] == ["c0", "c2"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1), st.integers(1, 15))
def test_it_only_reorders_and_starts_with_the_best(
    scores: list[float], weight: float, limit: int
) -> None:
    given_ = candidates(*sorted(scores, reverse=True))
    vectors = rows(*np.linspace(0, 90, len(scores)))
    found = maximal_marginal_relevance(given_, vectors=vectors, mmr_lambda=weight, limit=limit)
    assert len(found) == len(set(ids(found))) == min(limit, len(scores))
    assert all(each in given_ for each in found)
    if weight > 0:
        assert found[0].score == pytest.approx(max(scores))


def test_lambda_1_keeps_the_order() -> None:
    given_ = candidates(0.9, 0.5, 0.1)
    assert (
        maximal_marginal_relevance(given_, vectors=rows(0, 0, 0), mmr_lambda=1, limit=2)
        == (given_[:2])
    )


def test_missing_vectors_are_like_nothing() -> None:
    found = maximal_marginal_relevance(
        candidates(1.0, 0.9, 0.8), vectors={}, mmr_lambda=0.5, limit=3
    )
    assert ids(found) == ["c0", "c1", "c2"]


def test_at_most_so_many_per_document() -> None:
    kept = cap_per_document(
        candidates(5, 4, 3, 2), document_of=lambda each: "d" if each != "c2" else "e", most=2
    )
    assert ids(kept) == ["c0", "c1", "c2"]
