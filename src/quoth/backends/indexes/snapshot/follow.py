"""Make the segments follow every write to a table; a search never waits for these imports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from quoth.backends.indexes.snapshot.files import Version
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.core.protocols import Matrix

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore
    from quoth.backends.indexes.snapshot.write import SegmentWriter

PACKAGE = __name__.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class SegmentFollower:
    """Keeps the segments of a table; whoever writes has the turn of the table."""

    _segments: SegmentStore
    _segment_rows: int

    async def may_hold(self, chunk_ids: Sequence[str], version: Version) -> bool:
        """Return whether a version of the table may have a row of these ids; False is certain."""
        return await asyncio.to_thread(self._segments.may_hold, chunk_ids, version)

    async def arrays(self, made: Any, vectors: Matrix) -> Any:
        """Return the arrays of a segment of new rows."""
        module = await asyncio.to_thread(import_module, f"{PACKAGE}.build")
        return await asyncio.to_thread(module.rows_to_arrays, made, vectors)

    async def written(
        self,
        table: LanceStore,
        *,
        before: Version,
        added: Any = None,
        deleted: Sequence[str] = (),
    ) -> None:
        """Do what was done to the table since ``before``."""
        after = await table.version()
        writer = await self._writer()
        change = partial(writer.change, added, deleted=deleted, before=before, after=after)
        if not await asyncio.to_thread(change):
            await writer.reconcile(table)

    async def compacted(self, table: LanceStore, *, before: Version) -> None:
        """Merge small segments after the table was compacted."""
        after = await table.version()
        writer = await self._writer()
        await asyncio.to_thread(writer.settle, before=before, after=after)

    async def behind(self, table: LanceStore) -> bool:
        """Return whether the segments of a table are missing, damaged or behind."""
        if await table.found() is None:
            return False
        version = await table.version()
        manifest = await asyncio.to_thread(self._segments.manifest)
        current = manifest is not None and manifest.version == version
        return not current or await self._segments.current() is None

    async def reconcile(self, table: LanceStore) -> None:
        """Make the segments those of the table."""
        await (await self._writer()).reconcile(table)

    async def _writer(self) -> SegmentWriter:
        module = await asyncio.to_thread(import_module, f"{PACKAGE}.write")
        made: SegmentWriter = module.SegmentWriter(self._segments, segment_rows=self._segment_rows)
        return made
