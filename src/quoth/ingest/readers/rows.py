"""Rows of tables as text: each cell with the header of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from quoth.core.types import Chars, Pages
from quoth.ingest.readers.blocks import Block, to_plain_text, under_header
from quoth.text.locators import CELL_GAP

MAX_HEADER = 80
"""Characters of the header of a column, and of what is read again in each row that it spans."""
MAX_SPAN = 100
"""Columns or rows that a cell spans at most."""
MAX_COLUMNS = 1000
"""Columns of a row beyond which no cell spans more than its own."""

_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_NUMBER = re.compile(r"[-+(]?[\s.,:/%€$£-]*\d[\d\s.,:/%€$£)-]*")


def is_header(cells: Sequence[str], below: Sequence[str] | None) -> bool:
    """Return whether a row names the columns: short different texts, and rows below them.

    The first cell may be empty. Numbers are names behind an empty corner, and if they are years in
    their order.
    """
    if not cells or not below:
        return False
    names = cells if cells[0] else cells[1:]
    numbers = [name for name in names if is_number(name)]
    is_corner = not cells[0] and bool(below[0])
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(name and len(name) <= MAX_HEADER for name in names)
        and (not numbers or is_corner or _are_years(numbers))
    )


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, a date, a sum of money or the like."""
    return _NUMBER.fullmatch(cell) is not None


def is_year(cell: str) -> bool:
    """Return whether a cell is a number of four digits that may be a year."""
    return _YEAR.fullmatch(cell) is not None


def _are_years(numbers: Sequence[str]) -> bool:
    in_order = sorted(numbers) in (list(numbers), list(reversed(numbers)))
    return len(numbers) > 1 and in_order and all(map(is_year, numbers))


def row_text(cells: Sequence[str], header: Sequence[str]) -> str:
    """Return a row as "Size: 3 MB | Price: 4 €"; cells beyond the header are as they are."""
    own = list(cells) + [""] * (len(header) - len(cells))
    width = len(header) or len(own)
    named = under_header(own[:width], header) + own[width:]
    return CELL_GAP.join(filter(None, named))


def table_blocks(
    rows: Sequence[Sequence[str]], *, header: bool | None = None, place: Pages | Chars | None = None
) -> Iterator[Block]:
    """Return the rows of a table; whether the first is a header is guessed if None."""
    plain = [[to_plain_text(cell) for cell in row] for row in rows]
    titles: list[str] = []
    if plain and (
        is_header(plain[0], plain[1] if plain[1:] else None) if header is None else header
    ):
        titles = plain[0]
    for row in plain:
        text = row_text(row, titles)
        if text:
            yield Block(text, place=place)


@dataclass(slots=True)
class Cell:
    """A cell with the columns and rows that it spans, `MAX_SPAN` at most, and its texts."""

    columns: int = 1
    rows: int = 1
    is_header: bool = False
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Limit the spans, which files state in any size."""
        self.columns, self.rows = min(self.columns, MAX_SPAN), min(self.rows, MAX_SPAN)


@dataclass(slots=True)
class SpannedTable:
    """Rows of a table as they come, whose cells may span several rows and columns.

    A name spans the columns below it, a short text is read again in each row that it spans, and a
    cell that spans some of the columns is under the names of all of these.
    """

    header: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    above: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    """By column: what spans the next row, the name that it gives to the column, and its rows."""
    is_grouped: bool = False
    """Whether the row before is a header that names several columns at once."""

    def add(self, text: str) -> None:
        """Add a text to the last cell."""
        if not self.cells:
            self.cells.append(Cell())
        self.cells[-1].texts.append(text)

    def end_row(self) -> str:
        """Close the row; return it, each cell with the header of its column."""
        own, self.cells = self.cells, []
        is_header = len(own) > 1 and all(cell.is_header for cell in own)
        row: list[tuple[str, str, int]] = []
        wide: dict[int, int] = {}
        waiting = iter(own)
        while True:
            spanning = self.above.pop(len(row), None)
            cell = None if spanning else next(waiting, None)
            if spanning:
                row.append(spanning)
            elif cell:
                text = " ".join(cell.texts)
                more = min(cell.columns, MAX_COLUMNS - len(row)) - 1
                wide |= {len(row): more + 1} if more > 0 else {}
                row += [(text, text, cell.rows), *[("", text, cell.rows)] * more]
            else:
                break
        self.above = {
            at: ("" if is_header or len(text) > MAX_HEADER else text, name, rows - 1)
            for at, (text, name, rows) in enumerate(row)
            if rows > 1
        }
        texts = [text for text, _, _ in row]
        if is_header:
            names = zip_longest(
                self.header if self.is_grouped else (), (name for _, name, _ in row)
            )
            self.header = [" ".join(dict.fromkeys(filter(None, each))) for each in names]
        else:
            if len(texts) == len(self.header):
                names_of = list(self.header)
                for at, columns in wide.items():
                    names_of[at] = self._names(at, columns)
                texts = under_header(texts, names_of)
        self.is_grouped = is_header and any(cell.columns > 1 for cell in own)
        return CELL_GAP.join(filter(None, texts))

    def _names(self, at: int, columns: int) -> str:
        """Return the names of several columns; none where they are all, or all but one."""
        if columns >= len(self.header) - 1:
            return ""
        names = ", ".join(dict.fromkeys(filter(None, self.header[at : at + columns])))
        return names if len(names) <= MAX_HEADER else ""


def mark_header(rows: Sequence[Sequence[Cell]]) -> None:
    """Mark the cells of the rows that look like the names of the columns.

    A second row does that names each of the columns that cells of the first span, and no other.
    """
    texts = [[" ".join(cell.texts) for cell in row] for row in rows[:2]]
    if not texts or not is_header(texts[0], texts[1] if texts[1:] else None):
        return
    spanned = sum(cell.columns for cell in rows[0] if cell.columns > 1)
    named = [cell for cell, text in zip(rows[1], texts[1], strict=True) if text]
    has_names = (
        len(named) == spanned > 0
        and len(rows) > 2
        and all(cell.columns == 1 for cell in named)
        and all(len(text) <= MAX_HEADER and not is_number(text) for text in texts[1])
    )
    for cell in [*rows[0], *(rows[1] if has_names else ())]:
        cell.is_header = True


def spanned_blocks(rows: Sequence[Sequence[Cell]]) -> Iterator[Block]:
    """Return the rows of a table; its header is guessed where no cell is marked as one."""
    if not any(cell.is_header for row in rows for cell in row):
        mark_header(rows)
    table = SpannedTable()
    for row in rows:
        table.cells = list(row)
        if text := table.end_row():
            yield Block(text)
