"""Score regularization: similar passages reinforce each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quoth.core.protocols import Matrix
from quoth.core.types import Candidate

DEPTH = 50
"""Candidates that take part; later ones keep their scores and ranks."""
NEIGHBOURS = 3


def smooth_scores(
    candidates: Sequence[Candidate],
    *,
    vectors: Mapping[str, Matrix],
    weight: float,
    depth: int = DEPTH,
    neighbours: int = NEIGHBOURS,
) -> list[Candidate]:
    """Mix each score with the mean score of the candidate's nearest neighbours.

    ``(1 − weight) · score + weight · mean over the nearest`` among the first ``depth`` that have a
    vector (score regularization, Diaz, CIKM 2005: closely related passages tend to be relevant to
    the same query). ``candidates`` are best first and stay so, ties in their old order; weight 0
    changes nothing. Scores stay within their original range.
    """
    known = [at for at, candidate in enumerate(candidates[:depth]) if candidate.chunk_id in vectors]
    nearest = min(neighbours, len(known) - 1)
    if weight <= 0 or nearest < 1:
        return list(candidates)
    rows = np.array([vectors[candidates[at].chunk_id] for at in known], np.float32)
    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -np.inf)
    around = np.argsort(-likeness, axis=1, kind="stable")[:, :nearest]
    scores = np.array([candidates[at].score for at in known])
    smoothed = (1 - weight) * scores + weight * scores[around].mean(axis=1)
    result = list(candidates)
    for at, score in zip(known, smoothed.tolist(), strict=True):
        was = result[at]
        result[at] = Candidate(was.chunk_id, score, was.score_kind, was.legs)
    result[:depth] = sorted(result[:depth], key=lambda each: -each.score)
    return result
