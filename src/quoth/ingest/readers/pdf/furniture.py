"""What a PDF repeats from page to page: running heads and feet, page numbers, margin numbers.

All of it is recognised by repetition, never by words: the same text (numbers aside) at the same
height, numbers that grow with the pages, numbers in the margin that grow with the lines. It is left
out of the stored text, so that a sentence over a page break is one sentence; a citation opens the
page, where it is still to be seen.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from quoth.ingest.readers.pdf.lines import PrintedLine
from quoth.text.numbers import roman_number, to_roman

ROUNDS = 3
"""Rows that a running head or foot may have."""
SLOT = 6.0
"""Points within which rows of two pages are at the same height."""
MIN_SHARE = 0.25
"""Share of the pages that have what is repeated: heads alternate, and openings have none."""
MIN_PURITY = 0.6
"""Share of the rows at a height that repeat something, for the others there to be heads too."""
LARGER = 1.15
"""Times the size of the text from which a row is a title."""
ALIGNED = 0.2
"""Font heights by which the edges of the cells of a column may differ."""
LONG = 25
"""Characters from which a piece of a line tells how wide the text is."""

_NUMBER = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]{3}")
_BARE_NUMBER = re.compile(
    r"\W*+(?:page|seite|p\.?)?\s*+(\d+|[ivxlcdm]+)(?:\s*+(?:/|of|sur|von)\s*+\d+)?\W*", re.I
)
_OUTER_NUMBER = re.compile(r"^\W*(\d{1,4}|[ivxlc]{1,7})(?=\s)|(?<=\s)(\d{1,4}|[ivxlc]{1,7})\W*$")
_LINE_NUMBER = re.compile(r"\d{1,5}")

Row = list[PrintedLine]


@dataclass(slots=True)
class Furniture:
    """The pieces of lines to leave out, and the page numbers printed, by 1-based PDF page."""

    pieces: set[PrintedLine] = field(default_factory=set)
    folios: dict[int, str] = field(default_factory=dict)


def find_furniture(
    pages: Mapping[int, Sequence[PrintedLine]], *, labels: Mapping[int, str], body: float
) -> Furniture:
    """Find what is repeated; ``pages`` hold pieces of lines, ``body`` is the size of the text.

    Where most pages have only one row, that row is the text, and is kept.
    """
    found = Furniture()
    found.pieces |= _in_margins(pages, body=body)
    rows = {
        page: _rows([piece for piece in pieces if piece not in found.pieces])
        for page, pieces in pages.items()
    }
    may_empty = 2 * sum(len(page_rows) > 1 for page_rows in rows.values()) > len(rows)
    for top in (True, False):
        for _ in range(ROUNDS):
            edges = {
                page: page_rows[0 if top else -1]
                for page, page_rows in rows.items()
                if len(page_rows) > (0 if may_empty else 1)
                and not _is_listed(page_rows if top else page_rows[::-1])
            }
            numbers = _page_numbers(edges)
            gone = _repeated(edges, rows, numbers=numbers, labels=labels, body=body)
            if not gone:
                break
            for page in gone:
                found.pieces.update(rows[page].pop(0 if top else -1))
                if page in numbers:
                    found.folios.setdefault(page, numbers[page])
    return found


def _rows(pieces: Sequence[PrintedLine]) -> list[Row]:
    """Return the pieces by height, from the top, in the direction of most of the page."""
    turns = Counter(piece.turn for piece in pieces)
    upright = [piece for piece in pieces if piece.turn == max(turns, key=turns.__getitem__)]
    rows: list[Row] = []
    for piece in sorted(upright, key=lambda piece: -piece.baseline):
        if rows and rows[-1][0].baseline - piece.baseline < 0.5 * min(rows[-1][0].size, piece.size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda piece: piece.x0) for row in rows]


# --- heads and feet -----------------------------------------------------------------------------


def _repeated(
    edges: Mapping[int, Row],
    rows: Mapping[int, Sequence[Row]],
    *,
    numbers: Mapping[int, str],
    labels: Mapping[int, str],
    body: float,
) -> set[int]:
    """Return the pages whose outermost row is furniture.

    Known is a row with a page number, or with words that are at this height of other pages too.
    Where a height has many known rows and few others, the others there are heads as well (of a
    section that has one page), if they stand apart from the text.
    """
    heights = {page: round(row[0].baseline / SLOT) for page, row in edges.items()}
    shared: dict[tuple[str, int], list[int]] = defaultdict(list)
    for page, row in edges.items():
        for key in _keys(row):
            shared[key, heights[page]].append(page)
    known: set[int] = set()
    gone: set[int] = set()
    for page, row in edges.items():
        label = labels.get(page, "")
        # The number of the first chapter may stand above its title, on page 1.
        large = max(piece.size for piece in row) > LARGER * body
        if not large and _is_page_number(row, page=page, label=label):
            gone.add(page)
        if page in gone or page in numbers or _is_shared(page, row, heights[page], shared):
            known.add(page)
    everywhere, repeats = Counter(heights.values()), Counter(heights[page] for page in known)
    for page, row in edges.items():
        slots = (heights[page] - 1, heights[page], heights[page] + 1)
        there, alike = (sum(each[slot] for slot in slots) for each in (everywhere, repeats))
        if alike < max(3, MIN_SHARE * len(edges)) or alike < MIN_PURITY * there:
            continue
        if page in known or _stands_apart(rows[page], row, body=body):
            gone.add(page)
    return gone


def _keys(row: Row) -> Iterator[str]:
    """Return the words of each piece of a row, numbers aside."""
    for piece in row:
        if _LETTERS.search(piece.text):
            yield _NUMBER.sub("#", piece.text.casefold())


def _is_listed(rows: Sequence[Row]) -> bool:
    """Return whether the first of the rows is one of a table or list that the next rows go on.

    Those have the same words (numbers aside), or cells that begin or end at the same places and
    are as far apart; a row of names above the columns is up to twice as far.
    """
    if len(rows) < 3:
        return False
    outer, inner, third = rows[:3]
    if set(_keys(outer)) & set(_keys(inner)) & set(_keys(third)):
        return True
    first, second = (
        abs(a[0].baseline - b[0].baseline) for a, b in ((outer, inner), (inner, third))
    )
    columns = sum(_is_above(cell, inner) and _is_above(cell, third) for cell in outer)
    if columns >= max(3, len(outer) - 1):
        return first < 2 * second
    return columns == len(outer) == 2 and abs(first - second) < 0.1 * second


def _is_above(cell: PrintedLine, row: Row) -> bool:
    """Return whether a row has a cell that begins or ends where one above it does."""
    return any(
        min(abs(cell.x0 - other.x0), abs(cell.x1 - other.x1)) < ALIGNED * cell.size for other in row
    )


def _is_shared(
    page: int, row: Row, height: int, shared: Mapping[tuple[str, int], Sequence[int]]
) -> bool:
    for key in _keys(row):
        same = [p for slot in (-1, 0, 1) for p in shared.get((key, height + slot), ())]
        if len(same) >= 3 or any(0 < abs(other - page) <= 2 for other in same):
            return True
    return False


def _stands_apart(rows: Sequence[Row], row: Row, *, body: float) -> bool:
    if max(piece.size for piece in row) > LARGER * body or len(rows) < 3:
        return False
    drops = [above[0].baseline - below[0].baseline for above, below in pairwise(rows)]
    return (drops[0] if row is rows[0] else drops[-1]) > 1.25 * median(drops)


def _is_page_number(row: Row, *, page: int, label: str) -> bool:
    found = _BARE_NUMBER.fullmatch(" ".join(piece.text for piece in row))
    return bool(found) and found[1].casefold() in (str(page), label.casefold())  # type: ignore[index]


# --- printed page numbers -----------------------------------------------------------------------


def _page_numbers(edges: Mapping[int, Row]) -> dict[int, str]:
    """Return the numbers at the outer ends of the rows that grow as the pages do."""
    candidates = {page: tuple(_outer_numbers(row)) for page, row in edges.items()}
    votes = Counter(
        (text.isdecimal(), value - page)
        for page, numbers in candidates.items()
        for text, value in dict(numbers).items()
    )
    found: dict[int, str] = {}
    for page, numbers in candidates.items():
        best = max(
            numbers, key=lambda each: votes[each[0].isdecimal(), each[1] - page], default=None
        )
        if best and votes[best[0].isdecimal(), best[1] - page] >= 3:
            found[page] = best[0]
    return found


def _outer_numbers(row: Row) -> Iterator[tuple[str, int]]:
    """Return the first and last number of a row, as printed and as a number."""
    whole = " ".join(piece.text for piece in row)
    bare = _BARE_NUMBER.fullmatch(whole)
    texts = [bare[1]] if bare else [a or b for a, b in _OUTER_NUMBER.findall(whole)]
    for text in texts:
        value = int(text) if text.isdecimal() else roman_number(text.casefold())
        if value:
            yield text, value


def printed_labels(folios: Mapping[int, str], *, pages: int) -> dict[int, str]:
    """Return the label of every page from the numbers that were read on some of them.

    A page without one, such as the first of a chapter, counts on from the page before it, else
    back from the one after; those before the first are cited as "[3]", the third page of the file.
    Empty where the pages have no numbers, or those that the file counts.
    """
    labels: dict[int, str] = {}
    counted = all(folio == str(page) for page, folio in folios.items())
    if counted or len(folios) < max(3, MIN_SHARE * pages):
        return labels
    for page in range(1, pages + 1):
        labels[page] = folios.get(page) or _next_number(labels.get(page - 1, ""), step=1)
    for page in range(pages, 0, -1):
        labels[page] = labels[page] or _next_number(labels.get(page + 1, ""), step=-1)
    return {page: label or f"[{page}]" for page, label in sorted(labels.items())}


def _next_number(label: str, *, step: int) -> str:
    if label.isdecimal():
        return str(int(label) + step) if int(label) + step > 0 else ""
    value = roman_number(label.casefold()) if label else None
    return to_roman(value + step) if value and value + step > 0 else ""


# --- margins ------------------------------------------------------------------------------------


def _in_margins(pages: Mapping[int, Sequence[PrintedLine]], *, body: float) -> set[PrintedLine]:
    """Return what is beside the text on many pages: the same at the same height, or line numbers.

    Text turned against most of its page counts as beside it.
    """
    beside = {page: _beside(pieces, body=body) for page, pieces in pages.items()}
    same: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page, pieces in beside.items():
        for piece in pieces:
            slot = round(piece.baseline / SLOT)
            for near in (slot - 1, slot, slot + 1):
                same[piece.text, near].add(page)
    least = max(3, MIN_SHARE * len(pages))
    found: set[PrintedLine] = set()
    counted: set[PrintedLine] = set()
    counting = 0
    for pieces in beside.values():
        for piece in pieces:
            if len(same[piece.text, round(piece.baseline / SLOT)]) >= least:
                found.add(piece)
        numbered = _line_numbers(pieces)
        counting += bool(numbered)
        counted.update(numbered)
    return found | counted if counting >= least else found


def _beside(pieces: Sequence[PrintedLine], *, body: float) -> list[PrintedLine]:
    """Return the pieces left and right of the text of their page, and those turned against it.

    The cells of a page that is a table are not beside the few words that are longer.
    """
    turns = Counter(piece.turn for piece in pieces)
    turn = max(turns, key=turns.__getitem__)
    long = [
        piece
        for piece in pieces
        if piece.turn == turn and len(piece.text) >= LONG and piece.size > 0.85 * body
    ]
    if not long:
        return []
    if _is_table(pieces, long=long):
        return [piece for piece in pieces if piece.turn != turn]
    left, right = min(piece.x0 for piece in long), max(piece.x1 for piece in long)
    return [piece for piece in pieces if piece.turn != turn or piece.x1 < left or piece.x0 > right]


def _is_table(pieces: Sequence[PrintedLine], *, long: Sequence[PrintedLine]) -> bool:
    """Return whether most rows have three cells, and most characters are in short ones."""
    short = sum(len(piece.text) for piece in pieces) > 2 * sum(len(piece.text) for piece in long)
    rows = _rows(pieces) if short else []
    return 2 * sum(len(row) >= 3 for row in rows) > len(rows)


def _line_numbers(pieces: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the numbers that grow evenly down the page, three at least."""
    numbers = [piece for piece in pieces if _LINE_NUMBER.fullmatch(piece.text)]
    numbers.sort(key=lambda piece: -piece.baseline)
    pitches = [
        (above.baseline - below.baseline) / (int(below.text) - int(above.text))
        for above, below in pairwise(numbers)
        if int(below.text) > int(above.text)
    ]
    if len(pitches) < max(2, 0.8 * (len(numbers) - 1)):
        return []
    usual = median(pitches)
    even = sum(abs(pitch - usual) < 0.15 * usual for pitch in pitches)
    return numbers if even >= 0.8 * len(pitches) else []
