"""What scores the sentences of passages: by their token vectors, or by reading them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quoth.core.protocols import Matrix
from quoth.core.types import Chunk


class SpanScorer(Protocol):
    """Scores spans of chunks against the query, from stored token vectors."""

    async def score(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        spans: Sequence[tuple[int, int, int]],
        tokens: Matrix | None = None,
    ) -> Sequence[float]:
        """Return one score per span, higher is better; raises EmbeddingError.

        A span is the index of its chunk in ``chunks`` and the characters of that chunk's text.
        ``tokens`` holds the query's token vectors as `Embedder.encode` returned them, None to
        compute them.
        """
        ...


class SentenceScorer(Protocol):
    """Scores sentences by a model that reads them together with the query."""

    async def score(
        self, question: str, passages: Sequence[Sequence[str]]
    ) -> list[Sequence[float]]:
        """Return for each passage the scores of its sentences; raises RerankError.

        A score is the log-odds that the sentence answers rather than that nothing in the passage
        does; NaN for a sentence beyond the limit of the model.
        """
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...
