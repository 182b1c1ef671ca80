"""Parquet: rows with the names of their columns."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow
from pyarrow import parquet

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import assemble
from quoth.ingest.readers.number_formats import show_value
from quoth.ingest.readers.sheets import MAX_CELL, SheetReader
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.tables_below import Row

BATCH = 500
MAX_COLUMNS = 1_000


def read_parquet(file: SourceFile) -> ParsedDocument:
    """Read a table, a part of its rows at a time; raises DocumentError."""
    reader = SheetReader()
    try:
        table = parquet.ParquetFile(pyarrow.BufferReader(file.data))
        names = [str(name) for name in table.schema_arrow.names[:MAX_COLUMNS]]
        content = assemble(reader.blocks(_rows(table, names), header=names))
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise DocumentError(
            "damaged", f"{file.name} is damaged: it is no Parquet that can be read ({error})."
        ) from None
    return file.document("table", content, warnings=reader.warnings)


def _rows(table: parquet.ParquetFile, names: list[str]) -> Iterator[Row]:
    number = 0
    for batch in table.iter_batches(batch_size=BATCH, columns=names):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            number += 1
            yield number, [_shown(value) for value in row]


def _shown(value: object) -> str:
    if isinstance(value, list | dict | bytes):
        return str(value)[:MAX_CELL]
    return show_value(value)  # type: ignore[arg-type]
