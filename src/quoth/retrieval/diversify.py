"""Keeps a ranking from saying the same thing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from quoth.protocols import Matrix
from quoth.types import Candidate

Numbers = npt.NDArray[np.float64]


def maximal_marginal_relevance(
    candidates: Sequence[Candidate],
    *,
    vectors: Mapping[str, Matrix],
    mmr_lambda: float,
    limit: int,
) -> list[Candidate]:
    """Pick by ``λ · relevance − (1 − λ) · likeness to what is picked`` (Carbonell, SIGIR 1998).

    λ is the weight of relevance: 1 keeps the order. Relevance is the candidates' score spread
    over 0 to 1; likeness is the greatest cosine to a picked one, spread over 0 to 1 as well,
    since a model's cosines may fill only a narrow band. ``vectors`` are unit rows by chunk id;
    a candidate without one is like nothing. Scores are left as they were.
    """
    if mmr_lambda >= 1 or len(candidates) < 2:
        return list(candidates[:limit])
    relevance = _spread(np.array([each.score for each in candidates], dtype=np.float64))
    likeness = _likeness(candidates, vectors)
    nearest = np.zeros(len(candidates))
    open_ = np.ones(len(candidates), dtype=bool)
    picked: list[Candidate] = []
    while len(picked) < min(limit, len(candidates)):
        gains = mmr_lambda * relevance - (1 - mmr_lambda) * nearest
        place = int(np.argmax(np.where(open_, gains, -np.inf)))
        open_[place] = False
        picked.append(candidates[place])
        nearest = np.maximum(nearest, likeness[place])
    return picked


def cap_per_document(
    candidates: Sequence[Candidate], *, document_of: Callable[[str], str], most: int
) -> list[Candidate]:
    """Keep the first ``most`` candidates of every document, in order."""
    seen: Counter[str] = Counter()
    kept = []
    for each in candidates:
        document = document_of(each.chunk_id)
        seen[document] += 1
        if seen[document] <= most:
            kept.append(each)
    return kept


def _likeness(candidates: Sequence[Candidate], vectors: Mapping[str, Matrix]) -> Numbers:
    width = next((row.shape[-1] for row in vectors.values()), 1)
    blank = np.zeros(width, dtype=np.float32)
    rows = np.stack([vectors.get(each.chunk_id, blank) for each in candidates])
    known = np.array([each.chunk_id in vectors for each in candidates])
    pairs = np.outer(known, known) & ~np.eye(len(candidates), dtype=bool)
    cosines = (rows @ rows.T).astype(np.float64)
    spread = np.zeros_like(cosines)
    if pairs.any():
        spread[pairs] = _spread(cosines[pairs])
    return spread


def _spread(values: Numbers) -> Numbers:
    low, high = values.min(), values.max()
    return np.ones_like(values) if high <= low else (values - low) / (high - low)
