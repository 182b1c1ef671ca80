"""CSV and TSV: rows with the header of each column."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import assemble
from quoth.ingest.readers.sheets import SheetReader
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.tables_below import Row

SAMPLE = 40
"""Lines from which the separator is taken."""
MIN_SHARE = 0.9
"""Lines of equal length that make a text a table, whatever its name."""
_STATED = re.compile(r"sep=(.)\n", re.IGNORECASE)
"""The first line of a table for Excel, which states the separator."""
MAX_FIELD = 1 << 20
"""Characters of one cell; a quote that is never closed would take the rest of the file."""


def read_delimited(file: SourceFile) -> ParsedDocument:
    """Read a table; raises DocumentError where a cell is larger than any should be."""
    reader = SheetReader()
    content = assemble(reader.blocks(_rows(file)))
    return file.document("table", content, warnings=reader.warnings)


def separator(text: str) -> str:
    """Return the separator that gives the first lines of each table the same number of cells."""
    return _separation(text, _tables)[0]


def is_delimited(text: str) -> bool:
    """Return whether nearly all of the first lines, at least two, have the same cells."""
    return text.count("\n") > 1 and _separation(text, lambda rows: [rows])[1] >= MIN_SHARE


def _tables(rows: Sequence[Sequence[str]]) -> list[Sequence[Sequence[str]]]:
    """Return the tables that empty rows divide; all rows are one where no two are together."""
    groups = (list(group) for filled, group in itertools.groupby(rows, _is_filled) if filled)
    return [group for group in groups if len(group) > 1] or [rows]


def _is_filled(row: Sequence[str]) -> bool:
    return any(map(str.strip, row))


def _separation(
    text: str, divide: Callable[[Sequence[Sequence[str]]], list[Sequence[Sequence[str]]]]
) -> tuple[str, float]:
    """Return the best separator, and the share of rows with the usual cells of their table."""
    lines = text[:100_000].splitlines()[:SAMPLE]
    best, most = ",", 0.0
    for mark in ("\t", ";", ",", "|"):
        usual = total = 0
        for table in divide(list(csv.reader(lines, delimiter=mark))):
            counts = Counter(len(row) for row in table if _is_filled(row))
            cells, times = counts.most_common(1)[0] if counts else (1, 0)
            usual += times if cells > 1 else 0
            total += counts.total()
        if total and usual / total > most:
            best, most = mark, usual / total
    return best, most


def _rows(file: SourceFile) -> Iterator[Row]:
    csv.field_size_limit(MAX_FIELD)
    stated = _STATED.match(file.text)
    mark = stated[1] if stated else separator(file.text)
    try:
        rows = csv.reader(io.StringIO(file.text), delimiter=mark)
        yield from itertools.islice(enumerate(rows, start=1), 1 if stated else 0, None)
    except csv.Error as error:
        raise DocumentError(
            "damaged", f"{file.name} is no table that can be read ({error}); check its quotes."
        ) from None
