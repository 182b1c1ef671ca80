"""Schema of an index table in LanceDB: rows of chunks and filter expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from datetime import timedelta
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from quoth.backends.indexes.filter_columns import (
    FIELDS,
    LISTS,
    NUMBERS,
    RANGES,
    TEXTS,
    column_value,
)
from quoth.backends.indexes.lancedb.client import (
    FTS,
    BTree,
    Expr,
    col,
    lit,
)
from quoth.backends.indexes.rows import barred, index_row
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter

INDEXED = ("terms", "id", "document_id")
"""The columns with an index of LanceDB's own."""
KEEP_VERSIONS = timedelta(minutes=10)
"""Old versions stay readable this long for searches that are under way."""


def schema(dimension: int) -> pa.Schema:
    """Return the table's columns; ``stamp`` names a row's whole content."""
    return pa.schema(
        [
            *(pa.field(name, pa.string(), nullable=False) for name in TEXTS),
            *(pa.field(name, pa.float64(), nullable=False) for name in NUMBERS),
            pa.field("terms", pa.string()),
            pa.field("stamp", pa.uint64(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def column_index(column: str) -> FTS | BTree:
    """Return the index of a column of `INDEXED`."""
    if column != "terms":
        return BTree()
    # `quoth.text.analyzer` has done all analysis; the engine only cuts at white space.
    return FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )


def rows(chunks: Sequence[Chunk], *, vectors: Matrix) -> pa.Table:
    """Return the rows of chunks for writing."""
    dimension = vectors.shape[1]
    exact = np.ascontiguousarray(vectors, dtype=np.float32)
    fields = [_fields(chunk) for chunk in chunks]
    data: dict[str, Any] = {name: [row[name] for row in fields] for name in fields[0]}
    data["stamp"] = [stamp(row, vector=vector) for row, vector in zip(fields, exact, strict=True)]
    flat = pa.array(exact.ravel())
    data["vector"] = pa.FixedSizeListArray.from_arrays(flat, dimension)
    return pa.table(data, schema=schema(dimension))


def stamp(fields: Mapping[str, Any], *, vector: Matrix) -> int:
    """Return the 64-bit digest of a row's content: rows with the same one are the same."""
    digest = blake2b(vector.tobytes(), digest_size=8)
    digest.update("\0".join(map(str, fields.values())).encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little")


def predicate(filters: Sequence[Filter]) -> Expr:
    """Compile filters into one typed expression: all of them must hold."""
    return reduce(lambda left, right: left & right, (_condition(filter_) for filter_ in filters))


def _condition(each: Filter) -> Expr:
    if each.field in LISTS:
        column = col(LISTS[each.field])
        found = (column.contains(f"|{column_value(each.field, value)}|") for value in each.values)
        return reduce(lambda left, right: left | right, found)
    if each.operator == "in":
        return col(FIELDS[each.field]).isin([str(value) for value in each.values])
    first, last = RANGES[each.field]
    low, high = each.values
    return (col(first) <= lit(high)) & (col(last) >= lit(low)) & (col(first) >= lit(0))


def _fields(chunk: Chunk) -> dict[str, Any]:
    row = index_row(chunk)
    fields = {each.name: getattr(row, each.name) for each in dataclass_fields(row)}
    for name in LISTS.values():
        fields[name] = barred(fields[name])
    fields["terms"] = " ".join(fields["terms"])
    return fields


def matrix_of(column: Any) -> Matrix:
    """Return a column of vectors as one matrix."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found: Matrix = whole.flatten().to_numpy().reshape(len(whole), whole.type.list_size)
    return found


async def missing_indexes(table: Any) -> list[str]:
    """Return the columns without an index, as after a crash while the table was created."""
    there = {index.name for index in await table.list_indices()}
    return [column for column in INDEXED if f"{column}_idx" not in there]
