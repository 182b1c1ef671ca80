"""Sheets as text: rows as "column: value", within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from quoth.core.errors import DocumentError
from quoth.ingest.readers.blocks import Block, counted, to_plain_text
from quoth.ingest.readers.rows import row_text
from quoth.ingest.readers.source_file import password_error
from quoth.ingest.readers.tables_below import Row, with_names

MAX_ROWS = 20_000
"""Rows that are read of one file."""
MAX_CHARACTERS = 4_000_000
"""Characters of all rows of one file."""
MAX_CELL = 2_000


@dataclass(slots=True)
class SheetReader:
    """Turns the sheets of one file into blocks, and counts what it reads."""

    rows: int = 0
    characters: int = 0
    warnings: list[str] = field(default_factory=list)

    def say_hidden(self, sheets: Sequence[str]) -> None:
        """Warn that these sheets, which the program does not show, are read."""
        if sheets:
            names = ", ".join(sheets[:9])
            self.warnings.append(f"Hidden sheets, which are read, too: {names}.")

    def blocks(
        self, rows: Iterable[Row], *, sheet: str | None = None, header: Sequence[str] | None = None
    ) -> Iterator[Block]:
        """Return the rows of a sheet below its name; ``header`` are its columns where known."""
        if sheet:
            yield Block(to_plain_text(sheet), level=1, place=counted("row", 1))
        filled = ((number, cells) for number, cells in map(_clean, rows) if cells)
        named = with_names(filled) if header is None else ((row, header) for row in filled)
        for (number, cells), titles in named:
            if self._is_full(number, sheet):
                break
            text = row_text(cells, titles)
            self.rows += 1
            self.characters += len(text)
            yield Block(text, place=counted("row", number))

    def _is_full(self, number: int, sheet: str | None) -> bool:
        full = self.rows >= MAX_ROWS or self.characters >= MAX_CHARACTERS
        if full:
            name = f"'{sheet}'" if sheet else "the table"
            self.warnings.append(
                f"The file has more than is read at most ({MAX_ROWS:,} rows or "
                f"{MAX_CHARACTERS:,} characters): {name} is read up to row {number - 1:,}."
            )
        return full


def workbook_fault(name: str, error: BaseException) -> DocumentError:
    """Return the error for a workbook that its library cannot open."""
    if "password" in str(error).lower() or "encrypted" in str(error).lower():
        return password_error(name)
    return DocumentError(
        "damaged", f"{name} cannot be read as a workbook ({error}); save it again."
    )


def _clean(row: Row) -> Row:
    """Return a row without the empty cells at its end."""
    number, cells = row
    clean = [to_plain_text(cell)[:MAX_CELL] for cell in cells]
    while clean and not clean[-1]:
        clean.pop()
    return number, clean
