"""Make the arrays of a segment from rows of an index's table, or from smaller segments.

Everything that is looked up by value (terms, filters, ids) is stored under 64-bit digests in
sorted arrays, so that opening costs nothing and no value can be mistaken for code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quoth.backends.indexes.rows import FIELDS, LISTS, NUMBERS
from quoth.backends.indexes.snapshot.quantize import product_arrays, quantize_int16
from quoth.backends.indexes.snapshot.segment import FEW_ROWS, Arrays, Numbers, encode_key
from quoth.core.protocols import Matrix

PER_ROW = ("stamps", "lengths", *NUMBERS, "vectors", "scales")
"""The arrays with one entry per row, in the order of the rows."""
MOST_TIMES = np.iinfo(np.uint16).max


class PostingLists(NamedTuple):
    """Rows by key: ``keys[i]`` occurs in ``rows[at[i]:at[i + 1]]``, in each ``counts`` times."""

    keys: Numbers
    at: Numbers
    rows: Numbers
    counts: Numbers


def rows_to_arrays(columns: pa.Table | pa.RecordBatch, vectors: Matrix) -> Arrays:
    """Return the arrays of rows of the table, but those of the 4-bit product."""
    count = len(columns)
    words, owners = _cut(columns["terms"], at=" ")
    ids = [chunk_id.encode("utf-8", "surrogatepass") for chunk_id in columns["id"].to_pylist()]
    terms = posting_lists([("", words, owners)], rows=count)
    tags = posting_lists(_tags(columns), rows=count)
    return {
        **_id_arrays(pa.array(ids, pa.large_binary())),
        "stamps": columns["stamp"].to_numpy(),
        "lengths": np.bincount(owners, minlength=count).astype(np.float32),
        **_posting_arrays("term", terms),
        "term_counts": np.minimum(terms.counts, MOST_TIMES).astype(np.uint16),
        **_posting_arrays("tag", tags),
        **{name: columns[name].to_numpy().astype(np.float64) for name in NUMBERS},
        **quantize_int16(vectors),
    }


def merge_arrays(parts: Sequence[tuple[Mapping[str, Numbers], Numbers | None]]) -> Arrays:
    """Return the arrays of one segment with the rows of several that are still there."""
    alive = [
        np.ones(len(arrays["stamps"]), np.bool_) if mask is None else mask for arrays, mask in parts
    ]
    every = [arrays for arrays, _ in parts]
    ids = [
        _binary(arrays["id_text"], arrays["id_at"]).filter(pa.array(mask))
        for arrays, mask in zip(every, alive, strict=True)
    ]
    first = np.cumsum([0, *map(np.count_nonzero, alive)])
    moved = [np.cumsum(mask) - 1 + at for mask, at in zip(alive, first, strict=False)]
    terms = _merge_postings("term", every, alive=alive, moved=moved)
    tags = _merge_postings("tag", every, alive=alive, moved=moved)
    return {
        **_id_arrays(pa.concat_arrays(ids)),
        **_posting_arrays("term", terms),
        "term_counts": terms.counts.astype(np.uint16),
        **_posting_arrays("tag", tags),
        **{
            name: np.concatenate(
                [arrays[name][mask] for arrays, mask in zip(every, alive, strict=True)]
            )
            for name in PER_ROW
        },
    }


def with_product(arrays: Arrays) -> Arrays:
    """Add what is needed to score all rows at once, where there are many."""
    if len(arrays["stamps"]) <= FEW_ROWS:
        return arrays
    return arrays | product_arrays(arrays["vectors"], arrays["scales"])


def posting_lists(parts: Sequence[tuple[str, Any, Numbers]], *, rows: int) -> PostingLists:
    """Return the posting lists of values from their rows, field by field."""
    keys: list[int] = []
    codes: list[Numbers] = []
    owners: list[Numbers] = []
    for field, values, owned in parts:
        encoded = values.dictionary_encode()
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64) + len(keys))
        owners.append(owned)
        distinct = encoded.dictionary.cast(pa.large_binary()).to_pylist()
        keys += [encode_key(field, value) for value in distinct]
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


def _merge_postings(
    name: str, parts: Sequence[Mapping[str, Numbers]], *, alive: list[Numbers], moved: list[Numbers]
) -> PostingLists:
    """Return the posting lists of several segments as one.

    Each list is copied to its place: the lists of a key follow one another, segment by segment.
    """
    lists = [_living(name, arrays, mask) for arrays, mask in zip(parts, alive, strict=True)]
    keys, places = np.unique(np.concatenate([each.keys for each in lists]), return_inverse=True)
    sizes = np.concatenate([np.diff(each.at) for each in lists])
    at = np.append(0, np.cumsum(np.bincount(places, weights=sizes, minlength=len(keys)))).astype(
        np.int64
    )
    rows, counts = np.empty(at[-1], np.int32), np.empty(at[-1], np.int32)
    free, begin = at[:-1].copy(), 0
    for each, new_rows in zip(lists, moved, strict=True):
        mine, size = places[begin : begin + len(each.keys)], np.diff(each.at)
        target = np.repeat(free[mine] - each.at[:-1], size) + np.arange(len(each.rows))
        rows[target] = new_rows[each.rows]
        counts[target] = each.counts
        free[mine] += size
        begin += len(each.keys)
    there = np.flatnonzero(np.diff(at))  # a key may have lost all its rows
    at = np.append(at[there], at[-1])
    return PostingLists(keys[there], at, rows, counts)


def _living(name: str, arrays: Mapping[str, Numbers], alive: Numbers) -> PostingLists:
    """Return posting lists without the rows that are no longer there."""
    at, rows = arrays[f"{name}_at"], arrays[f"{name}_rows"]
    counts = arrays.get(f"{name}_counts", np.ones(len(rows), np.uint16))
    there = alive[rows]
    new_at = np.append(0, np.cumsum(there))[at]
    return PostingLists(arrays[f"{name}_keys"], new_at, rows[there], counts[there])


def _posting_arrays(name: str, lists: PostingLists) -> Arrays:
    return {f"{name}_keys": lists.keys, f"{name}_at": lists.at, f"{name}_rows": lists.rows}


def _id_arrays(ids: Any) -> Arrays:
    keys = np.array([encode_key("id", chunk_id) for chunk_id in ids.to_pylist()], np.uint64)
    order = np.argsort(keys)
    whole = b"".join(ids.to_pylist())
    lengths = pc.binary_length(ids).to_numpy(zero_copy_only=False)
    return {
        "id_text": np.frombuffer(whole, np.uint8),
        "id_at": np.append(0, np.cumsum(lengths)).astype(np.int64),
        "id_keys": keys[order],
        "id_rows": order.astype(np.int32),
    }


def _binary(text: Numbers, at: Numbers) -> Any:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(at)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_binary(), len(at) - 1, buffers)


def _tags(columns: Any) -> list[tuple[str, Any, Numbers]]:
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
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.cast(pa.large_string())
