"""Transformation and encoding of token vectors for comparison and storage.

Vectors of a model that was not trained for late interaction are centred and rotated before they are
reduced to signs. The mean of all token vectors is not informative, so it is subtracted; it is
estimated on varied sentences, and no collection needs its own mean. The rotation distributes the
rest evenly over the components, so that one bit each is sufficient. Measurements:
docs/decisions/013-late-interaction-reranking.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from quoth.backends.late_interaction.binary_quantization import Encoding, binarize
from quoth.backends.late_interaction.maxsim import normalize_rows, product
from quoth.backends.late_interaction.token_store import Packed
from quoth.core.protocols import Matrix, Role

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
    encoding of its vectors, which are then not transformed.
    """

    def __init__(self, embedder: TokenEmbedder, *, form: Encoding | None = None) -> None:
        self.name = embedder.name
        self.revision = embedder.revision
        self.form = form or binarize(embedder.dimension)
        self._embedder = embedder
        self._turned = _rotation(embedder.dimension) if form is None else None
        self._common: Matrix | None = None

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
        return rows if self._turned is None else product(rows - mean, self._turned)

    async def _mean(self) -> Matrix:
        if self._turned is None:
            return _NOTHING
        if self._common is None:
            _, tokens = await self._embedder.embed_tokens(COMMON, role="document")
            self._common = np.concatenate(tokens).mean(axis=0).astype(np.float32)
        return self._common


def _rotation(dimension: int) -> Matrix:
    """Return a fixed random rotation, shape (dimension, dimension)."""
    random = np.random.default_rng(SEED).normal(size=(dimension, dimension))
    turned, _ = np.linalg.qr(random)
    return turned.astype(np.float32)
