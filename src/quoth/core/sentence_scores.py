"""What scores the sentences of passages: by their token vectors, or by reading them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quoth.core.protocols import Matrix
from quoth.core.types import Chunk


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Similarities of spans to a query, one of each kind per span.

    ``whole`` is the late interaction with the whole query, ``asked`` that with its question word
    and the words right after it, ``pooled`` the cosine of the mean token vectors.
    """

    whole: Sequence[float]
    asked: Sequence[float]
    pooled: Sequence[float]


class SpanScorer(Protocol):
    """Scores spans of chunks against the query, from stored token vectors."""

    async def score(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        spans: Sequence[tuple[int, int, int]],
        asking: int = 0,
        tokens: Matrix | None = None,
    ) -> SpanScores:
        """Return the scores of each span, higher is better; raises EmbeddingError.

        ``asking`` is the character of the query at which its question word stands. A span is the
        index of its chunk in ``chunks`` and the characters of that chunk's text. ``tokens`` holds
        the query's token vectors as `Embedder.encode` returned them, None to compute them.
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
