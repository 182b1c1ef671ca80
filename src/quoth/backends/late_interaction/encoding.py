"""Encodings of token vectors for storage, and their comparison.

The products of matrices are computed by onnxruntime, on the calling thread: numpy distributes a
large one over a pool of spinning threads, and with two cores busy that took 8 ms instead of 1.4,
and occasionally 800. The models are made by ``scripts/make_products.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from quoth.backends.onnx.session import open_runtime
from quoth.core.protocols import Matrix

Packed = npt.NDArray[np.uint8]
"""Stored rows: one per token, as their encoding writes them."""
Starts = npt.NDArray[np.intp]
LARGEST = 127


@dataclass(frozen=True, slots=True)
class Encoding:
    """Encoding of rows with a number of components: bytes per row, pack and unpack.

    ``nearest`` takes packed rows, unit vectors, and the first row of each passage; it returns the
    greatest cosine of each vector within each passage, shape (passages, vectors).
    """

    width: int
    pack: Callable[[Matrix], Packed]
    unpack: Callable[[Packed], Matrix]
    nearest: Callable[[Packed, Matrix, Starts], Matrix]


def binarize(dimension: int) -> Encoding:
    """Return the 1-bit encoding (the signs); unpacked rows have the length 1."""
    # The eight components of each byte value, shape (256, 8).
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    table: Matrix = ((2.0 * bits - 1) / np.sqrt(dimension)).astype(np.float32)

    def pack(rows: Matrix) -> Packed:
        packed: Packed = np.packbits(rows > 0, axis=1)
        return packed

    def unpack(packed: Packed) -> Matrix:
        whole = np.take(table, packed, axis=0).reshape(len(packed), -1)
        return whole[:, :dimension]

    def nearest(packed: Packed, vectors: Matrix, starts: Starts) -> Matrix:
        # Bits are multiplied as integers, by vectors rounded to 8 bits with a scale each.
        scales = np.maximum(np.abs(vectors).max(axis=1), SMALLEST) / LARGEST
        whole = np.rint(vectors / scales[:, None]).astype(np.int8)
        sums = multiply_integers(np.unpackbits(packed, axis=1, count=dimension), whole.T)
        signed = 2 * np.maximum.reduceat(sums, starts) - whole.sum(axis=1, dtype=np.int32)
        found: Matrix = signed * (scales / np.sqrt(dimension)).astype(np.float32)
        return found

    return Encoding(-(-dimension // 8), pack, unpack, nearest)


def quantize_nbits(dimension: int) -> Encoding:
    """Return the 8-bit encoding of unit vectors."""

    def pack(rows: Matrix) -> Packed:
        whole = np.rint(np.clip(rows, -1, 1) * LARGEST).astype(np.int8)
        return whole.view(np.uint8)

    def unpack(packed: Packed) -> Matrix:
        whole: Matrix = np.ascontiguousarray(packed).view(np.int8).astype(np.float32)
        whole *= np.float32(1 / LARGEST)
        return whole

    def nearest(packed: Packed, vectors: Matrix, starts: Starts) -> Matrix:
        found: Matrix = np.maximum.reduceat(multiply(unpack(packed), vectors.T), starts)
        return found

    return Encoding(dimension, pack, unpack, nearest)


SMALLEST = 1e-6
"""Shorter vectors are left as they are; they point nowhere."""


def normalize_rows(rows: Matrix) -> Matrix:
    """Return the rows scaled to length 1."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = (rows / np.maximum(lengths, SMALLEST)).astype(np.float32, copy=False)
    return scaled


AT_ONCE = 2048
"""Tokens of passages, about, that are compared at once: they are unpacked for it."""


def best_matches(question: Matrix, passages: Sequence[Packed], *, form: Encoding) -> Matrix:
    """Return the similarity of each query token to its nearest token in each passage.

    ``passages`` holds the encoded token vectors of each; the result has the shape (query tokens,
    passages). A passage without tokens gets the lowest similarity.
    """
    sizes = np.array([len(passage) for passage in passages])
    found = np.zeros((len(question), len(sizes)), np.float32)
    filled = np.flatnonzero(sizes)
    if not len(filled) or not len(question):
        return found
    parts = np.split(filled, np.flatnonzero(np.diff(np.cumsum(sizes[filled]) // AT_ONCE)) + 1)
    best = np.concatenate(
        [
            form.nearest(
                np.concatenate([passages[at] for at in part]),
                question,
                np.cumsum(sizes[part]) - sizes[part],
            ).T
            for part in parts
        ],
        axis=1,
    )
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


FOLDER = Path(__file__).parents[1] / "onnx" / "data"


def multiply(left: Matrix, right: Matrix) -> Matrix:
    """Multiply two matrices of floats."""
    given = {"left": np.ascontiguousarray(left), "right": np.ascontiguousarray(right)}
    product: Matrix = _model("MatMul").run(None, given)[0]
    return product


def multiply_integers(
    left: npt.NDArray[np.uint8], right: npt.NDArray[np.int8]
) -> npt.NDArray[np.int32]:
    """Multiply two matrices of integers, those on the left from 0 to 127.

    Larger ones would overflow the 16 bits in which some processors add two products.
    """
    given = {"left": np.ascontiguousarray(left), "right": np.ascontiguousarray(right)}
    product: npt.NDArray[np.int32] = _model("MatMulInteger").run(None, given)[0]
    return product


@cache
def _model(operator: str) -> onnxruntime.InferenceSession:
    return open_runtime(FOLDER / f"{operator}.onnx")
