"""Variants of the doubles of `quoth.testing` that fail or are slow, for the fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quoth.core.errors import EmbeddingError, RerankError, RetrievalError
from quoth.core.protocols import Matrix, Role
from quoth.core.types import Chunk, Filter, Scored
from quoth.testing import HashEmbedder, MemoryIndex, WordReranker


class FailingEmbedder(HashEmbedder):
    """Raises EmbeddingError for every text."""

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Raise EmbeddingError."""
        raise EmbeddingError("The embedder is made to fail.")


class SlowEmbedder(HashEmbedder):
    """Waits, in seconds, before every call."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Wait, then embed."""
        await asyncio.sleep(self._seconds)
        return await super().embed(texts, role=role)


class FailingIndex(MemoryIndex):
    """Stores normally and raises RetrievalError for every search."""

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Raise RetrievalError."""
        raise RetrievalError("The index is made to fail.")

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Raise RetrievalError."""
        raise RetrievalError("The index is made to fail.")


class SlowIndex(MemoryIndex):
    """Waits, in seconds, before every search."""

    def __init__(
        self, seconds: float, *, rows: dict[str, tuple[Chunk, Matrix]] | None = None
    ) -> None:
        super().__init__(rows)
        self._seconds = seconds

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Wait, then search."""
        await asyncio.sleep(self._seconds)
        return await super().nearest(vector, limit=limit, filters=filters)

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Wait, then search."""
        await asyncio.sleep(self._seconds)
        return await super().match(text, languages=languages, limit=limit, filters=filters)


class FailingReranker(WordReranker):
    """Raises RerankError for every query."""

    name = "failing"

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Raise RerankError."""
        raise RerankError("The reranker is made to fail.")


class SlowReranker(WordReranker):
    """Waits, in seconds, before every call."""

    name = "slow"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Wait, then score."""
        await asyncio.sleep(self._seconds)
        return await super().score(query, chunks, tokens=tokens)
