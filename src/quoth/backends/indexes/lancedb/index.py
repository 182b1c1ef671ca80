"""Vector and keyword index in LanceDB: one embedded, multi-process store.

The table is authoritative. Above a threshold there is a snapshot for searching, used while it
matches the table's current version; otherwise the table is searched. LanceDB is imported when the
table is first needed: a query answered from the snapshot does not wait for that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quoth.backends.indexes.near_terms import weigh_terms
from quoth.backends.indexes.snapshot.store import (
    SnapshotReader,
    activate,
    read_manifest,
    remove_snapshots,
    table_version,
)
from quoth.core.errors import BackendError, RetrievalError, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter, Scored
from quoth.text.analyzer import analyze_query

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore

T = TypeVar("T")
NO_ROOM = ("No space left", "File too large", "quota exceeded")


class LanceIndex:
    """One table of a LanceDB folder, serving one collection.

    ``vector_rows`` is the minimum number of rows for a snapshot. ``on_operation`` is
    called with the name of every write before and after it is done.
    """

    def __init__(
        self,
        folder: Path,
        table: str,
        *,
        dimension: int,
        vector_rows: int,
        on_operation: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._folder = folder
        self._name = table
        self._dimension = dimension
        self._vector_rows = vector_rows
        self._on_operation = on_operation
        self._store: LanceStore | None = None
        self._snapshots = SnapshotReader(folder, table)
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="search")

    # --- writing ------------------------------------------------------------------------------

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors; writing a chunk again replaces it."""
        if chunks:
            with _translated():
                await (await self._table()).upsert(chunks, vectors=vectors)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        if document_ids:
            with _translated():
                await (await self._table()).delete(document_ids)

    async def optimize(self) -> None:
        """Compact the table after recent writes."""
        with _translated():
            store = await self._table()
            if await store.found() is None:
                return
            async with store.turn("optimize index"):
                manifest = read_manifest(self._folder, self._name)
                valid = manifest and manifest.version == table_version(self._folder, self._name)
                await store.optimize()
                version = table_version(self._folder, self._name)
                if manifest and valid and version:  # rows moved, but none has changed
                    newer = replace(manifest, version=version)
                    await asyncio.to_thread(activate, self._folder, self._name, manifest=newer)
                elif manifest and await store.count() < self._vector_rows:
                    await asyncio.to_thread(remove_snapshots, self._folder, self._name)

    async def needs_build(self) -> bool:
        """Return whether a snapshot is missing or out of date, and there are enough rows."""
        with _translated():
            if await self._snapshots.current() is not None:
                return False
            return await (await self._table()).count() >= self._vector_rows

    async def build(self) -> bool:
        """Build the snapshot if worthwhile; takes seconds, while searches continue."""
        if not await self.needs_build():
            return False
        with _translated():
            store = await self._table()
            async with store.turn("build snapshot"):
                if not await self.needs_build():
                    return False  # another process did while this one waited for its turn
                # Importing the builder takes a third of a second, and a search never needs it.
                module = await asyncio.to_thread(
                    import_module, "quoth.backends.indexes.snapshot.build"
                )
                await module.build_snapshot(
                    store, self._folder, table=self._name, dimension=self._dimension
                )
        return True

    async def drop(self) -> None:
        """Remove the table and its snapshot."""
        with _translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            store = await self._table()
            async with store.turn("drop index"):
                await asyncio.to_thread(remove_snapshots, self._folder, self._name)
                await store.drop()
        self._snapshots.close()

    # --- reading ------------------------------------------------------------------------------

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        with _translated():
            snapshot = await self._snapshots.current()
            if snapshot is None:
                store = await self._table()
                return await store.nearest(vector, limit=limit, filters=filters)
            return await self._run(lambda: snapshot.nearest(vector, limit=limit, filters=filters))

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25 (k1 1.2, b .75), best first."""
        with _translated():
            snapshot = await self._snapshots.current()
            if snapshot is None:
                terms = analyze_query(text, languages=languages)
                if not terms:
                    return []
                store = await self._table()
                near = await self._near(store, terms)
                return await store.match(terms, near=near, limit=limit, filters=filters)
            return await self._run(
                lambda: snapshot.match(
                    analyze_query(text, languages=languages), limit=limit, filters=filters
                )
            )

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that are there."""
        if not chunk_ids:
            return {}
        with _translated():
            # Asked for what a search has just found: the snapshot that it searched will do.
            snapshot = None
            if not exact:
                snapshot = self._snapshots.latest or await self._snapshots.current()
            if snapshot is None:
                return await (await self._table()).vectors(chunk_ids)
            return snapshot.vectors(chunk_ids)  # some rows in memory: quicker than a thread

    async def document_ids(self) -> dict[str, int]:
        """Return the number of chunks per document; empty for a missing table."""
        with _translated():
            return await (await self._table()).document_ids()

    async def count(self) -> int:
        """Return the number of searchable chunks; 0 for a missing table."""
        with _translated():
            snapshot = await self._snapshots.current()
            return snapshot.count if snapshot else await (await self._table()).count()

    async def _near(self, store: LanceStore, terms: Sequence[str]) -> list[str]:
        """Return what unknown terms may misspell; none while a large table has no snapshot."""
        if await store.count() >= self._vector_rows:
            return []
        known = await store.dictionary()
        unknown = [term for term in terms if term not in known]
        return list(weigh_terms(unknown, known=sorted(known))) if unknown else []

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Release the table, the snapshot and the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._snapshots.close()
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
                on_operation=self._on_operation,
            )
        return self._store


@contextmanager
def _translated() -> Iterator[None]:
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
            f"The index failed: {message}. If this goes on, rebuild it with: quoth reindex"
        ) from error
