"""LanceDB as both indexes: vectors and terms in one embedded, multi-process store.

Readers see what other processes wrote (``read_consistency_interval`` of zero). Writers take a
file lock in turn, which the system releases when a process dies. Every predicate is built from
typed expressions, never from strings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout

from quoth.analyse import search_terms, terms
from quoth.backends.lance import FTS, BTree, Expr, HnswSq, MatchQuery, col, lancedb, lit
from quoth.backends.lance_rows import RowNames
from quoth.errors import BackendError, RetrievalError, StorageFull
from quoth.protocols import Matrix
from quoth.types import Chunk, Filter, Pages, Scored, Seconds

EF = 150
"""Breadth of the graph search: recall@20 ≥ .98 against exact (docs/decisions)."""

KEEP_VERSIONS = timedelta(minutes=10)
"""Old versions stay readable this long for searches that are under way."""

INDEXED = ("terms", "id", "document_id")
TURN_PAUSE_S = 0.02
NO_ROOM = ("No space left", "File too large", "quota exceeded")

FIELDS: Mapping[str, str] = {
    "document": "document_id",
    "kind": "kind",
    "language": "language",
    "speaker": "speaker",
}
RANGES: Mapping[str, tuple[str, str]] = {
    "page": ("page_first", "page_last"),
    "seconds": ("second_start", "second_end"),
}


class LanceIndex:
    """One table of a LanceDB folder, serving one collection.

    ``on_operation`` is told the name of every write before and after it is done.
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
        self._schema = _schema(dimension)
        self._vector_rows = vector_rows
        self._on_operation = on_operation
        self._table: Any = None
        self._opening = asyncio.Lock()
        self._names = RowNames()

    async def _found(self) -> Any:
        """The table, None where nothing was ever written."""
        if self._table is None and self._folder.is_dir():
            async with self._opening:
                self._table = self._table or await self._existing(await self._connect())
        return self._table

    async def _there(self) -> Any:
        """The table for searching; raises RetrievalError where nothing was ever written."""
        table = await self._found()
        if table is None:
            raise RetrievalError("The index is not there. Build it anew with: quoth reindex")
        return table

    async def _open(self) -> Any:
        """The table for writing, made if it is not there."""
        async with self._opening:
            if self._table is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                database = await self._connect()
                self._table = await self._existing(database) or await self._create(database)
        return self._table

    async def _connect(self) -> Any:
        return await lancedb.connect_async(self._folder, read_consistency_interval=timedelta(0))

    async def _existing(self, database: Any) -> Any:
        if self._name not in (await database.list_tables()).tables:
            return None
        try:
            table = await database.open_table(self._name)
        except ValueError as error:
            if "not found" not in str(error):
                raise
            return None  # its folder is there, and another process is just filling it
        return None if await _lacking(table) else table

    async def _create(self, database: Any) -> Any:
        async with self._turn("create index"):
            table = await database.create_table(self._name, schema=self._schema, exist_ok=True)
            for column in await _lacking(table):
                config = _full_text() if column == "terms" else BTree()
                await table.create_index(column, config=config)
            return table

    @asynccontextmanager
    async def _turn(self, operation: str) -> AsyncIterator[None]:
        """One writer at a time, over all processes."""
        lock = FileLock(self._folder / f"{self._name}.lock")
        # Asking again and again, not waiting in a thread: a thread cannot be cancelled, and the
        # lock takes two waiters in one thread of a pool for one that waits for itself.
        while not _taken(lock):  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(TURN_PAUSE_S)
        try:
            self._on_operation(f"before {operation}")
            yield
            self._on_operation(f"after {operation}")
        finally:
            lock.release()

    # --- writing ------------------------------------------------------------------------------

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks with their vectors; writing a chunk again replaces it."""
        if not chunks:
            return
        rows = await asyncio.to_thread(self._rows, chunks, vectors)
        with _translated():
            table = await self._open()
            async with self._turn("upsert chunks"):
                merge = table.merge_insert("id")
                merge = merge.when_matched_update_all().when_not_matched_insert_all()
                await merge.execute(rows)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        if not document_ids:
            return
        with _translated():
            table = await self._found()
            if table is None:
                return
            async with self._turn("delete chunks"):
                await table.delete(col("document_id").isin(list(document_ids)))

    async def optimize(self) -> None:
        """Bring recent writes into the indexes, so that searching them costs no scan."""
        with _translated():
            table = await self._found()
            if table is None:
                return
            async with self._turn("optimize index"):
                await table.optimize(cleanup_older_than=KEEP_VERSIONS)

    async def needs_build(self) -> bool:
        """Whether the table has grown so large that a vector index pays."""
        with _translated():
            table = await self._found()
            if table is None:
                return False
            names = {index.name for index in await table.list_indices()}
            return "vector_idx" not in names and await table.count_rows() >= self._vector_rows

    async def build(self) -> bool:
        """Build the vector index if it pays; slow, harmless beside searches."""
        if not await self.needs_build():
            return False
        with _translated():
            table = await self._open()
            async with self._turn("build vector index"):
                if not await self.needs_build():
                    return False  # another process did while this one waited for its turn
                config = HnswSq(distance_type="cosine", num_partitions=1)
                await table.create_index("vector", config=config)
        return True

    async def drop(self) -> None:
        """Remove the table."""
        with _translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            database = await self._connect()
            async with self._turn("drop index"):
                await database.drop_table(self._name, ignore_missing=True)
        self._table = None
        self._names = RowNames()

    def _rows(self, chunks: Sequence[Chunk], vectors: Matrix) -> pa.Table:
        dimension = vectors.shape[1]
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        columns = [_fields(chunk) for chunk in chunks]
        names = [name for name in self._schema.names if name != "vector"]
        data = {name: [row[name] for row in columns] for name in names}
        data["vector"] = pa.FixedSizeListArray.from_arrays(flat, dimension)
        return pa.table(data, schema=self._schema)

    # --- reading ------------------------------------------------------------------------------

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        with _translated():
            table = await self._there()
            query = table.query().nearest_to(vector).distance_type("cosine").ef(max(EF, limit))
            # The graph holds rounded vectors and gives twice the cosine distance; the factor has
            # what it found measured again on the vectors themselves.
            query = query.refine_factor(1)
            if filters:
                query = query.where(predicate(filters))
            query = query.limit(limit).select(["_distance"]).with_row_id()
            return [(name, 1.0 - far) for name, far in await self._named(query, "_distance")]

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25 (k1 1.2, b .75), best first."""
        words = search_terms(text, languages=languages)
        if not words:
            return []
        with _translated():
            table = await self._there()
            query = table.query().nearest_to_text(
                MatchQuery(" ".join(words), "terms")  # type: ignore[call-arg]
            )
            if filters:
                query = query.where(predicate(filters))
            return await self._named(query.limit(limit).select(["_score"]).with_row_id(), "_score")

    async def _named(self, query: Any, column: str) -> list[Scored]:
        """Run a query and name its rows: looking ids up here is cheaper than reading them."""
        while True:
            found = await query.to_arrow()
            rows = found["_rowid"].to_numpy()
            if self._names.know(rows):
                break
            table = await self._there()
            self._names = RowNames(await table.query().select(["id"]).with_row_id().to_arrow())
            if self._names.know(rows):
                break
            # The rows were moved between the two readings: ask again.
        return list(zip(self._names.of(rows), found[column].to_pylist(), strict=True))

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Give the stored vectors of those chunks that are there."""
        if not chunk_ids:
            return {}
        with _translated():
            table = await self._there()
            query = table.query().where(col("id").isin(list(chunk_ids)))
            found = await query.select(["id", "vector"]).to_arrow()
        column = found["vector"].combine_chunks()
        matrix = column.flatten().to_numpy().reshape(len(found), column.type.list_size)
        return dict(zip(found["id"].to_pylist(), matrix, strict=True))

    async def document_ids(self) -> dict[str, int]:
        """How many chunks each document has here; none where nothing was ever written."""
        with _translated():
            table = await self._found()
            if table is None:
                return {}
            column = (await table.query().select(["document_id"]).to_arrow())["document_id"]
        counts = column.value_counts()
        return {each["values"].as_py(): each["counts"].as_py() for each in counts}

    def close(self) -> None:
        """Let go of the table."""
        if self._table is not None:
            self._table.close()
            self._table = None


async def _lacking(table: Any) -> list[str]:
    """The columns without their index, as when a process died while it made the table."""
    there = {index.name for index in await table.list_indices()}
    return [column for column in INDEXED if f"{column}_idx" not in there]


def _taken(lock: FileLock) -> bool:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def predicate(filters: Sequence[Filter]) -> Expr:
    """Compile filters into one typed expression: all of them must hold."""
    return reduce(lambda left, right: left & right, (_condition(each) for each in filters))


def _condition(each: Filter) -> Expr:
    if each.field == "label":
        found = (col("labels").contains(f"|{str(value).casefold()}|") for value in each.values)
        return reduce(lambda left, right: left | right, found)
    if each.operator == "in":
        return col(FIELDS[each.field]).isin([str(value) for value in each.values])
    first, last = RANGES[each.field]
    low, high = each.values
    # Chunks that have no pages or seconds hold -1 there and never overlap.
    return (col(first) <= lit(high)) & (col(last) >= lit(low)) & (col(first) >= lit(0))


def _fields(chunk: Chunk) -> dict[str, Any]:
    place = chunk.locator
    pages = (place.first, place.last) if isinstance(place, Pages) else (-1, -1)
    seconds = (place.start, place.end) if isinstance(place, Seconds) else (-1.0, -1.0)
    searchable = f"{chunk.prefix}\n{chunk.text}"
    return {
        "id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "kind": chunk.kind,
        "language": chunk.language,
        "speaker": (place.speaker or "") if isinstance(place, Seconds) else "",
        "labels": _labels(chunk),
        "page_first": pages[0],
        "page_last": pages[1],
        "second_start": seconds[0],
        "second_end": seconds[1],
        "terms": " ".join(terms(searchable, language=chunk.language)),
    }


def _labels(chunk: Chunk) -> str:
    """The printed labels of the chunk's pages, each between bars, for exact matching."""
    locators = [chunk.locator, *(place.locator for place in chunk.places)]
    labels = {
        label.casefold()
        for each in locators
        if isinstance(each, Pages)
        for label in (each.label_first, each.label_last)
    }
    return f"|{'|'.join(sorted(labels))}|" if labels else ""


def _schema(dimension: int) -> pa.Schema:
    texts = ["id", "document_id", "kind", "language", "speaker", "labels"]
    return pa.schema(
        [
            *(pa.field(name, pa.string(), nullable=False) for name in texts),
            pa.field("page_first", pa.float64()),
            pa.field("page_last", pa.float64()),
            pa.field("second_start", pa.float64()),
            pa.field("second_end", pa.float64()),
            pa.field("terms", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def _full_text() -> FTS:
    # `quoth.analyse` has done all analysis; the engine only cuts at white space.
    return FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the store's errors into those of `quoth.errors`."""
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
