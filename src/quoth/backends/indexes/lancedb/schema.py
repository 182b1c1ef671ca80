"""Schema of an index table in LanceDB: its columns and the rows of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from datetime import timedelta
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from quoth.backends.indexes.rows import LISTS, NUMBERS, TEXTS, barred, index_row
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk

INDEXED = ("id", "document_id")
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
