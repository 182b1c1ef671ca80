"""Moves the question's vector towards the best passages found, without another embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quoth.protocols import Matrix
from quoth.retrieval.fuse import FULL_TRUST
from quoth.types import Candidate, Scored

FEEDBACK_CHUNKS = 2
"""Chunks that feed back; more of them drift away from the question."""
FEEDBACK_WEIGHT = 0.15
"""Their share of the new vector; from 0.3 on a collection of near-copies loses."""


def feedback_vector(
    question: Matrix,
    *,
    ranked: Sequence[Candidate],
    vectors: Mapping[str, Matrix],
    coverage: float = 1.0,
    weight: float = FEEDBACK_WEIGHT,
    most: int = FEEDBACK_CHUNKS,
) -> Matrix:
    """Give ``(1 − w) · question + w · mean of the best chunks``, made a unit vector again.

    The method of Rocchio (1971) with the best ``most`` chunks of the first ranking taken for
    relevant, each with its score as its share. Below a ``coverage`` of `FULL_TRUST` (see
    `quoth.retrieval.fuse.covered`), as in another language, w shrinks in proportion. Where none
    of the chunks has a vector and a positive score, the question's own vector comes back.
    """
    weight *= min(1.0, max(0.0, coverage) / FULL_TRUST)
    best = [each for each in ranked[:most] if each.chunk_id in vectors and each.score > 0]
    if not best:
        return question
    shares = np.array([each.score for each in best], dtype=np.float32)
    rows = np.stack([vectors[each.chunk_id] for each in best])
    centre = _unit((shares[:, None] * rows).sum(axis=0))
    return _unit((1 - weight) * question + weight * centre)


def rescored(
    semantic: Sequence[Scored], *, vector: Matrix, vectors: Mapping[str, Matrix]
) -> list[Scored]:
    """Rank the semantic leg's chunks anew by their cosine with a vector.

    No chunk comes in or falls out, so that it costs no search: it is the ranking that another
    search would mostly give. ``vectors`` should hold the whole leg, since a chunk without one
    keeps its score, and too many of those flatten the scale.
    """
    scores = [
        (chunk_id, float(vectors[chunk_id] @ vector) if chunk_id in vectors else score)
        for chunk_id, score in semantic
    ]
    return sorted(scores, key=lambda each: -each[1])


def _unit(vector: Matrix) -> Matrix:
    length = float(np.linalg.norm(vector))
    return vector if length == 0 else (vector / np.float32(length)).astype(np.float32)
