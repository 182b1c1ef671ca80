"""XLS, the old workbooks of Excel: sheets by olefile and xlrd, cells as they are shown."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from datetime import timedelta

import olefile
import xlrd
from xlrd.biffh import error_text_from_code
from xlrd.xldate import xldate_as_datetime

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.number_formats import parse_format, show_value
from quoth.ingest.readers.sheets import SheetReader, workbook_fault
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.tables_below import Row

_DAMAGED = (
    *(xlrd.XLRDError, struct.error, ValueError, LookupError, TypeError),
    *(AttributeError, ArithmeticError, AssertionError, RecursionError, OSError),
)
"""What olefile and xlrd raise over damaged files."""


def read_xls(file: SourceFile) -> ParsedDocument:
    """Read a workbook, sheet by sheet; raises DocumentError."""
    reader = SheetReader()
    try:
        book = xlrd.open_workbook(
            file_contents=_stream(file.data),
            logfile=io.StringIO(),
            formatting_info=True,
            ragged_rows=True,
        )
        blocks = list(_sheets(book, reader))
    except _DAMAGED as error:
        raise workbook_fault(file.name, error) from None
    return file.document("table", assemble(blocks), warnings=reader.warnings)


def _stream(data: bytes) -> bytes:
    """Return the stream of the workbook, by olefile: a loop of sectors has no end in xlrd."""
    with olefile.OleFileIO(io.BytesIO(data)) as container:
        name = "Workbook" if container.exists("Workbook") else "Book"
        return bytes(container.openstream(name).read())


def _sheets(book: xlrd.Book, reader: SheetReader) -> Iterator[Block]:
    reader.say_hidden([each.name for each in book.sheets() if each.visibility])
    for sheet in book.sheets():
        yield from reader.blocks(_rows(book, sheet), sheet=sheet.name)


def _rows(book: xlrd.Book, sheet: xlrd.sheet.Sheet) -> Iterator[Row]:
    for at in range(sheet.nrows):
        yield at + 1, [_shown(book, cell) for cell in sheet.row(at)]


def _shown(book: xlrd.Book, cell: xlrd.sheet.Cell) -> str:
    """Return a cell as people see it."""
    value = cell.value
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(error_text_from_code.get(value, "#N/A"))
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return show_value(bool(value))
    if cell.ctype not in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return str(value)
    number = book.xf_list[cell.xf_index].format_key
    form = book.format_map.get(number)
    code = form.format_str if form else "General"
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return show_value(value, parse_format(number, {number: code}))
    try:
        if "[h" in code.lower():
            return show_value(timedelta(days=value))
        day = xldate_as_datetime(value, book.datemode)
    except (OverflowError, ValueError):  # 20240503 in a cell for dates: no day has this number
        return show_value(value)
    return show_value(day if value >= 1 else day.time())
