"""The token vectors of chunks, made by the embedder in the pass that embeds the chunk."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

from quoth.backends.late_interaction.token_space import TokenSpace
from quoth.backends.late_interaction.token_store import Packed, TokenStore
from quoth.core.protocols import Embedder, EncodedQuery, Matrix, Role
from quoth.core.types import Chunk

MAKE = 1
"""Part of the folder's name; raise it when the same model would give other bits."""
NOTED_BYTES = 64_000_000
"""Memory for what waits to be kept: some 9,000 chunks, which is more than a book has."""


class TokenVectors:
    """Token vectors of chunks: made while they are embedded, kept on disk, computed if missing.

    `noting` stands in for the embedder and notes the tokens of every document's text; `keep`
    writes those of chunks before the catalogue commits them, `delete` goes with the index's.
    ``store`` None computes always.
    """

    def __init__(self, space: TokenSpace, *, store: TokenStore | None) -> None:
        self._space = space
        self._store = store
        self._noted: OrderedDict[str, Packed] = OrderedDict()
        self._bytes = 0
        self.form = space.form

    def recording_embedder(self, embedder: Embedder) -> Embedder:
        """Stand in for the embedder: the same vectors, and the tokens of documents are noted."""
        return NotingEmbedder(embedder, self)

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Give the unit vectors of documents' texts and note their tokens; raises EmbeddingError.

        What nobody keeps is forgotten, the oldest first.
        """
        rows, tokens = await self._space.documents(texts)
        for text, packed in zip(texts, tokens, strict=True):
            self._forget(text)
            self._noted[text] = packed
            self._bytes += packed.nbytes
        while self._bytes > NOTED_BYTES:
            self._forget(next(iter(self._noted)))
        return rows

    async def keep(self, chunks: Sequence[Chunk], *, compute: bool = False) -> None:
        """Put what was noted for these chunks on disk; ``compute`` makes what was not noted.

        Raises StorageFull and RerankError, and EmbeddingError where it computes.
        """
        if self._store is None:
            return
        texts = [chunk.indexed for chunk in chunks]
        if compute and (absent := [text for text in texts if text not in self._noted]):
            await self.embed(absent)
        documents: dict[str, dict[int, Packed]] = {}
        for chunk, text in zip(chunks, texts, strict=True):
            if text in self._noted:
                documents.setdefault(chunk.document_id, {})[chunk.ordinal] = self._noted[text]
        for document_id, packed in documents.items():
            await asyncio.to_thread(self._store.put, document_id, packed)
        for text in texts:
            self._forget(text)

    async def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents from the disk."""
        if self._store is not None:
            await asyncio.to_thread(self._store.delete, list(document_ids))

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, also what other models kept of them; gives their number."""
        if self._store is None:
            return 0
        return await asyncio.to_thread(self._store.keep_only, list(document_ids), all_models=True)

    async def question(self, text: str, *, tokens: Matrix | None = None) -> Matrix:
        """Return the unit vectors of a question's tokens, shape (tokens, dimension).

        ``tokens`` are those of `Embedder.encode`; None computes them.
        """
        return await self._space.question(text, tokens=tokens)

    async def passages(self, chunks: Sequence[Chunk]) -> list[Packed]:
        """Give each chunk's tokens in the stored form, from disk or computed.

        Raises EmbeddingError.
        """
        known: dict[str, Packed] = {}
        if self._store is not None:
            known = await asyncio.to_thread(self._store.get, chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent:
            _, tokens = await self._space.documents([chunk.indexed for chunk in absent])
            for chunk, bits in zip(absent, tokens, strict=True):
                known[chunk.chunk_id] = bits
        return [known[chunk.chunk_id] for chunk in chunks]

    def _forget(self, text: str) -> None:
        packed = self._noted.pop(text, None)
        self._bytes -= 0 if packed is None else packed.nbytes


class NotingEmbedder:
    """An `Embedder` that notes the tokens of documents while it embeds them."""

    def __init__(self, embedder: Embedder, vectors: TokenVectors) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self.name = embedder.name
        self.revision = embedder.revision
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self.query_prefix = embedder.query_prefix
        self.document_prefix = embedder.document_prefix

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Give one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        if role == "query":
            return await self._embedder.embed(texts, role=role)
        return await self._vectors.embed(texts)

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors from one pass; raises EmbeddingError."""
        return await self._embedder.encode(query)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Release threads and memory."""
        self._embedder.close()


def open_vectors(space: TokenSpace, *, folder: Path | None) -> TokenVectors:
    """Open the token vectors that are kept below a folder; None keeps nothing.

    Each model has a folder of its own there, so that vectors of two makes never meet.
    """
    kept = None
    if folder is not None:
        name = f"{space.name}-{space.revision[:16]}-{MAKE}"
        kept = TokenStore(folder / name, width=space.form.width)
    return TokenVectors(space, store=kept)
