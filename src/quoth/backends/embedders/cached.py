"""Cache of query embeddings, with a circuit breaker and checks around the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from cachetools import LRUCache

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.component_checks import EmbedderWrapper, backend_errors, checked_counts, unit_rows
from quoth.core.errors import EmbeddingError
from quoth.core.protocols import Embedder, EncodedQuery, Matrix, Role
from quoth.core.types import Usage

MAX_BYTES = 8_000_000
"""Memory for encodings: some 150 queries of 30 tokens, or thousands without token vectors."""


class CachedEmbedder(EmbedderWrapper):
    """An `Embedder` wrapper that caches the encodings of recent queries, with a circuit breaker.

    Documents pass through: one that cannot be embedded must not disable vector search, and an open
    circuit must not reject one. The cached arrays are read-only. This is where an embedder is
    called: what it raises becomes EmbeddingError, and so do vectors that do not fit.
    """

    def __init__(self, embedder: Embedder, *, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(embedder)
        self._encoded: LRUCache[str, EncodedQuery] = LRUCache(max_bytes, getsizeof=_bytes)
        self._lock = Lock()
        self.hits = 0
        self.misses = 0
        self._part = f"The embedder {embedder.name}"
        self.breaker = CircuitBreaker(self._part, error=EmbeddingError)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; raises EmbeddingError."""
        with backend_errors(self._part, EmbeddingError):
            counts = self.inner.count_tokens(texts)
            return checked_counts(counts, count=len(texts))

    async def embed_inner(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the checked rows of the embedder, and what a provider charges for them."""
        with backend_errors(self._part, EmbeddingError):
            rows, usage = await super().embed_inner(texts, role=role)
        return unit_rows(rows, shape=(len(texts), self.dimension), name=self.name), usage

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        return (await self.embed_counted(texts, role=role))[0]

    async def embed_counted(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the rows of `embed`, and what a provider charges for them."""
        if role != "query":
            return await self.embed_inner(texts, role=role)
        if len(texts) == 1:
            encoded = await self.encode(texts[0])
            return encoded.vector[None].copy(), encoded.usage
        usage = Usage()
        known = {text: row.vector for text in texts if (row := self._cached(text))}
        absent = list(dict.fromkeys(text for text in texts if text not in known))
        if absent:
            with self.breaker.call():
                rows, usage = await self.embed_inner(absent, role=role)
            known.update(zip(absent, rows, strict=True))
        found = np.array([known[text] for text in texts], np.float32)
        return found.reshape(-1, self.dimension), usage

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors from one pass; raises EmbeddingError."""
        if (encoded := self._cached(query)) is not None:
            self.hits += 1
            return encoded
        self.misses += 1
        with self.breaker.call(), backend_errors(self._part, EmbeddingError):
            encoded = await self.inner.encode(query)
            vector = unit_rows(encoded.vector, shape=(self.dimension,), name=self.name)
        # A view would keep the whole matrix of its batch in memory.
        vector = vector.copy()
        tokens = None if encoded.tokens is None else encoded.tokens.copy()
        for array in (vector, tokens):
            if array is not None:
                array.setflags(write=False)
        kept = EncodedQuery(vector, tokens, encoded.sparse)
        with self._lock:
            if _bytes(kept) <= self._encoded.maxsize:
                self._encoded[query] = kept
        return replace(kept, usage=encoded.usage)

    def close(self) -> None:
        """Release threads and memory."""
        with self._lock:
            self._encoded.clear()
        self.inner.close()

    def _cached(self, query: str) -> EncodedQuery | None:
        with self._lock:
            return self._encoded.get(query)


def _bytes(encoded: EncodedQuery) -> int:
    return encoded.vector.nbytes + (0 if encoded.tokens is None else encoded.tokens.nbytes)
