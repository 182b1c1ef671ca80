"""Sheets as text: rows as "column: value", within bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from quoth.core.errors import DocumentError
from quoth.ingest.readers.blocks import Block, counted, to_plain_text
from quoth.ingest.readers.rows import is_header, is_number, row_text

MAX_ROWS = 20_000
"""Rows that are read of one file."""
MAX_CHARACTERS = 4_000_000
"""Characters of all rows of one file."""
MAX_CELL = 2_000
LOOK_AHEAD = 10
"""Rows at the top of a sheet among which the header is looked for."""

Row = tuple[int, Sequence[str]]
"""The number of a row, as its program counts it, and its cells as people see them."""


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
        top: list[Row] = []
        titles: Sequence[str] | None = header
        for number, cells in rows:
            if self._is_full(number, sheet):
                break
            clean = _trimmed([to_plain_text(cell)[:MAX_CELL] for cell in cells])
            if not clean:
                continue
            if titles is None and len(top) < LOOK_AHEAD:
                top.append((number, clean))
                continue
            if titles is None:
                titles = yield from self._top(top)
            yield from self._row(number, clean, titles)
        if titles is None:
            yield from self._top(top)

    def _top(self, top: Sequence[Row]) -> Generator[Block, None, Sequence[str]]:
        """Return the first rows; the header is the first row that looks like one."""
        titles: Sequence[str] = ()
        rows = [cells for _, cells in top]
        for at, (number, cells) in enumerate(top):
            shown = titles
            if not titles:
                titles = _header(cells, above=rows[at - 1] if at else (), below=rows[at + 1 :])
            yield from self._row(number, cells, shown)
        return titles

    def _row(self, number: int, cells: Sequence[str], titles: Sequence[str]) -> Iterator[Block]:
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
        return DocumentError(
            "encrypted", f"{name} is protected by a password; save a copy without one and add that."
        )
    return DocumentError(
        "damaged", f"{name} cannot be read as a workbook ({error}); save it again."
    )


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


def _trimmed(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells
