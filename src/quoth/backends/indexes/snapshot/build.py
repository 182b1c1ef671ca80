"""Build the arrays of a snapshot from the columns of an index's table.

Everything that is looked up by value (terms, filters, ids) is stored under 64-bit digests in
sorted arrays, so that opening costs nothing and no value can be mistaken for code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quoth.backends.indexes.filter_columns import FIELDS, LISTS, NUMBERS
from quoth.backends.indexes.snapshot.quantize import Quantizer
from quoth.backends.indexes.snapshot.search import K1, Arrays, B, encode_key
from quoth.backends.indexes.snapshot.store import table_version, write_snapshot

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.table import LanceStore

Numbers = npt.NDArray[Any]


class PostingLists(NamedTuple):
    """Rows by key: ``keys[i]`` occurs in ``rows[at[i]:at[i + 1]]``, in each ``counts`` times."""

    keys: Numbers
    at: Numbers
    rows: Numbers
    counts: Numbers


def columns_to_arrays(columns: pa.Table) -> Arrays:
    """Return every array but those of the vectors."""
    count = len(columns)
    words, owners = _cut(columns["terms"], at=" ")
    lengths = np.bincount(owners, minlength=count)
    mean = max(1.0, float(lengths.mean()) if count else 1.0)
    found = posting_lists([("", words, owners)], rows=count)
    frequencies = found.counts.astype(np.float32)
    norm = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)[found.rows]
    tags = posting_lists(_tags(columns), rows=count)
    ids = [chunk_id.encode("utf-8", "surrogatepass") for chunk_id in columns["id"].to_pylist()]
    id_keys = np.array([encode_key("id", chunk_id) for chunk_id in ids], np.uint64)
    order = np.argsort(id_keys)
    dictionary = " ".join(sorted(pc.unique(words).to_pylist())).encode("utf-8", "surrogatepass")
    return {
        "id_text": np.frombuffer(b"".join(ids), np.uint8),
        "id_at": np.cumsum([0, *map(len, ids)], dtype=np.int64),
        "id_keys": id_keys[order],
        "id_rows": order.astype(np.int32),
        "term_text": np.frombuffer(dictionary, np.uint8),
        "term_keys": found.keys,
        "term_at": found.at,
        "term_rows": found.rows,
        "term_weights": (frequencies * np.float32(K1 + 1) / (frequencies + norm)).astype(
            np.float32
        ),
        "tag_keys": tags.keys,
        "tag_at": tags.at,
        "tag_rows": tags.rows,
        **{name: columns[name].to_numpy().astype(np.float64) for name in NUMBERS},
    }


async def build_snapshot(store: LanceStore, root: Path, *, table: str, dimension: int) -> None:
    """Write a snapshot of the whole table and activate it; the caller holds the writer lock."""
    version = table_version(root, table)
    if version is None:
        raise ValueError("the table has no version that can be read")
    quantizer = Quantizer(rows=await store.count(), dimension=dimension)
    batches = []
    async for columns, vectors in store.batches():
        batches.append(columns)
        await asyncio.to_thread(quantizer.add, vectors)

    def write() -> None:
        arrays = {**columns_to_arrays(pa.Table.from_batches(batches)), **quantizer.arrays()}
        write_snapshot(root, table, arrays=arrays, version=version)

    await asyncio.to_thread(write)


def posting_lists(parts: Sequence[tuple[str, Any, Numbers]], *, rows: int) -> PostingLists:
    """Return the posting lists of values from their rows, field by field."""
    keys: list[int] = []
    codes: list[Numbers] = []
    owners: list[Numbers] = []
    for field, values, owned in parts:
        encoded = values.dictionary_encode()
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64) + len(keys))
        owners.append(owned)
        keys += [encode_key(field, value) for value in encoded.dictionary.to_pylist()]
    unsorted = np.array(keys, np.uint64)
    order = np.argsort(unsorted)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys))
    pairs = ranks[np.concatenate(codes)] * max(1, rows) + np.concatenate(owners)
    pairs.sort()
    begins = np.flatnonzero(np.diff(pairs, prepend=-1))
    counts = np.diff(np.append(begins, len(pairs)))
    pairs = pairs[begins]
    return PostingLists(
        keys=unsorted[order],
        at=np.searchsorted(pairs // max(1, rows), np.arange(len(keys) + 1)).astype(np.int64),
        rows=(pairs % max(1, rows)).astype(np.int32),
        counts=counts.astype(np.int32),
    )


def _tags(columns: pa.Table) -> list[tuple[str, Any, Numbers]]:
    every = np.arange(len(columns))
    plain = [(field, _whole(columns[name]), every) for field, name in FIELDS.items()]
    return plain + [(field, *_cut(columns[name], at="|")) for field, name in LISTS.items()]


def _cut(column: Any, *, at: str) -> tuple[Any, Numbers]:
    """Split texts into their non-empty parts; return these and their row numbers."""
    lists = pc.split_pattern(_whole(column), at)
    parts, owners = lists.flatten(), pc.list_parent_indices(lists)
    there = pc.greater(pc.binary_length(parts), 0)
    return parts.filter(there), owners.filter(there).to_numpy(zero_copy_only=False)


def _whole(column: Any) -> Any:
    return column.combine_chunks().cast(pa.large_string())
