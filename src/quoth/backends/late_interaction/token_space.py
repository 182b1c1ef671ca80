"""The space in which a model's token vectors are compared, and the form in which they are kept.

Those of a model that was not trained to compare tokens are centred and turned before their signs
are kept. What all its token vectors have in common says nothing about a passage, so it is taken
away; it is measured on sentences of many kinds, and no collection needs a mean of its own.
Turning spreads what is left evenly over the components, so that one bit of each is enough. The
figures are in docs/decisions/013-late-interaction-reranking.md.
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
    """An embedder that also gives the vectors of the tokens."""

    name: str
    revision: str
    dimension: int

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return a unit row per text, and the vectors of each text's own tokens."""
        ...


class TokenSpace:
    """What one model makes of tokens, the same for every document and every tenant.

    ``form`` is None for an embedder's own tokens; for a model that was trained to compare tokens
    it says how its vectors, which then stay as they are, are kept.
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
            lambda: [self.form.pack(self._cleared(each, mean)) for each in tokens]
        )

    def _cleared(self, rows: Matrix, mean: Matrix) -> Matrix:
        """Take away what all tokens share, and turn what is left."""
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
