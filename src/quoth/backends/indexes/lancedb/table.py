"""One table of a LanceDB folder and its segments: single-writer updates and full scans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from quoth.backends.indexes.lancedb.bucket import Bucket
from quoth.backends.indexes.lancedb.checksums import TableChecksums
from quoth.backends.indexes.lancedb.client import BTree, col, connect
from quoth.backends.indexes.lancedb.schema import (
    KEEP_VERSIONS,
    matrix_of,
    missing_indexes,
    rows,
    schema,
)
from quoth.backends.indexes.missing import missing_index
from quoth.backends.indexes.snapshot.build import rows_to_arrays
from quoth.backends.indexes.snapshot.files import Version
from quoth.backends.indexes.snapshot.segment import Arrays
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.backends.indexes.snapshot.write import SegmentWriter
from quoth.backends.indexes.writer_lock import server_lock, writer_lock
from quoth.core.errors import IndexMismatch
from quoth.core.protocols import Matrix

if TYPE_CHECKING:
    from sqlalchemy import Engine


class LanceStore:
    """One table, opened on first use, in the folder or in a bucket, with its segments.

    ``on_operation`` is called with the name of every write before and after it; ``rebuild`` returns
    the command that rebuilds the index.
    """

    def __init__(
        self,
        folder: Path,
        table: str,
        *,
        dimension: int,
        segments: SegmentStore,
        bucket: Bucket | None = None,
        on_operation: Callable[[str], None],
        rebuild: Callable[[], str],
    ) -> None:
        self._folder = folder
        self._name = table
        self._schema = schema(dimension)
        self._bucket = bucket
        self._on_operation = on_operation
        self._rebuild = rebuild
        self._segments = segments
        self._writer = SegmentWriter(segments)
        # A bucket keeps checksums of its own.
        self._sums = None if bucket else TableChecksums(folder, table, rebuild=rebuild)
        self._locks: Engine | None = None
        self._table: Any = None
        self._opening = asyncio.Lock()

    async def found(self) -> Any:
        """Return the table, None where it does not exist; raises IndexMismatch for an old one."""
        if self._table is None and (self._bucket or self._folder.is_dir()):
            async with self._opening:
                self._table = self._table or await self._existing(
                    await connect(self._folder, self._bucket)
                )
        return self._table

    async def there(self) -> Any:
        """Return the table; raises IndexCorrupt where it does not exist."""
        table = await self.found()
        if table is None:
            raise missing_index(self._rebuild())
        return table

    async def create(self) -> Any:
        """Return the table for writing, created if necessary."""
        async with self._opening:
            if self._table is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                database = await connect(self._folder, self._bucket)
                self._table = await self._existing(database) or await self._create(database)
        return self._table

    async def _existing(self, database: Any) -> Any:
        if self._name not in (await database.list_tables()).tables:
            return None
        if self._sums:
            await asyncio.to_thread(self._sums.check)
        try:
            table = await database.open_table(self._name)
        except ValueError as error:
            if "not found" not in str(error):
                raise
            return None  # its folder is there, and another process is just filling it
        if (await table.schema()).names != self._schema.names:
            raise IndexMismatch(
                "The index was made by an older version of quoth, which stored less per passage. "
                f"Rebuild it with: {self._rebuild()}"
            )
        return None if await missing_indexes(table) else table

    async def _create(self, database: Any) -> Any:
        async with self.turn("create index"):
            table = await database.create_table(self._name, schema=self._schema, exist_ok=True)
            for column in await missing_indexes(table):
                await table.create_index(column, config=BTree())
            return table

    @asynccontextmanager
    async def turn(self, operation: str) -> AsyncIterator[None]:
        """Hold the writer lock, across all processes and machines."""
        if self._bucket and self._bucket.locks and self._locks is None:
            self._locks = await asyncio.to_thread(self._bucket.locks)
        self._folder.mkdir(parents=True, exist_ok=True)
        locks = self._locks
        own = server_lock(locks, self._name) if locks else writer_lock(self._folder, self._name)
        async with own:
            self._on_operation(f"before {operation}")
            yield
            if self._sums:
                await asyncio.to_thread(self._sums.note)
            self._on_operation(f"after {operation}")

    rows = staticmethod(rows)
    """Return the rows of chunks as `upsert` takes them."""
    arrays = staticmethod(rows_to_arrays)
    """Return the arrays of a segment of such rows."""

    async def upsert(self, made: pa.Table, *, new: bool) -> None:
        """Write rows; one with the id of another replaces it. The caller has its turn.

        Rows that are all ``new`` are appended, which is quicker than looking for their ids.
        """
        if new:
            await (await self.there()).add(made)
            return
        merge = (await self.there()).merge_insert("id").when_matched_update_all()
        await merge.when_not_matched_insert_all().execute(made)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents; the caller has its turn."""
        await (await self.there()).delete(col("document_id").isin(list(document_ids)))

    async def optimize(self) -> None:
        """Bring recent writes into the indexes of the table; the caller has its turn."""
        table = await self.there()
        await table.optimize(cleanup_older_than=KEEP_VERSIONS)

    async def write_segments(
        self, before: Version, *, added: Arrays | None = None, deleted: Sequence[str] = ()
    ) -> None:
        """Do to the segments what was done to the table; the caller still has its turn."""
        after = await self.version()
        change = partial(self._writer.change, added, deleted=deleted, before=before, after=after)
        if not await asyncio.to_thread(change):
            await self.build_segments()

    async def settle_segments(self, before: Version) -> None:
        """Merge small segments after the table was optimized; the caller still has its turn."""
        after = await self.version()
        await asyncio.to_thread(self._writer.settle, before=before, after=after)

    async def has_old_segments(self) -> bool:
        """Return whether the segments of the table are missing, damaged or behind."""
        if await self.found() is None:
            return False
        manifest = await asyncio.to_thread(self._segments.manifest)
        current = manifest is not None and manifest.version == await self.version()
        return not current or await self._segments.current() is None

    async def build_segments(self) -> None:
        """Make the segments those of the table; the caller has its turn."""
        await self._writer.reconcile(self)

    async def drop(self) -> None:
        """Remove the table; the caller has its turn."""
        database = await connect(self._folder, self._bucket)
        await database.drop_table(self._name, ignore_missing=True)
        if self._sums:
            self._sums.forget()
        self._table = None

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of those chunks that are there."""
        table = await self.there()
        query = table.query().where(col("id").isin(list(chunk_ids)))
        found = await query.select(["id", "vector"]).to_arrow()
        return dict(zip(found["id"].to_pylist(), matrix_of(found["vector"]), strict=True))

    async def document_ids(self) -> dict[str, int]:
        """Return the number of chunks per document; empty for a missing table."""
        table = await self.found()
        if table is None:
            return {}
        column = (await table.query().select(["document_id"]).to_arrow())["document_id"]
        counts = column.value_counts()
        return {count["values"].as_py(): count["counts"].as_py() for count in counts}

    async def count(self) -> int:
        """Return how many chunks there are."""
        table = await self.found()
        return 0 if table is None else await table.count_rows()

    async def version(self) -> Version:
        """Return the present version of the table, and how many rows it has."""
        table = await self.there()
        return await table.version(), await table.count_rows()

    async def stamps(self) -> Any:
        """Return the digest of each row's content, shape (rows,)."""
        table = await self.there()
        return (await table.query().select(["stamp"]).to_arrow())["stamp"].to_numpy()

    async def batches(self) -> AsyncIterator[tuple[pa.RecordBatch, Matrix]]:
        """Yield all rows some at a time: their columns without the vectors, and the vectors."""
        table = await self.there()
        async for batch in await table.query().select(self._schema.names).to_batches():
            yield batch.drop_columns("vector"), matrix_of(batch["vector"])

    def close(self) -> None:
        """Close the table."""
        if self._table is not None:
            self._table.close()
            self._table = None
        if self._locks is not None:
            self._locks.dispose()
            self._locks = None
