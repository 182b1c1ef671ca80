"""Tables of a PDF page: lines whose pieces stand in columns, each cell with the name of its column.

A table is told by its form alone. White space down the page parts its pieces into columns; its
first row names all of them, in words; below at least one name are numbers. So columns of prose,
lists of contents and indexes are none, and neither are tables without numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from quoth.core.types import Box
from quoth.ingest.readers.pdf.lines import (
    PrintedLine,
    Row,
    Spot,
    column_gaps,
    column_of,
    printed_rows,
)
from quoth.ingest.readers.rows import CELL_GAP, is_header, is_number

MIN_ROWS, MAX_ROWS, MAX_COLUMNS = 3, 200, 40
"""Lines and columns of a table on a page; drawings have more."""
MAX_ABOVE = 20
"""Rows among which that of the names is looked for."""
LONG_CELL = 30.0
"""Characters of most cells of a column; lines of prose beside a table are longer."""
MOST = 0.6
"""Share of the rows that have a first cell, and of those with a number in a column of numbers."""
MAX_PITCH = 3.5
"""Font heights between two lines of a table."""
MOST_SIZES = 3
"""Distances of lines that are tried."""
WIDER = 1.15
"""Times the distance of lines of one row from which lines are of two."""

_LEADERS = re.compile(r"(?:\. ?){3}")


@dataclass(frozen=True, slots=True)
class _Cell:
    pieces: tuple[PrintedLine, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(piece.text + piece.hyphen for piece in self.pieces)

    @property
    def is_number(self) -> bool:
        return len(self.pieces) == 1 and is_number(self.pieces[0].text)

    def length(self) -> int:
        return len(self.text)

    def spots(self) -> Iterator[Spot]:
        for number, piece in enumerate(self.pieces):
            if number:
                yield " ", None
            yield piece.text + piece.hyphen, piece.box


_TableRow = tuple[_Cell, ...]
_Column = tuple[float, float]
"""The left and right edges of a column, in points."""


def with_tables(pieces: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the pieces of a page, those of each table replaced by its rows, from top to bottom.

    A table may extend over the whole page or stand in a column of it.
    """
    kept = _replaced(pieces, pieces)
    gutters = column_gaps([piece for piece in kept if not piece.cells])
    for number in range(1, len(gutters) + 2) if gutters else ():
        own = [each for each in kept if not each.cells and column_of(each, gutters) == number]
        kept = _replaced(kept, own)
    return kept


