"""Schema of an index table in LanceDB: rows of chunks and filter expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from quoth.backends.indexes.filter_columns import (
    FIELDS,
    LISTS,
    NOWHERE,
    NUMBERS,
    RANGES,
    TEXTS,
    column_value,
    day_number,
    label_key,
    title_key,
)
from quoth.backends.indexes.lancedb.client import (
    FTS,
    BTree,
    Expr,
    col,
    lit,
)
from quoth.core.protocols import Matrix
from quoth.core.types import (
    Chunk,
    Filter,
    Pages,
    Seconds,
)
from quoth.text.analyzer import analyze

PREFIX_TIMES = 2
"""How often a chunk's prefix (titles above it) is counted among its terms."""

INDEXED = ("terms", "id", "document_id")
"""The columns with an index of LanceDB's own."""


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
    place = chunk.locator
    pages = (place.first, place.last) if isinstance(place, Pages) else (NOWHERE, NOWHERE)
    seconds = (place.start, place.end) if isinstance(place, Seconds) else (NOWHERE, NOWHERE)
    searchable = "\n".join((*[chunk.prefix] * PREFIX_TIMES, chunk.text))
    return {
        "id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "kind": chunk.kind,
        "language": chunk.language,
        "speaker": (place.speaker or "") if isinstance(place, Seconds) else "",
        "chapter": chunk.chapter,
        "segment": chunk.segment,
        "labels": _barred(_labels(chunk)),
        "sections": _barred({title_key(title) for title in chunk.section}),
        "page_first": float(pages[0]),
        "page_last": float(pages[1]),
        "second_start": float(seconds[0]),
        "second_end": float(seconds[1]),
        "date": day_number(chunk.date),
        "terms": " ".join(analyze(searchable, language=chunk.language)),
    }


def _labels(chunk: Chunk) -> set[str]:
    locators = [chunk.locator, *(place.locator for place in chunk.places)]
    return {
        label_key(label)
        for locator in locators
        if isinstance(locator, Pages)
        for label in (locator.label_first, locator.label_last)
    }


def _barred(values: set[str]) -> str:
    """Set values between bars, for exact matching."""
    return f"|{'|'.join(sorted(values))}|" if values else ""
