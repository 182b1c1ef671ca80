"""Any vector store and our keyword index as one index.

Keywords are written first and deleted last, so that they know every chunk that the vector store may
hold: what a crash leaves in between belongs to no document of the catalogue, and is found and
removed by reconciliation.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from quoth.backends.indexes.keywords import SqlKeywords
from quoth.backends.indexes.missing import missing_index
from quoth.backends.indexes.rows import index_row
from quoth.backends.indexes.vector_store import VectorStore, conditions_of, storable
from quoth.backends.indexes.writer_lock import writer_lock
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.command_line import REINDEX
from quoth.core.component_checks import checked_ranking
from quoth.core.errors import IndexCorrupt, RetrievalError, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter, Scored
from quoth.text.analyzer import analyze_query

log = logging.getLogger("quoth.index")
T = TypeVar("T")
NO_ROOM = ("No space left", "File too large", "disk is full", "could not extend file")
MIN_THREADS = 4


class PairedIndex:
    """A vector store and a keyword index of one table; an `Index`.

    ``folder`` holds the writer lock of the table. Searches of the vector store end after
    ``timeout_s``. ``on_operation`` is called with the name of every write before and after it;
    ``rebuild`` returns the command that rebuilds the index.
    """

    def __init__(
        self,
        store: VectorStore,
        keywords: SqlKeywords,
        *,
        folder: Path,
        table: str,
        dimension: int,
        timeout_s: float,
        on_operation: Callable[[str], None] = lambda _name: None,
        rebuild: Callable[[], str] = REINDEX,
    ) -> None:
        self._store = store
        self._keywords = keywords
        self._folder = folder
        self._table = table
        self._dimension = dimension
        self._timeout_s = timeout_s
        self._on_operation = on_operation
        self._rebuild = rebuild
        threads = max(MIN_THREADS, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="index")
        self.breaker = CircuitBreaker(f"The store {store.name}", error=RetrievalError)

    # --- writing ------------------------------------------------------------------------------

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors; writing a chunk again replaces it."""
        if not chunks:
            return
        async with self._writing("upsert chunks"):
            rows = await self._run(lambda: [index_row(chunk, clean=storable) for chunk in chunks])
            await self._run(lambda: self._keywords.upsert(rows))
            await self._run(lambda: self._store.upsert(rows, vectors=vectors))

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        ids = [storable(each) for each in document_ids]
        chunk_ids = await self._run(lambda: self._keywords.chunk_ids(ids))
        if chunk_ids:
            async with self._writing("delete chunks"):
                await self._run(lambda: self._store.delete(chunk_ids))
                await self._run(lambda: self._keywords.delete(ids))

    async def optimize(self) -> None:
        """Have the store index what was written, where that pays; without, searches are slower."""
        try:
            if await self._run(self._keywords.exists):
                await self.build()
        except RetrievalError as error:
            log.warning("not_indexed", extra={"store": self._store.name, "error": str(error)})

    async def needs_build(self) -> bool:
        """Return False; `build` decides by itself and is cheap where nothing is to be done."""
        return False

    async def build(self) -> bool:
        """Build the store's approximate index where that pays."""
        rows = await self._run(self._keywords.count)
        return await self._run(lambda: self._store.build(rows=rows))

    async def drop(self) -> None:
        """Remove everything."""
        async with self._writing("drop index"):
            await self._run(self._store.drop)
            await self._run(self._keywords.drop)

    # --- reading ------------------------------------------------------------------------------

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first; raises RetrievalError, also after the time limit."""
        await self._require_table()
        conditions = conditions_of(filters)
        with self.breaker.call():
            found = await self._in_time(
                lambda: self._store.nearest(vector, limit=limit, conditions=conditions)
            )
            return checked_ranking(found, name=self._store.name)

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25 (k1 1.2, b .75), best first."""
        await self._require_table()
        conditions = conditions_of(filters)

        def search() -> list[Scored]:
            terms = [storable(term) for term in analyze_query(text, languages=languages)]
            return self._keywords.match(terms, limit=limit, conditions=conditions)

        return await self._run(search)

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that exist."""
        ids = [storable(each) for each in chunk_ids]
        if not ids or not await self._run(self._keywords.exists):
            return {}
        found = await self._in_time(lambda: self._store.vectors(ids))
        for row in found.values():
            if row.shape != (self._dimension,):
                raise RetrievalError(
                    f"The store {self._store.name} returned a vector of {row.size} numbers where "
                    f"{self._dimension} were stored. Rebuild the index with: {self._rebuild()}"
                )
        return found

    async def document_ids(self) -> Mapping[str, int]:
        """Return the number of chunks per document; raises IndexCorrupt if vectors are missing."""
        counts = await self._run(self._keywords.document_ids)
        there = await self._run(self._store.count) if counts else None
        if there is not None and there < sum(counts.values()):
            raise IndexCorrupt(
                f"The store {self._store.name} lacks {sum(counts.values()) - there:,} vectors. "
                f"Rebuild the index with: {self._rebuild()}"
            )
        return counts

    async def count(self) -> int:
        """Return the number of searchable chunks; a store that fails is not counted."""
        words = await self._run(self._keywords.count)
        try:
            there = await self._in_time(self._store.count) if words else 0
        except RetrievalError:
            there = None  # the search tells of it, and goes on by keywords
        return words if there is None else min(words, there)

    def close(self) -> None:
        """Release threads, connections and files."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._store.close()
        self._keywords.close()

    # --- threads and errors -------------------------------------------------------------------

    async def _require_table(self) -> None:
        if not await self._run(self._keywords.exists):
            raise missing_index(self._rebuild())

    @asynccontextmanager
    async def _writing(self, operation: str) -> AsyncIterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        async with writer_lock(self._folder, self._table):
            self._on_operation(f"before {operation}")
            yield
            self._on_operation(f"after {operation}")

    async def _in_time(self, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                return await self._run(work)
        except TimeoutError:
            if not limit.expired():
                raise
        raise RetrievalError(
            f"The store {self._store.name} took longer than {self._timeout_s:g} s.", retryable=True
        )

    async def _run(self, work: Callable[[], T]) -> T:
        with self._translated():
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the errors of the store's library and of the database into ours."""
        errors: tuple[type[Exception], ...] = (*self._store.errors, SQLAlchemyError, OSError)
        try:
            yield
        except errors as error:
            if any(sign in str(error) for sign in NO_ROOM):
                raise StorageFull(
                    "There is no room left on the disk of the index. Free some space and run the "
                    "same command again; nothing was lost."
                ) from error
            first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise RetrievalError(
                f"The store {self._store.name} failed: {first}. If this goes on, look at: "
                "quoth doctor",
                retryable=True,
            ) from error
