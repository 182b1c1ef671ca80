"""XLSX, XLSM and XLSB: sheets by calamine, numbers as they are shown."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterable, Iterator

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.number_formats import CellValue, NumberFormat, parse_format, show_value
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.sheets import MAX_ROWS, SheetReader, workbook_fault
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.tables_below import Row
from quoth.ingest.readers.xml_parts import Element, attribute, below
from quoth.ingest.readers.zip_container import ZipContainer, open_container

PANIC = "PanicException"
"""What calamine raises over some damaged files; it is no Exception and cannot be imported."""
MAX_FORMATTED = 500_000
"""Cells whose format is looked up."""

_CELL = re.compile(rb"<(?:\w+:)?c\s(?=[^<>]*\sr=|r=)[^<>]*>")
_ATTRIBUTE = re.compile(rb'\b(r|s|t)="([A-Z]{0,3}\d{1,7}|e)"')
_ERROR = re.compile(
    rb"\s*(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>([^<]{1,30})<"
)
"""What follows the cell of an error: its formula, and what is shown, such as "#DIV/0!"."""
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
Shown = dict[tuple[int, int], NumberFormat | str]
"""By row and column: the format of a number, or the text of an error, which calamine leaves out."""


def read_spreadsheet(file: SourceFile) -> ParsedDocument:
    """Read a workbook, sheet by sheet; raises DocumentError."""
    container = open_container(file.data, name=file.name)
    container.check_xml()
    reader = SheetReader()
    try:
        blocks = list(_sheets(file, container, reader))
    except (CalamineError, ValueError, OSError, IndexError, OverflowError) as error:
        raise workbook_fault(file.name, error) from None
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        raise workbook_fault(file.name, error) from None
    meta = office_properties(container)
    return file.document("table", assemble(blocks), meta=meta, warnings=reader.warnings)


def _sheets(file: SourceFile, container: ZipContainer, reader: SheetReader) -> Iterator[Block]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(file.data))
    known = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    reader.say_hidden([each.name for each in known if each.visible != SheetVisibleEnum.Visible])
    for each in known:
        sheet = book.get_sheet_by_name(each.name)
        own = sheet_cells(container, each.name)
        yield from reader.blocks(_rows(sheet, own), sheet=each.name)


def _rows(sheet: CalamineSheet, shown: Shown) -> Iterator[Row]:
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        yield (
            number,
            [
                _shown(value, shown.get((number, column)))
                for column, value in enumerate(cells, start=1)
            ],
        )


def _shown(value: CellValue, own: NumberFormat | str | None) -> str:
    return own if isinstance(own, str) else show_value(value, own)


def sheet_cells(container: ZipContainer, sheet: str) -> Shown:
    """Return how cells of a sheet are shown, nothing where that cannot be had."""
    try:
        member = _member_of(container, sheet)
        data = container.read(member) if member else b""
    except DocumentError:
        return {}
    forms = _formats(container)
    found: Shown = {}
    for cell in _CELL.finditer(data):
        parts = {each[1]: each[2].decode() for each in _ATTRIBUTE.finditer(cell[0])}
        place = _REFERENCE.fullmatch(parts.get(b"r", ""))
        style = parts.get(b"s", "0")
        form: NumberFormat | str | None
        form = forms[int(style)] if style.isdecimal() and int(style) < len(forms) else None
        if b"t" in parts and (error := _ERROR.match(data, cell.end())):
            form = error[1].decode("utf-8", "replace")
        if form is not None and place is not None:
            found[int(place[2]), _column(place[1])] = form
        if len(found) >= MAX_FORMATTED or (place and int(place[2]) > MAX_ROWS):
            break
    return found


def _formats(container: ZipContainer) -> list[NumberFormat | None]:
    """Return the number formats of a workbook by the numbers of its styles."""
    try:
        styles = container.xml("xl/styles.xml")
    except DocumentError:
        return []
    codes = {
        int(attribute(each, "numFmtId") or 0): attribute(each, "formatCode")
        for each in below(styles, "numFmt")
    }
    cells: Iterable[Element] = next(below(styles, "cellXfs"), ())
    return [parse_format(int(attribute(each, "numFmtId") or 0), codes) for each in cells]


def _member_of(container: ZipContainer, sheet: str) -> str | None:
    """Return the part that holds a sheet."""
    targets = container.relations("xl/_rels/workbook.xml.rels")
    for each in below(container.xml("xl/workbook.xml"), "sheet"):
        if attribute(each, "name") == sheet:
            target = targets.get(attribute(each, "id"), "")
            path = target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)
            return path if container.has(path) else None
    return None


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number
