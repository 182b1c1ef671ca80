"""Several rerankers, each the fallback of the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quoth.core.errors import RerankError
from quoth.core.protocols import Matrix, Reranker
from quoth.core.types import Chunk


def discard_warning(_name: str, _error: RerankError) -> None:
    """Ignore the failure."""


class FallbackReranker:
    """A `Reranker` that tries others in order, the preferred one first.

    When one raises RerankError the next scores all chunks again, so that no ranking mixes the
    scores of two models. When all fail the last error is raised, and the caller falls back to the
    fused order. ``on_failure`` is called with the name of each failed reranker and its error.
    """

    def __init__(
        self,
        *rerankers: Reranker,
        on_failure: Callable[[str, RerankError], None] = discard_warning,
    ) -> None:
        if not rerankers:
            raise ValueError("A chain needs at least one reranker.")
        self._rerankers = rerankers
        self._on_failure = on_failure
        self.name = " → ".join(reranker.name for reranker in rerankers)

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, all by the same reranker; raises RerankError."""
        return (await self.score_by(query, chunks, tokens=tokens))[1]

    async def score_by(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[str, list[float]]:
        """Return the name of the reranker that scored, and its scores; raises RerankError."""
        *earlier, last = self._rerankers
        for each in earlier:
            try:
                return each.name, await each.score(query, chunks, tokens=tokens)
            except RerankError as error:
                self._on_failure(each.name, error)
        return last.name, await last.score(query, chunks, tokens=tokens)

    def close(self) -> None:
        """Close all rerankers."""
        for reranker in self._rerankers:
            reranker.close()
