"""Lexical weights of a sparse embedder as a list of its own beside any index.

A posting is a token of the model's vocabulary with its weight in a chunk; a chunk's score is the
sum of the products over the tokens that it shares with the query (BGE-M3,
https://arxiv.org/abs/2402.03216). It is kept in a file of SQLite beside the index, or on the
server that holds the keyword index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest
from pathlib import Path

from sqlalchemy import (
    Column,
    Engine,
    Float,
    Integer,
    Table,
    case,
    func,
    insert,
    select,
)

from quoth.backends.indexes.rows import IndexRow, index_row
from quoth.backends.indexes.sql import filter_values, where
from quoth.backends.indexes.sql_rows import KEY, SqlListRows
from quoth.backends.indexes.vector_store import (
    BATCH_ROWS,
    Condition,
    in_batches,
    storable,
)
from quoth.core.protocols import SparseEmbedder, SparseWeights
from quoth.core.types import Chunk, Scored


class SqlSparse(SqlListRows):
    """Postings of tokens with weights, of one table."""

    def __init__(self, connect: Callable[[], Engine], *, table: str, file: Path | None) -> None:
        super().__init__(connect, table=f"{table}_sparse", file=file)
        self._values = Table(
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
                    connection.execute(insert(self._values), postings)

    def match(
        self, weights: SparseWeights, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by the sum of the products of shared tokens' weights, best first."""
        if not weights:
            return []
        heaviest = dict(nlargest(BATCH_ROWS, weights.items(), key=lambda pair: pair[1]))
        postings, chunks = self._values, self._chunks
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


class SparseList:
    """The lexical weights that an embedder gives, beside the chunks of an index."""

    kind = "sparse"

    def __init__(self, rows: SqlSparse, *, embedder: SparseEmbedder) -> None:
        self.rows = rows
        self._embedder = embedder

    async def prepare(self, chunks: Sequence[Chunk]) -> Callable[[], None]:
        """Weigh the tokens of chunks; return what writes the weights."""
        texts = [chunk.indexed for chunk in chunks]
        weights = await self._embedder.embed_sparse(texts, role="document")
        rows = [index_row(chunk, clean=storable) for chunk in chunks]
        return lambda: self.rows.upsert(rows, weights=weights)
