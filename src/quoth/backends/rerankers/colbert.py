"""Reranker with a ColBERT model: late interaction of trained token vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from pathlib import Path

import numpy as np

from quoth.backends.late_interaction.token_space import (
    Packed,
    TokenSpace,
    best_matches,
    quantize_nbits,
    sum_matches,
)
from quoth.backends.late_interaction.token_vectors import open_vectors
from quoth.backends.rerankers.colbert_model import ColbertModel
from quoth.core.errors import EmbeddingError, RerankError
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk


class ColbertReranker:
    """A `Reranker` that scores passages by the sum of the best matches of the query tokens.

    ``store`` is the folder of the token vectors written by ``vectors.put``, one byte per component;
    others are computed on scoring.
    """

    def __init__(self, folder: Path, *, threads: int, store: Path | None = None) -> None:
        self._model = ColbertModel(folder, threads=threads)
        self.name = self._model.name
        self._space = TokenSpace(self._model, form=quantize_nbits(self._model.dimension))
        self.vectors = open_vectors(self._space, folder=store)

    def over(self, store: Path | None) -> ColbertReranker:
        """Return a reranker with the same model and the token vectors of another store."""
        other = copy(self)
        other.vectors = open_vectors(self._space, folder=store)
        return other

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        try:
            question, passages = await asyncio.gather(
                self.vectors.question(query), self.vectors.passages(chunks)
            )
        except EmbeddingError as error:
            raise RerankError(str(error), retryable=error.retryable) from error
        return await asyncio.to_thread(self._summed, question, passages)

    def close(self) -> None:
        """Release threads and memory."""
        self._model.close()

    def _summed(self, question: Matrix, passages: Sequence[Packed]) -> list[float]:
        sizes, unpack = [len(passage) for passage in passages], self.vectors.form.unpack
        return sum_matches(
            best_matches(question, np.concatenate(passages), sizes=sizes, unpack=unpack)
        )
