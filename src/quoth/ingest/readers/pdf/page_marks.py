"""Marks on PDF pages, as values: what is asked of the sandbox, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

from quoth.core.types import Box

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the width and the height of the page as drawn."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A printed line, and the characters from `start` to `end` of its text that are marked."""

    text: str
    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class PageMarks:
    """A page as drawn, in points, and the rectangles of what is marked on it.

    ``rectangles`` is None where the glyphs do not spell what is to be marked.
    """

    page: int
    width: float
    height: float
    rectangles: tuple[Rectangle, ...] | None
