"""Makes the arrays that a search reads out of the columns of an index's table.

Everything that is looked up by value (terms, filters, ids) is held under 64-bit digests in sorted
arrays, so that opening costs nothing and no value can be mistaken for code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quoth.backends.indexes.filter_columns import FIELDS, LISTS, NUMBERS
from quoth.backends.indexes.snapshot.search import (
    K1,
    Arrays,
    B,
    encode_key,
)

Numbers = npt.NDArray[Any]


class Postings(NamedTuple):
    """Rows by key: those of ``keys[i]`` are ``rows[at[i]:at[i + 1]]``, each ``often`` there."""

    keys: Numbers
    at: Numbers
    rows: Numbers
    often: Numbers


def columns_to_arrays(columns: pa.Table, *, mean_terms: float | None = None) -> Arrays:
    """Give every array but those of the vectors.

    ``mean_terms`` is the mean length to reckon with; without it, that of these rows.
    """
    count = len(columns)
    words, owners = _cut(columns["terms"], at=" ")
    lengths = np.bincount(owners, minlength=count)
    mean = mean_terms or max(1.0, float(lengths.mean()) if count else 1.0)
    found = postings([("", words, owners)], rows=count)
    often = found.often.astype(np.float32)
    norm = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)[found.rows]
    tags = postings(_tags(columns), rows=count)
    ids = [each.encode("utf-8", "surrogatepass") for each in columns["id"].to_pylist()]
    id_keys = np.array([encode_key("id", each) for each in ids], np.uint64)
    order = np.argsort(id_keys)
    return {
        "stamps": columns["stamp"].to_numpy().astype(np.uint64),
        "id_text": np.frombuffer(b"".join(ids), np.uint8),
        "id_at": np.cumsum([0, *map(len, ids)], dtype=np.int64),
        "id_keys": id_keys[order],
        "id_rows": order.astype(np.int32),
        "term_keys": found.keys,
        "term_at": found.at,
        "term_rows": found.rows,
        "term_weights": (often * np.float32(K1 + 1) / (often + norm)).astype(np.float32),
        "tag_keys": tags.keys,
        "tag_at": tags.at,
        "tag_rows": tags.rows,
        "mean_terms": np.array([mean], np.float64),
        **{name: columns[name].to_numpy().astype(np.float64) for name in NUMBERS},
    }


def postings(parts: Sequence[tuple[str, Any, Numbers]], *, rows: int) -> Postings:
    """Turn values and the rows that own them, field by field, into rows by value."""
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
    often = np.diff(np.append(begins, len(pairs)))
    pairs = pairs[begins]
    return Postings(
        keys=unsorted[order],
        at=np.searchsorted(pairs // max(1, rows), np.arange(len(keys) + 1)).astype(np.int64),
        rows=(pairs % max(1, rows)).astype(np.int32),
        often=often.astype(np.int32),
    )


def _tags(columns: pa.Table) -> list[tuple[str, Any, Numbers]]:
    every = np.arange(len(columns))
    plain = [(field, _whole(columns[name]), every) for field, name in FIELDS.items()]
    return plain + [(field, *_cut(columns[name], at="|")) for field, name in LISTS.items()]


def _cut(column: Any, *, at: str) -> tuple[Any, Numbers]:
    """Cut texts into their parts that are not empty; gives these and the rows they stand in."""
    lists = pc.split_pattern(_whole(column), at)
    parts, owners = lists.flatten(), pc.list_parent_indices(lists)
    there = pc.greater(pc.binary_length(parts), 0)
    return parts.filter(there), owners.filter(there).to_numpy(zero_copy_only=False)


def _whole(column: Any) -> Any:
    return column.combine_chunks().cast(pa.large_string())
