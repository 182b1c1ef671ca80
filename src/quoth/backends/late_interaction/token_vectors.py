"""Token vectors of chunks, computed in the same pass as the chunk embedding."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.backends.late_interaction.token_space import TokenSpace
from quoth.backends.late_interaction.token_store import TokenStore
from quoth.core.protocols import Matrix, TokenRows
from quoth.core.types import Chunk

MAKE = 1
"""Part of the folder's name; raise it when the same model would give other bits."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Token vectors of chunks: made in the pass that embeds them, stored, computed if missing.

    ``store`` None computes always.
    """

    space: TokenSpace
    store: TokenStore | None

    async def embed(self, texts: Sequence[str]) -> tuple[Matrix, list[TokenRows]]:
        """Return documents' unit vectors, and their token vectors in the form for `put`.

        Raises EmbeddingError.
        """
        return await self.space.documents(texts)

    async def put(self, chunks: Sequence[Chunk], tokens: Sequence[TokenRows]) -> None:
        """Write the token vectors of chunks to disk; raises StorageFull and RerankError."""
        if self.store is None:
            return
        documents: dict[str, dict[int, TokenRows]] = {}
        for chunk, rows in zip(chunks, tokens, strict=True):
            documents.setdefault(chunk.document_id, {})[chunk.ordinal] = rows
        for document_id, by_ordinal in documents.items():
            await asyncio.to_thread(self.store.put, document_id, by_ordinal)

    async def add(self, chunks: Sequence[Chunk]) -> None:
        """Compute and write those that are not on the disk; raises EmbeddingError, StorageFull."""
        known = await self.stored(chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent and self.store is not None:
            _, tokens = await self.space.documents([chunk.indexed for chunk in absent])
            await self.put(absent, tokens)

    async def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents from the disk."""
        if self.store is not None:
            await asyncio.to_thread(self.store.delete, list(document_ids))

    async def damaged(self) -> list[str]:
        """Return the names of files on the disk that are not as they were written."""
        return [] if self.store is None else await asyncio.to_thread(self.store.damaged)

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, of other models too; return their number."""
        if self.store is None:
            return 0
        return await asyncio.to_thread(self.store.keep_only, list(document_ids))

    async def stored(self, chunks: Sequence[Chunk]) -> dict[str, TokenRows]:
        """Return the token vectors of those chunks that are on the disk, by chunk id."""
        if self.store is None:
            return {}
        return await asyncio.to_thread(self.store.get, chunks)

    async def passages(self, chunks: Sequence[Chunk]) -> list[TokenRows]:
        """Return each chunk's tokens in the stored form, from disk or computed.

        Raises EmbeddingError.
        """
        known = await self.stored(chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent:
            _, tokens = await self.space.documents([chunk.indexed for chunk in absent])
            for chunk, bits in zip(absent, tokens, strict=True):
                known[chunk.chunk_id] = bits
        return [known[chunk.chunk_id] for chunk in chunks]


def open_vectors(space: TokenSpace, *, folder: Path | None) -> TokenVectors:
    """Open the token vectors stored below a folder; None disables storage.

    Each model has a separate folder, so that vectors of two models are never mixed.
    """
    kept = None
    if folder is not None:
        name = f"{space.name}-{space.revision[:16]}-{MAKE}"
        kept = TokenStore(folder / name, width=space.form.width)
    return TokenVectors(space, store=kept)
