"""What is embedded of a large document survives a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from quoth.core.protocols import Matrix, Role
from quoth.pipeline.commit import EMBED_CHUNKS
from quoth.store.rows import tokens_folder
from quoth.testing import HashEmbedder
from tests.support.upload_service import drained, open_quickly, send, working

BOOK = "\n\n".join(
    f"Paragraph {number} of the book says what number {number} is about, at some length. " * 4
    for number in range(900)
)


class Counting(HashEmbedder):
    """Counts the texts that it embeds, and stops after so many."""

    def __init__(self, *, limit: int | None = None) -> None:
        super().__init__()
        self.limit = limit
        self.count = 0
        self.reached = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        if role == "document":
            if self.limit is not None and self.count >= self.limit:
                self.reached.set()
                await asyncio.Event().wait()
            self.count += len(texts)
        return await super().embed(texts, role=role)


async def test_a_stop_costs_one_part_at_most(tmp_path: Path) -> None:
    stopping = Counting(limit=5 * EMBED_CHUNKS)
    async with open_quickly(tmp_path, embedder=stopping) as tenants:
        await send(tenants, BOOK)
        async with working(tenants):
            async with asyncio.timeout(60):
                await stopping.reached.wait()
    again = Counting()
    async with open_quickly(tmp_path, embedder=again) as tenants:
        parts = tenants.engine("local").parts
        saved = sorted((tokens_folder(parts.settings) / "partial").rglob("*.npz"))
        assert len(saved) >= 5
        saved[0].write_bytes(saved[0].read_bytes()[:100])  # a damaged part is embedded again
        async with working(tenants):
            (task,) = await drained(tenants, within_s=120)
        assert task.state == "ready"
        collection = parts.catalogue.collection("default")
        chunks = parts.catalogue.document_chunks(task.document_id or "")
        left = len(chunks) - (len(saved) - 1) * EMBED_CHUNKS
        assert left <= again.count < left + EMBED_CHUNKS, "the texts, and some prefixes"
        vectors = await parts.open_index(collection.table).vectors([chunks[0].chunk_id])
        own = await HashEmbedder().embed([chunks[0].indexed], role="document")
        assert float(vectors[chunks[0].chunk_id] @ own[0]) > 0.95
        assert not list((tokens_folder(parts.settings) / "partial").rglob("*.npz"))


@pytest.mark.soak
async def test_a_small_file_passes_the_large_one_of_another_tenant(tmp_path: Path) -> None:
    stopping = Counting(limit=2 * EMBED_CHUNKS)
    async with open_quickly(tmp_path, embedder=stopping) as tenants:
        await send(tenants, BOOK, tenant="carol")
        async with working(tenants, count=1):
            async with asyncio.timeout(60):
                await stopping.reached.wait()
            stopping.limit = None  # the large file hangs where it is; others go on
            await send(tenants, "# Note\n\nBob's note is short.\n", tenant="bob")
            (note,) = await drained(tenants, tenant="bob", within_s=10)
        assert note.state == "ready"
