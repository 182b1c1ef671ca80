"""Further ranked lists beside any index: lexical weights, and pictures of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from quoth.backends.indexes.page_vectors import PageList
from quoth.backends.indexes.sparse import SparseList
from quoth.backends.indexes.sql_rows import SqlListRows
from quoth.backends.indexes.vector_store import conditions_of, storable
from quoth.backends.indexes.writer_lock import writer_lock
from quoth.core.command_line import REINDEX
from quoth.core.errors import RetrievalError
from quoth.core.protocols import Index, Matrix, SparseWeights
from quoth.core.types import Chunk, Filter, Scored

T = TypeVar("T")


class ListBeside(Protocol):
    """A list beside an index; ``kind`` names its lock, and ``rows`` are where it is stored."""

    kind: str

    @property
    def rows(self) -> SqlListRows:
        """Return the stored rows."""
        ...

    async def prepare(self, chunks: Sequence[Chunk]) -> Callable[[], None]:
        """Compute what is stored of chunks; return what writes it, which blocks."""
        ...


class IndexWithLists:
    """An index with further lists of its chunks; an `Index`, `SparseIndex` and `PageIndex`.

    The lists are written after the chunks and deleted before them, so that what a crash leaves
    belongs to a document that the index knows, and reconciliation removes both. ``rebuild`` returns
    the command that makes the lists again.
    """

    def __init__(
        self,
        index: Index,
        *,
        folder: Path,
        table: str,
        sparse: SparseList | None = None,
        pages: PageList | None = None,
        rebuild: Callable[[], str] = REINDEX,
    ) -> None:
        self._index = index
        self._folder = folder
        self._table = table
        self._sparse = sparse
        self._pages = pages
        self._rebuild = rebuild
        given: tuple[ListBeside | None, ...] = (sparse, pages)
        self._lists = [each for each in given if each is not None]

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors and lists; writing a chunk again replaces it."""
        if not chunks:
            return
        await self._index.upsert(chunks, vectors=vectors)
        for each in self._lists:
            write = await each.prepare(chunks)
            async with writer_lock(self._folder, f"{self._table}.{each.kind}"):
                await self._run(write)

    async def copy(self, source: Index, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors, and with the lists that another index has of them."""
        await self._index.upsert(chunks, vectors=vectors)
        ids = [storable(chunk.chunk_id) for chunk in chunks]
        lists = source._lists if isinstance(source, IndexWithLists) else ()
        others = {each.kind: each.rows for each in lists}
        for each in self._lists:
            if each.kind in others:
                async with writer_lock(self._folder, f"{self._table}.{each.kind}"):
                    await self._run(partial(each.rows.copy, others[each.kind], ids))

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        ids = [storable(each) for each in document_ids]
        for each in self._lists if ids else ():
            rows = each.rows
            if await self._run(rows.exists):
                async with writer_lock(self._folder, f"{self._table}.{each.kind}"):
                    await self._run(partial(rows.delete, ids))
        await self._index.delete(document_ids)

    async def drop(self) -> None:
        """Remove everything."""
        for each in self._lists:
            await self._run(each.rows.drop)
        await self._index.drop()

    async def match_sparse(
        self, weights: SparseWeights, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by the tokens that they share with the query; raises RetrievalError."""
        found = self._sparse
        if found is None or not await self._run(found.rows.exists):
            raise RetrievalError(
                "The index has no lexical weights of this embedder. Make them with: "
                f"{self._rebuild()}"
            )
        conditions = conditions_of(filters)
        return await self._run(
            lambda: found.rows.match(weights, limit=limit, conditions=conditions)
        )

    async def match_pages(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by the best of their pages; raises RetrievalError."""
        found = self._pages
        if found is None or not await self._run(found.rows.exists):
            raise RetrievalError(
                f"The index has no pictures of pages yet. Make them with: {self._rebuild()}"
            )
        conditions = conditions_of(filters)
        return await self._run(lambda: found.match(vector, limit=limit, conditions=conditions))

    async def pictured_documents(self) -> Mapping[str, int]:
        """Return the number of chunks with vectors of pages per document."""
        return {} if self._pages is None else await self._run(self._pages.rows.document_ids)

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first, among those that pass every filter."""
        return await self._index.nearest(vector, limit=limit, filters=filters)

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first."""
        return await self._index.match(text, languages=languages, limit=limit, filters=filters)

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that exist."""
        return await self._index.vectors(chunk_ids, exact=exact)

    async def document_ids(self) -> Mapping[str, int]:
        """Return the number of chunks per document."""
        return await self._index.document_ids()

    async def count(self) -> int:
        """Return the number of searchable chunks."""
        return await self._index.count()

    async def optimize(self) -> None:
        """Make recent writes cheap to search."""
        await self._index.optimize()

    async def needs_build(self) -> bool:
        """Return whether `build` would pay at this size."""
        return await self._index.needs_build()

    async def build(self) -> bool:
        """Build the vector index if large enough."""
        return await self._index.build()

    def close(self) -> None:
        """Close files and free memory."""
        for each in self._lists:
            each.rows.close()
        self._index.close()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except (SQLAlchemyError, OSError) as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise RetrievalError(
                f"A list beside the index cannot be used: {first}. If this goes on, run: "
                f"{self._rebuild()}",
                retryable=True,
            ) from error