def _replaced(pieces: Sequence[PrintedLine], part: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return pieces with the rows of the tables of a part of them."""
    rows_at: dict[PrintedLine, list[PrintedLine]] = {}
    gone: set[PrintedLine] = set()
    for lines, columns in _regions(printed_rows(part)):
        table = _table(lines, columns)
        own = {piece for row in table for cell in row for piece in cell.pieces}
        gone |= own
        if own:
            rows_at[next(piece for piece in pieces if piece in own)] = list(_row_lines(table))
    return [
        line for piece in pieces for line in rows_at.get(piece, () if piece in gone else (piece,))
    ]


# --- regions ------------------------------------------------------------------------------------


def _regions(lines: Sequence[Row]) -> Iterator[tuple[list[Row], list[_Column]]]:
    """Return runs of lines with the columns into which white space down the page parts them."""
    region: list[Row] = []
    columns: list[_Column] = []
    for line in lines:
        if region and not (_is_near(region[-1], line) and _fits(line, columns)):
            yield region, columns
            # The top of a name may stand alone above a column.
            region = region[-1:] if len(region[-1]) == 1 and _is_near(region[-1], line) else []
            columns = _columns(region[0]) if region else []
            if not _fits(line, columns):
                region, columns = [], []
        region.append(line)
        columns = _columns(line, columns)
    if region:
        yield region, columns


def _is_near(line: Row, below: Row) -> bool:
    return _pitch(line, below) < MAX_PITCH * max(line[0].size, below[0].size)


def _pitch(line: Row, below: Row) -> float:
    """Return the distance of two lines in points."""
    upper, lower = (median(piece.baseline for piece in each) for each in (line, below))
    return upper - lower


def _columns(line: Row, known: Sequence[_Column] = ()) -> list[_Column]:
    """Return the columns, from left to right, with those of a line more."""
    columns: list[_Column] = []
    for left, right in sorted([*known, *((piece.x0, piece.x1) for piece in line)]):
        if columns and left < columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _is_in(piece: PrintedLine, column: _Column) -> bool:
    return piece.x0 < column[1] and column[0] < piece.x1


def _fits(line: Row, columns: Sequence[_Column]) -> bool:
    """Return whether no piece crosses white space, and each column has one piece at most."""
    if max(len(line), len(columns)) > MAX_COLUMNS:
        return False
    there = [(piece, column) for piece in line for column in columns if _is_in(piece, column)]
    return len({piece for piece, _ in there}) == len({column for _, column in there}) == len(there)


# --- rows ---------------------------------------------------------------------------------------


def _table(lines: Sequence[Row], columns: Sequence[_Column]) -> list[_TableRow]:
    """Return the rows of a table from that of the names on, none if it is not one."""
    fits = MIN_ROWS <= len(lines) <= MAX_ROWS and 2 <= len(columns) <= MAX_COLUMNS
    if not fits or any(piece.code or piece.words for piece in lines[-1]):
        return []
    for groups in (*_by_pitch(lines), _by_first_column(lines, columns)):
        rows = [_cells(group, columns) for group in groups]
        texts = [[cell.text for cell in row] for row in rows]
        for at, (names, below) in enumerate(pairwise(texts[:MAX_ABOVE])):
            if _are_names(names, below) and _has_numbers(rows[at + 1 :]):
                return _with_names_above(rows, at)
    return []


def _with_names_above(rows: Sequence[_TableRow], at: int) -> list[_TableRow]:
    """Return the rows from that of the names on, with the lines above it that begin none."""
    first = at
    while first and not rows[first - 1][0].pieces:
        first -= 1
    columns = zip(*rows[first : at + 1], strict=True)
    names = [_Cell(tuple(piece for cell in cells for piece in cell.pieces)) for cells in columns]
    return [tuple(names), *rows[at + 1 :]]


def _are_names(texts: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether a row names the columns.

    No name begins with a number, as data do, or has dots that lead to one, as entries of an index.
    """
    return is_header(texts, below) and not any(
        (text[:1].isdigit() and not is_number(text)) or _LEADERS.search(text) for text in texts
    )


def _by_pitch(lines: Sequence[Row]) -> Iterator[list[list[Row]]]:
    """Part rows at the larger distances of lines, for each size that distances may be larger than.

    The most distinct sizes come first.
    """
    pitches = [_pitch(above, below) for above, below in pairwise(lines)]
    steps = [(large / max(small, 0.1), large) for small, large in pairwise(sorted(pitches))]
    for ratio, least in sorted(steps, reverse=True)[:MOST_SIZES]:
        if ratio < WIDER:
            return
        groups = [[lines[0]]]
        for pitch, line in zip(pitches, lines[1:], strict=True):
            if pitch < least:
                groups[-1].append(line)
            else:
                groups.append([line])
        yield groups


def _by_first_column(lines: Sequence[Row], columns: Sequence[_Column]) -> list[list[Row]]:
    """Let each line be a row; one without a first cell and without numbers goes on in the last.

    One that is nearer to the next line belongs to that: the first line of a name.
    """
    groups: list[list[Row]] = []
    for at, line in enumerate(lines):
        begins = not groups or any(
            _is_in(piece, columns[0]) or is_number(piece.text) for piece in line
        )
        below = _pitch(line, lines[at + 1]) if lines[at + 1 :] else math.inf
        if begins or _pitch(lines[at - 1], line) > WIDER * below:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _cells(group: Sequence[Row], columns: Sequence[_Column]) -> _TableRow:
    return tuple(
        _Cell(tuple(piece for line in group for piece in line if _is_in(piece, column)))
        for column in columns
    )


def _has_numbers(rows: Sequence[_TableRow]) -> bool:
    """Return whether cells are short, most rows begin with one, and a later column has numbers."""
    if len(rows) < MIN_ROWS - 1:
        return False
    columns = [[cell for cell in column if cell.pieces] for column in zip(*rows, strict=True)]
    numbers = max(sum(cell.is_number for cell in cells) for cells in columns[1:])
    if min(len(columns[0]), numbers) < MOST * len(rows):
        return False
    return all(not cells or median(map(_Cell.length, cells)) <= LONG_CELL for cells in columns)


def _row_lines(rows: Sequence[_TableRow]) -> Iterator[PrintedLine]:
    """Return each row as a line: "Size: 3 MB | Price: 4 €", each cell at its place."""
    names = rows[0]
    for row in rows:
        spots: list[Spot] = []
        for name, cell in zip(names, row, strict=True):
            if not cell.pieces:
                continue
            spots += [(CELL_GAP, None)] if spots else []
            if row is not names and name.pieces:
                spots.append((f"{name.text}: ", None))
            spots += cell.spots()
        pieces = [piece for cell in row for piece in cell.pieces]
        first, boxes = pieces[0], [piece.box for piece in pieces]
        yield replace(
            first,
            text="".join(text for text, _box in spots),
            box=Box(
                first.page,
                min(box.x0 for box in boxes),
                min(box.y0 for box in boxes),
                max(box.x1 for box in boxes),
                max(box.y1 for box in boxes),
            ),
            x0=min(piece.x0 for piece in pieces),
            y0=min(piece.y0 for piece in pieces),
            x1=max(piece.x1 for piece in pieces),
            y1=max(piece.y1 for piece in pieces),
            hyphen="",
            row=True,
            cells=tuple(spots),
        )
