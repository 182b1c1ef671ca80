"""LanceDB as both indexes: vectors and terms in one embedded, multi-process store.

The table is the truth. From some size on there is a copy of it made for searching
(`search`), which answers as long as it can be brought up to the table's present
state; else the table itself does. LanceDB is loaded when the table is first needed: a question
that the copy can answer alone never waits for that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quoth.backends.indexes.snapshot import file as scan_file
from quoth.backends.indexes.snapshot.reader import ScanReader, conditions, make_copy
from quoth.core.concurrency import run_in_thread
from quoth.core.errors import BackendError, RetrievalError, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter, Scored
from quoth.text.analyzer import analyze_query

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore

T = TypeVar("T")
NO_ROOM = ("No space left", "File too large", "quota exceeded")

QUICKLY_COPIED = 20_000
"""Up to so many rows a copy takes about a second: it is made anew after every change, so that a
process that starts then needs no LanceDB to answer."""
CHANGES_SHARE = 0.02
"""Above, the share of rows that must differ from the copy before it is made anew."""


class LanceIndex:
    """One table of a LanceDB folder, serving one collection.

    ``vector_rows`` is the number of rows from which the copy is made. ``on_operation`` is told
    the name of every write before and after it is done.
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
        self._table = LazyTable(folder, table, dimension=dimension, on_operation=on_operation)
        self._copy = ScanReader(folder, table, store=self._table)
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
        """Make recent writes cheap to search."""
        with _translated():
            store = await self._table()
            if await store.optimize() and await self._copy.snapshot() is not None:
                async with store.turn("check search copy"):
                    await self._renew(store)

    async def _renew(self, store: LanceStore) -> None:
        """Say of a copy that lacks nothing that it shows the table's present state."""
        now = await self._copy.snapshot()
        manifest = scan_file.read_manifest(self._folder, self._name)
        state = scan_file.state(self._folder, self._name)
        if now is None or manifest is None or state in (None, manifest.state):
            return
        if now.count < self._vector_rows:
            await asyncio.to_thread(scan_file.remove, self._folder, self._name)
        elif state is not None and not now.changes:
            newer = scan_file.Manifest(file=manifest.file, state=state)
            await asyncio.to_thread(scan_file.activate, self._folder, self._name, manifest=newer)

    async def needs_build(self) -> bool:
        """Whether there are so many rows, or so many new ones, that a new copy pays."""
        with _translated():
            now = await self._copy.snapshot()
            if now is None:
                return await (await self._table()).count() >= self._vector_rows
            most = CHANGES_SHARE * now.count if now.count > QUICKLY_COPIED else 0
            return now.changes > most and now.count >= self._vector_rows

    async def build(self) -> bool:
        """Make the copy for searching if it pays: seconds, in which searches go on."""
        if not await self.needs_build():
            return False
        with _translated():
            store = await self._table()
            async with store.turn("build search copy"):
                if not await self.needs_build():
                    return False  # another process did while this one waited for its turn
                await make_copy(
                    store, folder=self._folder, table=self._name, dimension=self._dimension
                )
        return True

    async def drop(self) -> None:
        """Remove the table and its copy."""
        with _translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            store = await self._table()
            async with store.turn("drop index"):
                await asyncio.to_thread(scan_file.remove, self._folder, self._name)
                await store.drop()
        self._copy.forget()

    # --- reading ------------------------------------------------------------------------------

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        with _translated():
            copy = await self._copy.snapshot()
            if copy is None:
                store = await self._table()
                return await store.nearest(vector, limit=limit, filters=filters)
            return await self._run(
                lambda: copy.nearest(vector, limit=limit, conditions=conditions(filters))
            )

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25 (k1 1.2, b .75), best first."""
        with _translated():
            copy = await self._copy.snapshot()
            if copy is None:
                words = analyze_query(text, languages=languages)
                store = await self._table()
                return await store.match(words, limit=limit, filters=filters) if words else []
            return await self._run(
                lambda: copy.match(
                    analyze_query(text, languages=languages),
                    limit=limit,
                    conditions=conditions(filters),
                )
            )

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Give the stored vectors of those chunks that are there."""
        if not chunk_ids:
            return {}
        with _translated():
            # Asked for what a search has just found: what it saw will do.
            copy = None if exact else self._copy.latest() or await self._copy.snapshot()
            if copy is None:
                return await (await self._table()).vectors(chunk_ids)
            return copy.vectors(chunk_ids)  # some rows in memory: quicker than a thread is told

    async def document_ids(self) -> dict[str, int]:
        """How many chunks each document has here; none where nothing was ever written."""
        with _translated():
            return await (await self._table()).document_ids()

    async def count(self) -> int:
        """How many chunks a search can find here; none where nothing was ever written."""
        with _translated():
            copy = await self._copy.snapshot()
            return copy.count if copy is not None else await (await self._table()).count()

    async def _run(self, work: Callable[[], T]) -> T:
        return await run_in_thread(work, pool=self._pool)

    def close(self) -> None:
        """Let go of the table, the copy and the threads; a search of the near thread ends later."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._copy.forget()
        self._table.close()


class LazyTable:
    """Gives the table, opened when it is first asked for: its library takes a while to load.

    An index and its copy share one, so that neither holds the other: what nobody uses is let go
    of at once.
    """

    def __init__(
        self, folder: Path, table: str, *, dimension: int, on_operation: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._name = table
        self._dimension = dimension
        self._on_operation = on_operation
        self._store: LanceStore | None = None

    async def __call__(self) -> LanceStore:
        """Give the table."""
        if self._store is None:
            module = await asyncio.to_thread(import_module, "quoth.backends.indexes.lancedb.table")
            self._store = self._store or module.LanceStore(
                self._folder,
                self._name,
                dimension=self._dimension,
                on_operation=self._on_operation,
            )
        return self._store

    def close(self) -> None:
        """Let go of it."""
        if self._store is not None:
            self._store.close()
            self._store = None


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
