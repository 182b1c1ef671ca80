"""Lexical weights of a sparse embedder as a list of its own beside any index.

A posting is a token of the model's vocabulary with its weight in a chunk; a chunk's score is the
sum of the products over the tokens that it shares with the query (BGE-M3,
https://arxiv.org/abs/2402.03216). It is kept in a file of SQLite beside the index, or on the
server that holds the keyword index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    Table,
    case,
    delete,
    func,
    insert,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from quoth.backends.indexes.rows import IndexRow, index_row
from quoth.backends.indexes.sql import filter_values, where
from quoth.backends.indexes.sql_rows import KEY, SqlRows
from quoth.backends.indexes.vector_store import (
    BATCH_ROWS,
    Condition,
    conditions_of,
    in_batches,
    storable,
)
from quoth.backends.indexes.writer_lock import writer_lock
from quoth.core.errors import RetrievalError
from quoth.core.protocols import Index, Matrix, SparseEmbedder, SparseWeights
from quoth.core.types import Chunk, Filter, Scored

T = TypeVar("T")


class SqlSparse(SqlRows):
    """Postings of tokens with weights, of one table."""

    def __init__(self, connect: Callable[[], Engine], *, table: str, file: Path | None) -> None:
        super().__init__(connect, table=f"{table}_sparse", file=file)
        self._postings = Table(
            f"{table}_sparse_postings",
            self._tables,
            Column("token", Integer, primary_key=True, autoincrement=False),
            Column("row", KEY, primary_key=True, autoincrement=False, index=True),
            Column("weight", Float, nullable=False),
            sqlite_with_rowid=False,
        )

    def upsert(self, rows: Sequence[IndexRow], *, weights: Sequence[SparseWeights]) -> None:
        """Write rows with the weights of their tokens; writing a row again replaces it."""
        with self._replacing(rows) as connection:
            for part in in_batches(zip(rows, weights, strict=True)):
                connection.execute(insert(self._chunks), [filter_values(row) for row, _ in part])
                numbers = self._numbers(connection, self._chunks.c.id, [row.id for row, _ in part])
                postings = [
                    {"token": token, "row": numbers[row.id], "weight": weight}
                    for row, own in part
                    for token, weight in own.items()
                ]
                if postings:
                    connection.execute(insert(self._postings), postings)

    def match(
        self, weights: SparseWeights, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by the sum of the products of shared tokens' weights, best first."""
        if not weights:
            return []
        heaviest = dict(nlargest(BATCH_ROWS, weights.items(), key=lambda pair: pair[1]))
        postings, chunks = self._postings, self._chunks
        asked = case(heaviest, value=postings.c.token, else_=0.0)
        score = func.sum(asked * postings.c.weight, type_=Float)
        query = (
            select(chunks.c.id, score)
            .select_from(postings.join(chunks, chunks.c.row == postings.c.row))
            .where(postings.c.token.in_(list(heaviest)), where(chunks, conditions))
            .group_by(chunks.c.row, chunks.c.id)
            .order_by(score.desc(), chunks.c.row)
            .limit(limit)
        )
        with self._reading() as connection:
            return [(row[0], float(row[1])) for row in connection.execute(query)]

    def _remove(self, connection: Connection, column: Column[Any], values: Sequence[str]) -> None:
        rows = list(self._numbers(connection, column, values, many=True).values())
        for part in in_batches(rows):
            connection.execute(delete(self._postings).where(self._postings.c.row.in_(part)))
            connection.execute(delete(self._chunks).where(self._chunks.c.row.in_(part)))


class IndexWithSparse:
    """An index and the lexical weights of its chunks; an `Index` and a `SparseIndex`.

    Weights are written after the chunks and deleted before them, so that what a crash leaves
    belongs to a document that the index knows, and reconciliation removes both.
    """

    def __init__(
        self, index: Index, sparse: SqlSparse, *, embedder: SparseEmbedder, folder: Path, table: str
    ) -> None:
        self._index = index
        self._sparse = sparse
        self._embedder = embedder
        self._folder = folder
        self._table = f"{table}.sparse"

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors and weights; writing a chunk again replaces it."""
        if not chunks:
            return
        await self._index.upsert(chunks, vectors=vectors)
        texts = [chunk.indexed for chunk in chunks]
        weights = await self._embedder.embed_sparse(texts, role="document")

        def write() -> None:
            rows = [index_row(chunk, clean=storable) for chunk in chunks]
            self._sparse.upsert(rows, weights=weights)

        async with writer_lock(self._folder, self._table):
            await self._run(write)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        there = await self._run(self._sparse.exists)
        if document_ids and there:
            ids = [storable(each) for each in document_ids]
            async with writer_lock(self._folder, self._table):
                await self._run(lambda: self._sparse.delete(ids))
        await self._index.delete(document_ids)

    async def drop(self) -> None:
        """Remove everything."""
        await self._run(self._sparse.drop)
        await self._index.drop()

    async def match_sparse(
        self, weights: SparseWeights, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by the tokens that they share with the query; raises RetrievalError."""
        if not await self._run(self._sparse.exists):
            raise RetrievalError(
                "The index has no lexical weights of this embedder. Make them with: quoth reindex"
            )
        conditions = conditions_of(filters)
        return await self._run(
            lambda: self._sparse.match(weights, limit=limit, conditions=conditions)
        )

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
        self._sparse.close()
        self._index.close()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except (SQLAlchemyError, OSError) as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise RetrievalError(
                f"The lexical weights cannot be used: {first}. If this goes on, run: quoth reindex",
                retryable=True,
            ) from error
