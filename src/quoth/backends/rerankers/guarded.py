"""Circuit breaker and time limit around a reranker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import RerankError
from quoth.core.protocols import Matrix, Reranker
from quoth.core.types import Chunk


class GuardedReranker:
    """A `Reranker` wrapper; ``limit_s`` is the time limit of one call, None for no limit."""

    def __init__(
        self,
        reranker: Reranker,
        *,
        breaker: CircuitBreaker | None = None,
        limit_s: float | None = None,
    ) -> None:
        self.inner = reranker
        self.name = reranker.name
        self.breaker = breaker or CircuitBreaker(f"The reranker {reranker.name}", error=RerankError)
        self._limit_s = limit_s
        # Only a reranker with a block size is called in blocks.
        if hasattr(reranker, "block"):
            self.block = reranker.block

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        with self.breaker.call():
            try:
                async with asyncio.timeout(self._limit_s) as limit:
                    return await self.inner.score(query, chunks, tokens=tokens)
            except TimeoutError:
                if not limit.expired():
                    raise
            raise RerankError(f"The reranker {self.name} took longer than {self._limit_s:g} s.")

    def close(self) -> None:
        """Release threads and memory."""
        self.inner.close()
