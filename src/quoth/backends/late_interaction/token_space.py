"""Transformation and encoding of token vectors for comparison and storage.

Vectors of a model that was not trained for late interaction are centred and rotated before they are
reduced to signs. The mean of all token vectors is not informative, so it is subtracted; it is
estimated on varied sentences, and no collection needs its own mean. The rotation distributes the
rest evenly over the components, so that one bit each is sufficient. Measurements:
docs/decisions/013-late-interaction-reranking.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from quoth.backends.late_interaction.kept_mean import mean_name, read_mean, write_mean
from quoth.backends.onnx.products import multiply, multiply_integers
from quoth.core.protocols import Matrix, Role

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


SEED = 7
COMMON = (
    "The first chapter explains how a language model turns text into numbers.",
    "Le premier chapitre explique comment un modèle transforme un texte en nombres.",
    "In 2019 the company sold 3,400 cars, most of them in Germany and France.",
    "La loi prévoit que toute personne peut demander l'accès aux données qui la concernent.",
    "Die Wärme des Wassers steigt, bis es bei hundert Grad zu kochen beginnt.",
    "El profesor pregunta a los alumnos qué recuerdan de la última clase.",
    "Pressure on the wing grows with the square of the speed of the air.",
    "Cells of the immune system were treated with the drug for three weeks.",
    "Welcome back, everybody; today we talk about money, music and the history of Rome.",
    "Note: see Fig. 2 (page 14) for details, or call us at any time.",
)
"""Sentences about anything; what their tokens share is what all tokens share."""

_NOTHING: Matrix = np.zeros(0, np.float32)


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also returns token vectors."""

    name: str
    revision: str
    dimension: int

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return a unit row per text, and the vectors of each text's own tokens."""
        ...


class TokenSpace:
    """Token space of one model, the same for all documents and tenants.

    ``form`` is None for an embedder's tokens; for a model trained for late interaction it is the
    encoding of its vectors, which are then not transformed. ``folder`` keeps the mean of the tokens
    of `COMMON`, so that no later process computes it; None keeps nothing.
    """

    def __init__(
        self,
        embedder: TokenEmbedder,
        *,
        form: Encoding | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name = embedder.name
        self.revision = embedder.revision
        self.form = form or binarize(embedder.dimension)
        self._embedder = embedder
        self._turned: Matrix | None = None
        if form is None:
            # A fixed random rotation, shape (dimension, dimension).
            random = np.random.default_rng(SEED).normal(size=[embedder.dimension] * 2)
            self._turned = np.linalg.qr(random)[0].astype(np.float32)
        self._common: Matrix | None = None
        model = f"{embedder.name}-{embedder.revision[:16]}"
        self._kept = folder and folder / mean_name(model, COMMON)

    async def question(self, text: str, *, tokens: Matrix | None = None) -> Matrix:
        """Return the unit vectors of a question's tokens, shape (tokens, dimension).

        ``tokens`` are those of `Embedder.encode`; None computes them.
        """
        if tokens is None:
            _, (tokens,) = await self._embedder.embed_tokens([text], role="query")
        return normalize_rows(self._cleared(tokens, await self._mean()))

    async def documents(self, texts: Sequence[str]) -> tuple[Matrix, list[Packed]]:
        """Return the unit vectors of documents' texts, and the tokens of each in the stored form.

        Raises EmbeddingError.
        """
        rows, tokens = await self._embedder.embed_tokens(texts, role="document")
        mean = await self._mean()
        return rows, await asyncio.to_thread(
            lambda: [self.form.pack(self._cleared(matrix, mean)) for matrix in tokens]
        )

    def _cleared(self, rows: Matrix, mean: Matrix) -> Matrix:
        """Subtract the mean and rotate."""
        return rows if self._turned is None else multiply(rows - mean, self._turned)

    async def _mean(self) -> Matrix:
        if self._turned is None:
            return _NOTHING
        if self._common is None and self._kept is not None:
            self._common = read_mean(self._kept, dimension=len(self._turned))
        if self._common is None:
            _, tokens = await self._embedder.embed_tokens(COMMON, role="document")
            self._common = np.concatenate(tokens).mean(axis=0).astype(np.float32)
            if self._kept is not None:
                await asyncio.to_thread(write_mean, self._kept, self._common)
        return self._common
