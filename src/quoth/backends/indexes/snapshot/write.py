"""Keep the segments of a table in step with it: a small one for each write, merged as they grow.

The logarithmic method (J. Bentley, J. Saxe, 1980): segments of about the same size are merged, up
to ``segment_rows`` rows, so that a write rebuilds at most one, and a row is copied a few times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from quoth.backends.indexes.snapshot.build import merge_arrays, rows_to_arrays, with_product
from quoth.backends.indexes.snapshot.files import Version
from quoth.backends.indexes.snapshot.search import Part
from quoth.backends.indexes.snapshot.segment import Arrays, Numbers, Segment
from quoth.backends.indexes.snapshot.store import SEGMENT_ROWS, SegmentStore

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore

MOST_SMALL, MOST_SMALL_AT_REST = 8, 4
"""Segments below half the full size, while rows are being added and after that."""
GROWTH = 2
"""A segment is merged with smaller ones that have together at least this part of its rows."""


class SegmentWriter:
    """Writes the segments of one table; the caller holds its writer lock. Calls block."""

    def __init__(self, segments: SegmentStore, *, segment_rows: int = SEGMENT_ROWS) -> None:
        self._segments = segments
        self._segment_rows = segment_rows

    def change(
        self,
        added: Arrays | None = None,
        *,
        deleted: Sequence[str] = (),
        before: Version,
        after: Version,
    ) -> bool:
        """Add rows, in place of those with the same ids, and take out those of documents.

        Returns False where the segments are not those of the table ``before``.
        """
        parts = self._segments.parts_of(before)
        if parts is None:
            return False
        if deleted:
            parts = [part.without(part.segment.tagged("document", deleted)) for part in parts]
        if added is not None:
            keys = added["id_keys"]
            parts = [part.without(part.segment.find(keys)[1]) for part in parts]
            parts.append(Part(self._segments.write(with_product(added))))
        self._segments.activate(self._merged(parts, most=MOST_SMALL), version=after)
        return True

    def settle(self, *, before: Version, after: Version) -> bool:
        """Merge small segments after the table was compacted; return as `change` does."""
        parts = self._segments.parts_of(before)
        if parts is None:
            return False
        count = len(parts) + 1
        while len(parts) < count:
            count, parts = len(parts), self._merged(parts, most=MOST_SMALL_AT_REST)
        self._segments.activate(parts, version=after)
        return True

    async def reconcile(self, table: LanceStore) -> None:
        """Make the segments those of the table: rows that are gone go, missing ones are added."""
        version, stamps = await table.version(), await table.stamps()
        parts = await asyncio.to_thread(self._still_there, stamps)
        known = [part.segment.arrays["stamps"][part.mask()] for part in parts]
        missing = np.setdiff1d(stamps, np.concatenate([stamps[:0], *known]))
        made: list[Part] = []
        count = 0
        async for columns, vectors in table.batches():
            if not len(missing):
                break
            there = np.isin(columns["stamp"].to_numpy(), missing)
            count += int(np.count_nonzero(there))
            if count > self._segment_rows and made:
                parts.append(await asyncio.to_thread(self._merge, made))
                made, count = [], int(np.count_nonzero(there))
            if there.any():
                rows = columns.filter(pa.array(there)), vectors[there]
                made.append(Part(Segment(await asyncio.to_thread(rows_to_arrays, *rows))))
        if made:
            parts.append(await asyncio.to_thread(self._merge, made))
        await asyncio.to_thread(self._segments.activate, parts, version=version)

    def _still_there(self, stamps: Numbers) -> list[Part]:
        """Return the segments that are whole, without the rows that the table has no more."""
        manifest = self._segments.manifest()
        parts = self._segments.parts(manifest) if manifest else []
        gone = [~np.isin(part.segment.arrays["stamps"], stamps) for part in parts]
        left = [part.without(np.flatnonzero(rows)) for part, rows in zip(parts, gone, strict=True)]
        return [part for part in left if part.count]

    def _merged(self, parts: Sequence[Part], *, most: int) -> list[Part]:
        """Return the segments after merging the smallest, if more than ``most`` are small."""
        there = sorted((part for part in parts if part.count), key=lambda part: part.count)
        small = [part for part in there if part.count < self._segment_rows // 2]
        if len(small) <= most:
            return there
        run, total = small[:2], small[0].count + small[1].count
        for part in small[2:]:
            if part.count > GROWTH * total or part.count + total > self._segment_rows:
                break
            run.append(part)
            total += part.count
        return [self._merge(run), *there[len(run) :]]

    def _merge(self, parts: Sequence[Part]) -> Part:
        arrays = merge_arrays([(part.segment.arrays, part.alive) for part in parts])
        return Part(self._segments.write(with_product(arrays)))
