"""Boxes of a page are read band by band, and columns within a band one after the other."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.ingest.readers.reading_order import MAX_BOXES, Rectangle, reading_order

PAGES = {
    "two columns below a heading": """
        a a a a a
        b b . d d
        b b . e e
        c c . e e
    """,
    "columns between wide paragraphs": """
        a a a
        b . c
        b . d
        e e e
        f . g
    """,
    "the left column begins below the right one": """
        . . c
        a . c
        b . d
    """,
    "cards that are as far apart both ways are read row by row": """
        a . b . c
        . . . . .
        d . e . f
    """,
    "columns that are further apart than their boxes": """
        a . c
        b . d
    """,
    "a column within a column": """
        a a . d d d
        b b . e e e
        b b . f . h
        c c . g . h
    """,
}


def _boxes(drawing: str) -> dict[str, Rectangle]:
    """Return the box around the cells of each letter."""
    spots: dict[str, list[tuple[int, int]]] = {}
    for down, line in enumerate(drawing.split("\n")):
        for across, letter in enumerate(line.split()):
            spots.setdefault(letter, []).append((across, down))
    spots.pop(".", None)
    return {
        letter: Rectangle(
            min(cells)[0],
            min(down for _, down in cells),
            max(cells)[0] + 1,
            max(down for _, down in cells) + 1,
        )
        for letter, cells in sorted(spots.items())
    }


@pytest.mark.parametrize("page", PAGES)
def test_columns_are_read_one_after_the_other(page: str) -> None:
    boxes = _boxes(PAGES[page])
    drawn = list(boxes)
    random.Random(1).shuffle(drawn)
    order = reading_order([boxes[letter] for letter in drawn])
    assert "".join(drawn[at] for at in order) == "".join(boxes)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), max_size=30))
def test_every_box_is_read_once(edges: list[tuple[int, int, int, int]]) -> None:
    boxes = [Rectangle(left, top, left + across, top + down) for left, top, across, down in edges]
    assert sorted(reading_order(boxes)) == list(range(len(boxes)))


def test_very_many_boxes_are_read_from_the_top() -> None:
    boxes = [Rectangle(n, -n, n + 1, 1 - n) for n in range(MAX_BOXES + 1)]
    assert reading_order(boxes) == list(range(MAX_BOXES, -1, -1))
