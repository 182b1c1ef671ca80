"""Tables one below the other in a sheet: each row with the names of its own columns."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from quoth.ingest.readers.rows import is_header, is_number, is_year

LOOK_AHEAD = 10
"""Rows at the top of a sheet among which the header is looked for, and rows below a row."""

_UNKNOWN = re.compile(r"\W*|n/?a|nan", re.IGNORECASE)
"""A cell without a value."""

Row = tuple[int, Sequence[str]]
"""The number of a row, as its program counts it, and its cells as people see them."""


@dataclass(slots=True)
class _ReadTable:
    """A table as far as it is read: the names of its columns, and what its rows are like."""

    names: Sequence[str] = ()
    kinds: dict[int, set[str]] = field(default_factory=dict)
    """By column: text, number or year."""
    widths: set[int] = field(default_factory=set)

    def begin(self, names: Sequence[str]) -> None:
        """Set the names of the columns; rows above them are titles."""
        self.names, self.kinds, self.widths = names, {}, {len(names)}

    def add(self, cells: Sequence[str]) -> None:
        """Learn what the rows are like; a row of one cell is the title of a group."""
        if _filled(cells) > 1:
            self.widths.add(len(cells))
            for at, cell in enumerate(cells):
                if cell:
                    self.kinds.setdefault(at, set()).add(_kind(cell))

    def is_like(self, rows: Sequence[Sequence[str]]) -> bool:
        """Return whether rows have as many columns as this table, and mostly of the same kinds."""
        widths = Counter(len(row) for row in rows if _filled(row) > 1)
        if not widths:
            return False
        width = widths.most_common(1)[0][0]
        is_as_wide = not self.kinds or width >= min(self.widths)
        return is_as_wide and width <= max(self.widths, default=0) and self._has_kinds(rows)

    def _has_kinds(self, rows: Sequence[Sequence[str]]) -> bool:
        full = [row for row in rows if _filled(row) > 1]
        for at, seen in self.kinds.items():
            cells = (row[at] for row in full if row[at : at + 1])
            numbers = [is_number(cell) for cell in cells if not _UNKNOWN.fullmatch(cell)]
            texts = len(numbers) - sum(numbers)
            if 2 * texts < len(numbers) and seen == {"text"}:
                return False
            if 2 * texts > len(numbers) and "text" not in seen:
                return False
        return True

    def is_other_header(self, names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
        """Return whether a row that looks like a header is that of another table.

        It repeats a name, or it or the rows below are unlike the rows of this table. Two columns of
        text are not clear: they may be names and their values.
        """
        if any(name and name == own for name, own in zip(names, self.names, strict=False)):
            return True
        columns = [[row[at] for row in below if row[at : at + 1]] for at in range(len(names))]
        is_above_numbers = any(
            name and not is_number(name) and any(cells) and all(map(is_number, filter(None, cells)))
            for name, cells in zip(names, columns, strict=True)
        )
        has_new_years = any(
            is_year(name) and "year" not in self.kinds.get(at, {"year"})
            for at, name in enumerate(names)
        )
        is_clear = is_above_numbers or _filled(names) > 2
        return has_new_years or (
            is_clear and not (self._has_kinds([names]) and self.is_like(below))
        )


def with_names(rows: Iterable[Row]) -> Iterator[tuple[Row, Sequence[str]]]:
    """Return each row with the names of its columns, none where they are not known.

    The first header is looked for at the top of the sheet. An empty row may end a table: a row
    below it that looks like a header begins another, and rows unlike the table have no names.
    """
    table, search, step, last = _ReadTable(), LOOK_AHEAD, 0, 0
    is_first = is_like = True
    is_title = False
    above: Sequence[str] = ()
    for (number, cells), ahead in _ahead(rows):
        step = step or _step([number, *(each for each, _ in ahead)])
        part = _part((number, cells), ahead, step=step)
        if last and number - last > step and (table.names or not search):
            is_title, above = True, ()
            is_like = table.is_like(part)
            if _begins_table(table, part, after=ahead[len(part) - 1 :]):
                table, search, is_first, is_like = _ReadTable(), LOOK_AHEAD, False, True
        last = number
        is_title = is_title and _filled(cells) == 1
        yield (number, cells), table.names if is_like and not is_title else ()
        below = [each for _, each in ahead]
        names: Sequence[str] = ()
        if not table.names and search:
            search -= 1
            names = _header(cells, above=above, below=below if is_first else part[1:] or below)
        if names:
            table.begin(names)
        elif is_like:
            table.add(cells)
        above = cells


def _begins_table(
    table: _ReadTable, part: Sequence[Sequence[str]], *, after: Sequence[Row]
) -> bool:
    """Return whether the rows below an empty row begin with a header, alone or below titles."""
    for at, cells in enumerate(part):
        below = part[at + 1 :] or [each for _, each in after]
        names = _header(cells, above=part[at - 1] if at else (), below=below)
        if names:
            is_below_titles = all(_filled(each) < _filled(cells) for each in part[:at])
            return is_below_titles and table.is_other_header(names, below)
    return False


def _part(row: Row, ahead: Sequence[Row], *, step: int) -> list[Sequence[str]]:
    """Return a row and those below it up to an empty row."""
    pairs = takewhile(lambda pair: pair[1][0] - pair[0][0] <= step, pairwise((row, *ahead)))
    return [row[1], *(cells for _, (_, cells) in pairs)]


def _step(numbers: Sequence[int]) -> int:
    """Return how far rows are apart where none is empty: 2 where every other row is."""
    return min((two - one for one, two in pairwise(numbers)), default=1)


def _ahead(rows: Iterable[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """Return each row with the next ones."""
    window: deque[Row] = deque()
    for row in rows:
        window.append(row)
        if len(window) > LOOK_AHEAD:
            yield window.popleft(), list(window)
    while window:
        yield window.popleft(), list(window)


def _filled(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _kind(cell: str) -> str:
    return "year" if is_year(cell) else "number" if is_number(cell) else "text"


def _header(
    cells: Sequence[str], *, above: Sequence[str], below: Sequence[Sequence[str]]
) -> Sequence[str]:
    """Return the names of the columns if a row tells them, alone or below a row of groups.

    A column that is empty here and below is none. What stands behind it is beside the table: a
    number there is no value of this row.
    """
    filled = [sum(map(bool, row)) for row in (cells, *below)]
    if not below or 2 * filled[0] <= max(filled[1:]):
        return ()
    used = {0} | {at for row in below for at, cell in enumerate(row) if cell}
    gap = next((at for at, cell in enumerate(cells) if not cell and at not in used), len(cells))
    columns = [
        at
        for at, cell in enumerate(cells)
        if at in used or (cell and (at < gap or not is_number(cell)))
    ]
    for names in (cells, _grouped(above, cells)):
        if names and is_header([names[at] for at in columns], below[0]):
            return names
    return ()


def _grouped(above: Sequence[str], cells: Sequence[str]) -> Sequence[str]:
    """Return the names of columns after those of the groups above them: "2023 Adults".

    A row without an empty cell behind the first one has no groups. Below groups names recur, also
    numbers: numbers none of which does are the values of the first row of a table.
    """
    groups = [*above, *[""] * len(cells)][: len(cells)]
    counts = Counter(filter(None, cells))
    numbers = [count for cell, count in counts.items() if is_number(cell)]
    if all(groups[1:]) or max(counts.values(), default=1) == 1 or set(numbers) == {1}:
        return ()
    found, group = [], ""
    for over, cell in zip(groups, cells, strict=True):
        group = over or group
        found.append(f"{group} {cell}".strip())
    return found
