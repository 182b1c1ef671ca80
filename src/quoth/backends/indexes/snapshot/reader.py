"""Keeps a copy of an index for searching up to the table's present state, and makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quoth.backends.indexes.filter_columns import LISTS, RANGES, wanted
from quoth.backends.indexes.snapshot import file as scan_file
from quoth.backends.indexes.snapshot.search import (
    Numbers,
    Segment,
    SegmentFilter,
    Snapshot,
    encode_key,
)
from quoth.core.types import Filter

if TYPE_CHECKING:
    import pyarrow as pa

    from quoth.backends.indexes.lancedb.table import LanceStore

MOST_LATER = 50_000
"""Rows written since the copy was made that are held in memory; with more, the table answers."""
TRIES = 5


class ScanReader:
    """Gives the snapshot of the present moment; opening and reading happen when it has changed.

    ``store`` gives the table; it is only asked for when the copy lacks something.
    """

    def __init__(
        self, folder: Path, table: str, *, store: Callable[[], Awaitable[LanceStore]]
    ) -> None:
        self._folder = folder
        self._table = table
        self._store = store
        self._seen: tuple[scan_file.State | None, scan_file.State | None] | None = None
        self._now: Snapshot | None = None
        self._shown: tuple[scan_file.State, scan_file.Manifest, Snapshot | None] | None = None
        self._base: tuple[str, Segment | None] = ("", None)
        self._reading = asyncio.Lock()

    async def snapshot(self) -> Snapshot | None:
        """The index as it is now, None where there is no copy that can show it."""
        seen = self._look()
        if seen == self._seen:
            return self._now
        async with self._reading:
            # Looked at before reading: what is written meanwhile is read twice rather than missed.
            seen = self._look()
            if seen != self._seen:
                self._now = await self._take() if seen[0] and seen[1] else None
                self._seen = seen
        return self._now

    def latest(self) -> Snapshot | None:
        """The index as it was when it was last searched, without looking at the disk."""
        return self._now

    def forget(self) -> None:
        """Let go of everything."""
        self._seen, self._now, self._shown, self._base = None, None, None, ("", None)

    def _look(self) -> tuple[scan_file.State | None, scan_file.State | None]:
        return (
            scan_file.stat_signature(self._folder, self._table),
            scan_file.glance_at_manifest(self._folder, self._table),
        )

    async def _take(self) -> Snapshot | None:
        for _ in range(TRIES):
            state = scan_file.state(self._folder, self._table)
            manifest = scan_file.read_manifest(self._folder, self._table)
            if state is None or manifest is None:
                return None
            if self._shown is not None and self._shown[:2] == (state, manifest):
                return self._shown[2]
            base = await asyncio.to_thread(self._opened, manifest.file)
            if base is None:
                if manifest == scan_file.read_manifest(self._folder, self._table):
                    return None  # it is damaged
                continue  # another process has just put a new file in its place
            try:
                now = Snapshot(base) if manifest.state == state else await self._compared(base)
            except _RowsMovedError:
                continue
            self._shown = (state, manifest, now)
            return now
        return None

    def _opened(self, name: str) -> Segment | None:
        if self._base[0] != name or self._base[1] is None:
            try:
                self._base = (name, scan_file.open_segment(self._folder / name))
            except scan_file.DAMAGED:
                self._base = (name, None)
        return self._base[1]

    async def _compared(self, base: Segment) -> Snapshot | None:
        """What of the file is still valid and what came later; None where that is too much."""
        store = await self._store()
        row_ids, stamps = await store.stamps()
        alive, later = await asyncio.to_thread(_differences, base.stamps, stamps)
        if np.count_nonzero(later) > MOST_LATER:
            return None
        if not later.any():
            return Snapshot(base, alive)
        rows = await store.take(row_ids[later])
        if set(rows["stamp"].to_pylist()) != set(stamps[later].tolist()):
            raise _RowsMovedError
        tail = await asyncio.to_thread(_segment, rows, mean_terms=base.mean_terms)
        return Snapshot(base, alive, tail)


class _RowsMovedError(Exception):
    """The table was written to between two readings of it."""


def _differences(old: Numbers, new: Numbers) -> tuple[Numbers | None, Numbers]:
    """Which of the old stamps are still there (None for all), and which of the new are new."""
    alive = np.isin(old, new)
    return (None if alive.all() else alive), ~np.isin(new, old)


def _segment(rows: pa.Table, *, mean_terms: float) -> Segment:
    from quoth.backends.indexes.lancedb.table import matrix_of
    from quoth.backends.indexes.snapshot.build import columns_to_arrays

    arrays = columns_to_arrays(rows, mean_terms=mean_terms)
    return Segment({**arrays, "vectors": matrix_of(rows["vector"])})


async def make_copy(store: LanceStore, *, folder: Path, table: str, dimension: int) -> None:
    """Write a file of the whole table and put it in charge; the caller has the writers' turn."""
    # What builds costs a third of a second to load, and a search never needs it.
    from quoth.backends.indexes.snapshot.build import columns_to_arrays
    from quoth.backends.indexes.snapshot.quantize import Quantiser

    state = scan_file.state(folder, table)
    columns = await store.columns()
    vectors = Quantiser(rows=len(columns), dimension=dimension)
    stamps: list[Numbers] = []
    async for part, batch in store.batches():
        stamps.append(part)
        await asyncio.to_thread(vectors.add, batch)
    arrays = await asyncio.to_thread(columns_to_arrays, columns)
    if state is None or not np.array_equal(np.concatenate(stamps), arrays["stamps"]):
        raise ValueError("the table changed while it was read, though writers wait for their turn")
    whole = {**arrays, **vectors.arrays()}
    file = await asyncio.to_thread(scan_file.write, folder, table, arrays=whole)
    manifest = scan_file.Manifest(file=file, state=state)
    await asyncio.to_thread(scan_file.activate, folder, table, manifest=manifest)


def conditions(filters: Sequence[Filter]) -> list[SegmentFilter]:
    """Put filters in the terms of a segment."""
    return [_condition(each) for each in filters]


def _condition(each: Filter) -> SegmentFilter:
    if each.operator == "in" or each.field in LISTS:
        return SegmentFilter(
            keys=tuple(encode_key(each.field, wanted(each.field, value)) for value in each.values)
        )
    first, last = RANGES[each.field]
    low, high = (float(value) for value in each.values)
    return SegmentFilter(first=first, last=last, low=low, high=high)
