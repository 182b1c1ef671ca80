"""Rows of tables as text: each cell with the header of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quoth.core.types import Chars, Pages
from quoth.ingest.readers.blocks import Block, to_plain_text, under_header

CELL_GAP = " | "
MAX_HEADER = 80
"""Characters of the header of a column."""

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
    numbers = [name for name in names if _NUMBER.fullmatch(name)]
    is_corner = not cells[0] and bool(below[0])
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(name and len(name) <= MAX_HEADER for name in names)
        and (not numbers or is_corner or _are_years(numbers))
    )


def _are_years(numbers: Sequence[str]) -> bool:
    in_order = sorted(numbers) in (list(numbers), list(reversed(numbers)))
    return len(numbers) > 1 and in_order and all(map(_YEAR.fullmatch, numbers))


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
