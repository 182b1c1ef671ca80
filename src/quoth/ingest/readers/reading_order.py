"""The order in which the boxes of a page are read: a recursive cut along its white space.

Nagy and Seth, "Hierarchical representation of optically scanned documents", ICPR 1984 (the X-Y
cut). White space across the page parts bands, which are read from top to bottom. Neighbouring bands
that share white space down the page are columns, which are read from left to right, where that is
wider than the white space between the bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MAX_BOXES = 200
"""Boxes of a page that are parted; where there are more, all go by their top."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """The edges of a box in any unit; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


def reading_order(boxes: Sequence[Rectangle]) -> list[int]:
    """Return the indices of boxes in reading order; those that no cut parts go by their top."""
    indices = list(range(len(boxes)))
    return _ordered(indices, boxes) if len(boxes) <= MAX_BOXES else _falling(indices, boxes)


def _falling(indices: Sequence[int], boxes: Sequence[Rectangle]) -> list[int]:
    return sorted(indices, key=lambda at: (boxes[at].top, boxes[at].left))


def _ordered(indices: list[int], boxes: Sequence[Rectangle]) -> list[int]:
    if len(indices) < 2:
        return indices
    bands = _parts(indices, [(box.top, box.bottom) for box in boxes])  # from top to bottom
    ordered: list[int] = []
    while bands:
        columns, size = _columns(bands, boxes)
        if len(columns) > 1:
            ordered += [index for column in columns for index in _ordered(column, boxes)]
        elif len(bands[0]) < len(indices):
            ordered += _ordered(bands[0], boxes)
        else:
            ordered += _falling(indices, boxes)
        bands = bands[size:]
    return ordered


def _columns(bands: Sequence[list[int]], boxes: Sequence[Rectangle]) -> tuple[list[list[int]], int]:
    """Return the columns with which the bands begin, and how many bands they take."""
    found: tuple[list[list[int]], int] = ([bands[0]], 1)
    run: list[int] = []
    beside = False
    for size, band in enumerate(bands, start=1):
        gap = _distance(run, band, boxes) if run else 0.0
        run = [*run, *band]
        columns = _strips(run, boxes)
        if len(columns) < 2 or gap >= _gutter(columns, boxes):
            break
        beside = beside or len(_strips(band, boxes)) > 1
        if beside:
            found = columns, size
    return found


def _distance(above: Sequence[int], below: Sequence[int], boxes: Sequence[Rectangle]) -> float:
    return min(boxes[at].top for at in below) - max(boxes[at].bottom for at in above)


def _gutter(columns: Sequence[Sequence[int]], boxes: Sequence[Rectangle]) -> float:
    """Return the width of the widest white space between columns."""
    return max(
        min(boxes[at].left for at in right) - max(boxes[at].right for at in left)
        for left, right in pairwise(columns)
    )


def _strips(indices: Sequence[int], boxes: Sequence[Rectangle]) -> list[list[int]]:
    """Part boxes at the white space down the page, from left to right."""
    return _parts(indices, [(box.left, box.right) for box in boxes])


def _parts(indices: Sequence[int], spans: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Group boxes whose spans overlap."""
    parts: list[list[int]] = []
    end = 0.0
    for index in sorted(indices, key=lambda at: spans[at]):
        low, high = spans[index]
        if parts and low < end:
            parts[-1].append(index)
            end = max(end, high)
        else:
            parts.append([index])
            end = high
    return parts
