"""Reranker by late interaction over the embedder's token vectors, without its own model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from quoth.backends.late_interaction.maxsim import best_matches, weighted_maxsim
from quoth.backends.late_interaction.token_store import Packed
from quoth.backends.late_interaction.token_vectors import TokenVectors
from quoth.core.errors import EmbeddingError, RerankError
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk


class LateReranker:
    """A `Reranker` that scores passages by the similarity of their tokens to the query's.

    Query tokens are weighted by how well they discriminate, so all candidates are scored in one
    call. With stored token vectors that takes milliseconds; without, every passage
    is embedded again. Scores are cosines, mostly from 0.2 to 0.8.
    """

    name = "late"

    def __init__(self, vectors: TokenVectors) -> None:
        self._vectors = vectors

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        try:
            question, passages = await asyncio.gather(
                self._vectors.question(query, tokens=tokens), self._vectors.passages(chunks)
            )
        except EmbeddingError as error:
            raise RerankError(
                f"The passages could not be compared with the question: {error}",
                retryable=error.retryable,
            ) from error
        return await asyncio.to_thread(self._weighed, question, passages)

    def close(self) -> None:
        """Do nothing: the embedder is closed by its owner."""

    def _weighed(self, question: Matrix, passages: Sequence[Packed]) -> list[float]:
        sizes = [len(passage) for passage in passages]
        unpack = self._vectors.form.unpack
        return weighted_maxsim(
            best_matches(question, np.concatenate(passages), sizes=sizes, unpack=unpack)
        )
