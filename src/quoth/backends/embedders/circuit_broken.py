"""Circuit breaker around the query embedder."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import EmbeddingError
from quoth.core.protocols import Embedder, EncodedQuery, Matrix, Role


class GuardedEmbedder:
    """An `Embedder` wrapper with a circuit breaker for queries.

    Documents bypass it: a document that cannot be embedded must not disable vector search, and an
    open circuit must not reject a document.
    """

    def __init__(self, embedder: Embedder, *, breaker: CircuitBreaker | None = None) -> None:
        self.inner = embedder
        self.name = embedder.name
        self.revision = embedder.revision
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self.query_prefix = embedder.query_prefix
        self.document_prefix = embedder.document_prefix
        self.breaker = breaker or CircuitBreaker(
            f"The embedder {embedder.name}", error=EmbeddingError
        )

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        if role != "query":
            return await self.inner.embed(texts, role=role)
        with self.breaker.call():
            return await self.inner.embed(texts, role=role)

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors from one pass; raises EmbeddingError."""
        with self.breaker.call():
            return await self.inner.encode(query)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self.inner.count_tokens(texts)

    def close(self) -> None:
        """Release threads and memory."""
        self.inner.close()
