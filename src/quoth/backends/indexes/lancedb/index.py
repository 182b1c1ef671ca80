"""Vector and keyword index in LanceDB: one embedded, multi-process store.

The table is authoritative. Searches read segments beside it, which every write brings up to date
before it is done: what a crash leaves between the two, the catalogue does not name, and the next
write repairs it. Segments that are missing or damaged are built from the table by the next search.
LanceDB is imported when the table is first needed: a query does not wait for that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quoth.backends.indexes.lancedb.bucket import Bucket
from quoth.backends.indexes.snapshot.search import Snapshot
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.core.command_line import REINDEX
from quoth.core.errors import BackendError, IndexCorrupt, RetrievalError, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter, Scored
from quoth.text.analyzer import analyze_query

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore

T = TypeVar("T")
NO_ROOM = ("No space left", "File too large", "quota exceeded")


class LanceIndex:
    """One table of a LanceDB folder or bucket, serving one collection.

    ``on_operation`` is called with the name of every write before and after it is done; ``rebuild``
    returns the command that rebuilds the index.
    """

    def __init__(
        self,
        folder: Path,
        table: str,
        *,
        dimension: int,
        bucket: Bucket | None = None,
        on_operation: Callable[[str], None] = lambda _name: None,
        rebuild: Callable[[], str] = REINDEX,
    ) -> None:
        self._folder = folder
        self._name = table
        self._dimension = dimension
        self._on_operation = on_operation
        self._rebuild = rebuild
        self._store: LanceStore | None = None
        self._bucket = bucket
        self._segments = SegmentStore(
            folder, table, shared=None if bucket is None else bucket.objects
        )
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="search")

    # --- writing ------------------------------------------------------------------------------

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors; writing a chunk again replaces it."""
        if not chunks:
            return
        with self._translated():
            store = await self._table()
            made = await asyncio.to_thread(store.rows, chunks, vectors=vectors)
            await store.create()
            async with store.turn("upsert chunks"):
                before = await store.version()
                ids = [each.chunk_id for each in chunks]
                new = not await asyncio.to_thread(self._segments.may_hold, ids, before)
                arrays = asyncio.to_thread(store.arrays, made, vectors)
                added, _ = await asyncio.gather(arrays, store.upsert(made, new=new))
                await store.write_segments(before, added=added)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        if document_ids:
            with self._translated():
                store = await self._table()
                if await store.found() is not None:
                    async with store.turn("delete chunks"):
                        before = await store.version()
                        await store.delete(document_ids)
                        await store.write_segments(before, deleted=document_ids)

    async def optimize(self) -> None:
        """Compact the table and its segments after recent writes."""
        with self._translated():
            store = await self._table()
            if await store.found() is None:
                return
            async with store.turn("optimize index"):
                before = await store.version()
                await store.optimize()
                await store.settle_segments(before)

    async def needs_build(self) -> bool:
        """Return whether the segments of the table are missing, damaged or behind."""
        with self._translated():
            return await (await self._table()).has_old_segments()

    async def build(self) -> bool:
        """Build the segments that are missing or behind; returns whether there were any."""
        if not await self.needs_build():
            return False
        with self._translated():
            store = await self._table()
            async with store.turn("build snapshot"):
                if not await self.needs_build():
                    return False  # another process did while this one waited for its turn
                await store.build_segments()
        return True

    async def drop(self) -> None:
        """Remove the table and its segments."""
        with self._translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            store = await self._table()
            async with store.turn("drop index"):
                await asyncio.to_thread(self._segments.remove)
                await store.drop()
        self._segments.close()

    # --- reading ------------------------------------------------------------------------------

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        with self._translated():
            snapshot = await self._snapshot()
            return await self._run(partial(snapshot.nearest, vector, limit=limit, filters=filters))

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25 (k1 1.2, b .75), best first."""
        with self._translated():
            snapshot = await self._snapshot()
            terms = analyze_query(text, languages=languages)
            return await self._run(partial(snapshot.match, terms, limit=limit, filters=filters))

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that are there."""
        if not chunk_ids:
            return {}
        with self._translated():
            # Asked for what a search has just found: the snapshot that it searched will do.
            snapshot = None
            if not exact:
                snapshot = self._segments.latest or await self._segments.current()
            if snapshot is None:
                return await (await self._table()).vectors(chunk_ids)
            return snapshot.vectors(chunk_ids)  # some rows in memory: quicker than a thread

    async def document_ids(self) -> dict[str, int]:
        """Return the number of chunks per document; empty for a missing table."""
        with self._translated():
            return await (await self._table()).document_ids()

    async def count(self) -> int:
        """Return the number of searchable chunks; 0 for a missing table."""
        with self._translated():
            snapshot = await self._segments.current()
            return snapshot.count if snapshot else await (await self._table()).count()

    async def _snapshot(self) -> Snapshot:
        """Return the segments, built first where they are missing; raises IndexCorrupt."""
        snapshot = await self._segments.current()
        if snapshot is None:
            await (await self._table()).there()
            await self.build()
            snapshot = await self._segments.current()
        if snapshot is None:
            raise IndexCorrupt(f"The index cannot be read. Rebuild it with: {self._rebuild()}")
        return snapshot

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Release the table, the snapshot and the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._segments.close()
        if self._store is not None:
            self._store.close()
            self._store = None

    async def _table(self) -> LanceStore:
        """Return the table; imports LanceDB on first use."""
        if self._store is None:
            module = await asyncio.to_thread(import_module, "quoth.backends.indexes.lancedb.table")
            self._store = self._store or module.LanceStore(
                self._folder,
                self._name,
                dimension=self._dimension,
                segments=self._segments,
                bucket=self._bucket,
                on_operation=self._on_operation,
                rebuild=self._rebuild,
            )
        return self._store

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the store's errors into those of `quoth.core.errors`."""
        try:
            yield
        except BackendError:
            raise
        except (RuntimeError, OSError, ValueError) as error:
            message = str(error).splitlines()[0] if str(error) else type(error).__name__
            if any(sign in str(error) for sign in NO_ROOM):
                raise StorageFull(
                    "There is no room left on the disk of the home folder. Free some space and run "
                    "the same command again; nothing was lost."
                ) from error
            raise RetrievalError(
                f"The index failed: {message}. If this goes on, rebuild it with: {self._rebuild()}"
            ) from error
