"""Vectors of pictures of pages as a list of its own beside any index.

A chunk has the vectors of the pages on which it stands, as 16-bit floats, and scores by the best
of them. All vectors are read and compared for each question, as many as chunks have pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from sqlalchemy import (
    Column,
    Engine,
    Integer,
    LargeBinary,
    Table,
    Text,
    insert,
    select,
)

from quoth.backends.indexes.rows import IndexRow, index_row
from quoth.backends.indexes.sql import filter_values, where
from quoth.backends.indexes.sql_rows import KEY, SqlListRows
from quoth.backends.indexes.vector_store import Condition, in_batches, storable
from quoth.core.command_line import REINDEX
from quoth.core.errors import RetrievalError
from quoth.core.page_images import PageEmbedder, PagePictures
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Pages, Scored

STORED = np.dtype("<f2")
MAX_PAGES = 20
"""Pages of one chunk that are looked at."""
AT_ONCE = 16
"""Pages that are in memory at once."""


class SqlPageVectors(SqlListRows):
    """Vectors of the pages of chunks, of one table; ``model`` is the revision that made them.

    ``rebuild`` returns the command that makes them again.
    """

    def __init__(
        self,
        connect: Callable[[], Engine],
        *,
        table: str,
        file: Path | None,
        rebuild: Callable[[], str] = REINDEX,
    ) -> None:
        self._rebuild = rebuild
        model = Column("model", Text, nullable=False)
        super().__init__(connect, table=f"{table}_pages", file=file, columns=[model])
        self._values = Table(
            f"{table}_pages_vectors",
            self._tables,
            Column("row", KEY, primary_key=True, autoincrement=False),
            Column("page", Integer, primary_key=True, autoincrement=False),
            Column("vector", LargeBinary, nullable=False),
            sqlite_with_rowid=False,
        )

    def upsert(
        self, rows: Sequence[IndexRow], *, pages: Sequence[Mapping[int, Matrix]], model: str
    ) -> None:
        """Write rows with the vectors of their pages; a row without pages is only removed."""
        kept = [pair for pair in zip(rows, pages, strict=True) if pair[1]]
        with self._replacing(rows) as connection:
            for part in in_batches(kept):
                values = [{**filter_values(row), "model": model} for row, _ in part]
                connection.execute(insert(self._chunks), values)
                numbers = self._numbers(connection, self._chunks.c.id, [row.id for row, _ in part])
                vectors = [
                    {"row": numbers[row.id], "page": page, "vector": _stored(vector)}
                    for row, own in part
                    for page, vector in own.items()
                ]
                connection.execute(insert(self._values), vectors)

    def match(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition], model: str
    ) -> list[Scored]:
        """Rank rows by the cosine of their best page, best first; raises RetrievalError."""
        vectors, chunks = self._values, self._chunks
        query = (
            select(chunks.c.id, chunks.c.model, vectors.c.vector)
            .select_from(vectors.join(chunks, chunks.c.row == vectors.c.row))
            .where(where(chunks, conditions))
        )
        with self._reading() as connection:
            found = connection.execute(query).all()
        size = vector.size * STORED.itemsize
        if any(row.model != model or len(row.vector) != size for row in found):
            raise RetrievalError(
                "The pictures of pages were read by another model. Read them again with: "
                f"{self._rebuild()}"
            )
        if not found:
            return []
        table = np.frombuffer(b"".join(row.vector for row in found), STORED)
        cosines = table.reshape(len(found), -1).astype(np.float32) @ vector
        best: dict[str, float] = {}
        for row, cosine in zip(found, cosines.tolist(), strict=True):
            best[row.id] = max(cosine, best.get(row.id, cosine))
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


class PageList:
    """The pictures of the pages of an index's chunks, as a model sees them.

    Without a model nothing is added, and what was stored before is deleted with its document.
    """

    kind = "pages"

    def __init__(
        self, rows: SqlPageVectors, *, embedder: PageEmbedder | None, pictures: PagePictures | None
    ) -> None:
        self.rows = rows
        self._embedder = embedder
        self._pictures = pictures

    async def prepare(self, chunks: Sequence[Chunk]) -> Callable[[], None]:
        """Draw and embed the pages of chunks; return what writes the vectors."""
        wanted = [pages_of(chunk) for chunk in chunks]
        by_document: dict[str, set[int]] = {}
        for chunk, pages in zip(chunks, wanted, strict=True):
            by_document.setdefault(chunk.document_id, set()).update(pages)
        seen = {key: await self._see(key, sorted(pages)) for key, pages in by_document.items()}
        own = [
            {
                page: seen[chunk.document_id][page]
                for page in pages
                if page in seen[chunk.document_id]
            }
            for chunk, pages in zip(chunks, wanted, strict=True)
        ]
        rows = [index_row(chunk, clean=storable) for chunk in chunks]
        embedder = self._embedder

        def write() -> None:
            model = "" if embedder is None else embedder.revision  # which reads the model's files
            if embedder is not None or self.rows.exists():
                self.rows.upsert(rows, pages=own, model=model)

        return write

    async def _see(self, document_id: str, pages: Sequence[int]) -> dict[int, Matrix]:
        if self._embedder is None or self._pictures is None:
            return {}
        vectors: dict[int, Matrix] = {}
        for at in range(0, len(pages), AT_ONCE):
            part = pages[at : at + AT_ONCE]
            drawn = await self._pictures.draw(document_id, part, shape=self._embedder.shape)
            if not drawn:
                break
            made = await self._embedder.embed_pages(list(drawn.values()))
            vectors.update(zip(drawn, made, strict=True))
        return vectors

    def match(self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]) -> list[Scored]:
        """Rank chunks by the best of their pages; raises RetrievalError."""
        assert self._embedder is not None  # who else makes the vector of a query
        model = self._embedder.revision
        return self.rows.match(vector, limit=limit, conditions=conditions, model=model)


def pages_of(chunk: Chunk) -> range:
    """Return the numbers of the pages on which a chunk stands, at most `MAX_PAGES`.

    Slides and the pages that an e-book names are not drawn.
    """
    place = chunk.locator
    if not isinstance(place, Pages) or place.unit != "page" or place.anchor is not None:
        return range(0)
    return range(place.first, min(place.last, place.first + MAX_PAGES - 1) + 1)


def _stored(vector: Matrix) -> bytes:
    return vector.astype(STORED).tobytes()
