"""Lists of several levels, numbered as a word processor shows them: "3.", "2.1", "(b)"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from quoth.text.numbers import to_roman

LEVELS = 10
BULLET = "bullet"
NO_NUMBER = ("none", BULLET)
_PLACE = re.compile(r"%(\d{1,2})")
MAX_PATTERN = 80
"""Maximum characters of a pattern."""
_LARGEST = 3999
"""The largest number that is shown in letters or as a Roman numeral."""


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How a level is numbered: from ``first``, in the form ``kind``, as in ``pattern``.

    ``%1`` of the pattern is the number of the first level. ``decimal`` means that all numbers in it
    are shown with digits, ``restarts`` that it begins anew below each item of a level above.
    """

    first: int = 1
    kind: str = "decimal"
    pattern: str = ""
    decimal: bool = False
    restarts: bool = True


@dataclass(slots=True)
class NumberedList:
    """The levels of a list and how far each was counted, None for one that begins anew."""

    levels: Mapping[int, ListLevel]
    counts: list[int | None] = field(default_factory=lambda: [None] * LEVELS)

    def restart(self, at: int, first: int) -> None:
        """Let the next item of a level have this number."""
        self.counts[at] = first - 1

    def next(self, at: int) -> str:
        """Count an item of a level, and return what stands before it, "" for nothing or a bullet.

        A level that is counted before those above it lets them begin, as in LibreOffice.
        """
        level, last = self.levels.get(at), self.counts[at]
        for above in range(at):
            if self.counts[above] is None and above in self.levels:
                self.counts[above] = self.levels[above].first
        first = 1 if level is None else level.first
        self.counts[at] = first if last is None else last + 1
        for below in range(at + 1, LEVELS):
            if below not in self.levels or self.levels[below].restarts:
                self.counts[below] = None
        if level is None or level.kind == BULLET:
            return ""
        shown = _PLACE.sub(
            lambda place: self._shown(int(place[1]) - 1, level), level.pattern[:MAX_PATTERN]
        )
        return shown.strip()

    def _shown(self, at: int, asking: ListLevel) -> str:
        level, count = self.levels.get(at), self.counts[at] if 0 <= at < LEVELS else None
        if level is None or count is None or level.kind in NO_NUMBER:
            return ""
        return _in_form(count, "decimal" if asking.decimal else level.kind)


def _in_form(number: int, kind: str) -> str:
    """Return a number as its format shows it; formats of other scripts are shown as digits."""
    if kind == "decimalZero":
        return f"{number:02d}"
    if kind.endswith("Roman") and 0 < number <= _LARGEST:
        shown = to_roman(number)
    elif kind.endswith("Letter") and 0 < number <= _LARGEST:
        shown = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    else:
        return str(number)
    return shown.upper() if kind.startswith("upper") else shown
