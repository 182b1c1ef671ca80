"""The rerankers of a tenant, with their fallbacks, a circuit breaker and a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.component_checks import backend_errors, checked_scores
from quoth.core.errors import RerankError
from quoth.core.protocols import CountsReranking, Matrix, Reranker, TokenVectorStore
from quoth.core.types import Chunk, Usage


@runtime_checkable
class KeepsTokens(Protocol):
    """A reranker with token vectors of its own, which are made when documents are added."""

    vectors: TokenVectorStore


class GuardedReranker:
    """A `Reranker` that tries others in order, the preferred one first.

    When one raises RerankError the next scores all chunks again, so that no ranking mixes the
    scores of two models; the error of the last is raised, and the caller falls back to the fused
    order. ``limit_s`` is the time limit of one call, None for no limit.
    """

    def __init__(self, *rerankers: Reranker, limit_s: float | None = None) -> None:
        if not rerankers:
            raise ValueError("At least one reranker is needed.")
        self.rerankers = rerankers
        self.name = " → ".join(reranker.name for reranker in rerankers)
        self.breaker = CircuitBreaker(f"The reranker {self.name}", error=RerankError)
        self._limit_s = limit_s
        self.token_stores = tuple(
            each.vectors for each in rerankers if isinstance(each, KeepsTokens)
        )
        # Only a single reranker with a block size is called in blocks.
        if len(rerankers) == 1 and hasattr(rerankers[0], "block"):
            self.block = rerankers[0].block

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better, all by one reranker; raises RerankError."""
        return (await self.score_counted(query, chunks, tokens=tokens))[0]

    async def score_counted(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[list[float], Usage]:
        """Return the scores, and what the provider of the one that made them charges."""
        with self.breaker.call():
            async with self._time_limit():
                for reranker in self.rerankers:
                    usage = Usage()
                    try:
                        with backend_errors(f"The reranker {reranker.name}", RerankError):
                            if isinstance(reranker, CountsReranking):
                                scores, usage = await reranker.score_counted(
                                    query, chunks, tokens=tokens
                                )
                            else:
                                scores = await reranker.score(query, chunks, tokens=tokens)
                        return checked_scores(scores, count=len(chunks), name=reranker.name), usage
                    except RerankError as error:
                        failed = error
                raise failed

    def close(self) -> None:
        """Release threads and memory."""
        for reranker in self.rerankers:
            reranker.close()

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limit_s):
                yield
        except TimeoutError:
            message = f"The reranker {self.name} took longer than {self._limit_s:g} s."
            raise RerankError(message) from None
