"""ODS: sheets of OpenDocument, their cells as they are shown."""

from __future__ import annotations

from collections.abc import Iterator

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.odt import CONTENT, refuse_encrypted
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.sheets import SheetReader
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.tables_below import Row
from quoth.ingest.readers.xml_parts import (
    Element,
    attribute,
    children,
    local,
    streamed,
    whole_number,
)
from quoth.ingest.readers.zip_container import open_container

MAX_COLUMNS = 1_000
MAX_REPEATED_ROWS = 100
"""Times that a row with text in it is repeated; empty rows are only counted."""


def read_ods(file: SourceFile) -> ParsedDocument:
    """Read a workbook, sheet by sheet; raises DocumentError."""
    container = open_container(file.data, name=file.name)
    refuse_encrypted(container)
    reader = SheetReader()
    parts = streamed(container.read(CONTENT), begin="table", end="table-row", name=container.name)
    blocks: list[Block] = []
    sheet: str | None = None
    rows: list[Row] = []
    number = 0
    for begins, element in parts:
        if begins:
            blocks += reader.blocks(rows, sheet=sheet)
            sheet, rows, number = attribute(element, "name"), [], 0
            continue
        repeated = whole_number(element, "number-rows-repeated", default=1)
        cells = list(_cells(element))
        if any(cells):
            times = min(repeated, MAX_REPEATED_ROWS)
            rows += [(number + at, cells) for at in range(1, times + 1)]
        number += repeated
    blocks += reader.blocks(rows, sheet=sheet)
    meta = office_properties(container)
    return file.document("table", assemble(blocks), meta=meta, warnings=reader.warnings)


def _cells(row: Element) -> Iterator[str]:
    width = 0
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        lines = ["".join(each.itertext()) for each in children(cell, "p")]
        times = min(whole_number(cell, "number-columns-repeated", default=1), MAX_COLUMNS - width)
        for _ in range(times if any(lines) or times <= MAX_COLUMNS // 10 else 0):
            yield " ".join(lines)
        width += times
        if width >= MAX_COLUMNS:
            return
