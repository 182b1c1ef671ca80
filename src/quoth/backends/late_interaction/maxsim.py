"""Late interaction (MaxSim): each query token is matched to its nearest passage token.

ColBERT, Khattab and Zaharia, SIGIR 2020, https://arxiv.org/abs/2004.12832.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quoth.core.protocols import Matrix

SMALLEST = 1e-6
"""Shorter vectors are left as they are; they point nowhere."""
ONE_THREAD = 500_000
"""Multiplications up to which numpy's BLAS stays on the calling thread."""


def normalize_rows(rows: Matrix) -> Matrix:
    """Return the rows scaled to length 1."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = (rows / np.maximum(lengths, SMALLEST)).astype(np.float32, copy=False)
    return scaled


def product(left: Any, right: Matrix, *, unpack: Callable[[Any], Matrix] | None = None) -> Matrix:
    """Multiply two matrices on the calling thread only; ``unpack`` decodes the rows of ``left``.

    A larger product would be distributed over a pool of spinning threads: with two cores busy that
    took 8 ms instead of 1.4, and occasionally 800. Blocks unpacked one at a time stay in the
    processor cache.
    """
    right = np.ascontiguousarray(right)
    step = max(1, ONE_THREAD // max(1, right.size))
    result = np.empty((len(left), right.shape[1]), np.float32)
    for at in range(0, len(left), step):
        part = left[at : at + step]
        np.matmul(part if unpack is None else unpack(part), right, out=result[at : at + step])
    return result


def best_matches(
    question: Matrix,
    rows: Any,
    *,
    sizes: Sequence[int],
    unpack: Callable[[Any], Matrix] | None = None,
) -> Matrix:
    """Return the similarity of each query token to its nearest token in each passage.

    ``rows`` are the encoded token vectors of all passages in order, ``sizes`` their counts; the
    result has the shape (query tokens, passages). A passage without tokens gets the lowest
    similarity.
    """
    found = np.zeros((len(question), len(sizes)), np.float32)
    filled = np.flatnonzero(sizes)
    if not len(filled) or not len(question):
        return found
    starts = np.cumsum(sizes)[filled] - np.asarray(sizes)[filled]
    # The long side first, so that the maxima are taken along contiguous rows.
    best = np.maximum.reduceat(product(rows, question.T, unpack=unpack), starts, axis=0).T
    found[:] = best.min(axis=1, keepdims=True)
    found[:, filled] = best
    return found


def sum_matches(matches: Matrix) -> list[float]:
    """Return the sum of the token matches, as in the training of ColBERT."""
    totals: list[float] = matches.sum(axis=0).astype(np.float64).tolist()
    return totals


def weighted_maxsim(matches: Matrix) -> list[float]:
    """Return the mean of the token matches, weighted by their discriminative power.

    The weight of a token is its best match among the passages minus its mean one. Words that occur
    in all passages or in none thus have little weight, in any language and without word statistics.
    Measured in docs/decisions/013-late-interaction-reranking.md.
    """
    if not matches.size:
        return [0.0] * matches.shape[1]
    weights = matches.max(axis=1) - matches.mean(axis=1)
    means: list[float] = (weights @ matches / max(float(weights.sum()), SMALLEST)).tolist()
    return means
