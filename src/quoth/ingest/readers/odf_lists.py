"""The numbers of OpenDocument's lists and headings, which are not in their text.

A list may go on from an earlier one, and every level from the items before it (OpenDocument 1.3
part 3, 5.3 and 16.30).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from quoth.ingest.readers.list_marks import BULLET as BULLET_MARK
from quoth.ingest.readers.list_numbers import BULLET, LEVELS, ListLevel, NumberedList
from quoth.ingest.readers.xml_parts import Element, attribute, local, whole_number

ListStyles = Mapping[str, Mapping[int, ListLevel]]
"""The levels of each style of lists by its name; that of headings is `OUTLINE`."""
OUTLINE = "outline-style"
_KINDS = {
    **{"": "none", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"},
    "01, 02, 03, ...": "decimalZero",
}
_PLACE = re.compile(r"%(\d{1,2})%")
_NO_CONTENT = ("soft-page-break", "number")
NO_STYLES: ListStyles = MappingProxyType({})


def list_styles(parts: Iterable[Element]) -> ListStyles:
    """Return the styles of lists below these elements."""
    return {
        OUTLINE if local(each) == OUTLINE else attribute(each, "name"): {
            at: _level(level, at)
            for level in each
            if 0 <= (at := whole_number(level, "level", default=0) - 1) < LEVELS
        }
        for part in parts
        for each in part.iter()
        if local(each) in ("list-style", OUTLINE)
    }


class OdfLists:
    """The open lists of a text, the innermost last, and how far all its lists were counted."""

    def __init__(self, styles: ListStyles) -> None:
        self._styles = styles
        self._open: list[tuple[str, NumberedList]] = []
        self._named: dict[str, NumberedList] = {}
        self._last: dict[str, NumberedList] = {}
        self._headings = NumberedList(styles.get(OUTLINE, {}))

    def __bool__(self) -> bool:
        """Return whether a list is open."""
        return bool(self._open)

    def begin(self, element: Element) -> None:
        """Open a list, within the innermost one if there is one."""
        outer, before = self._open[-1] if self._open else ("", None)
        style = attribute(element, "style-name") or outer
        if before is None:
            before = self._named.get(attribute(element, "continue-list"))
            if before is None and attribute(element, "continue-numbering") == "true":
                before = self._last.get(style)
        found = NumberedList(self._styles.get(style, {}))
        if before is not None:
            found = replace(found, counts=before.counts)
        self._open.append((style, found))
        self._last[style] = found
        if name := attribute(element, "id"):
            self._named[name] = found

    def end(self) -> None:
        """Close the innermost list, if one is open."""
        del self._open[-1:]

    def item(self, element: Element) -> str:
        """Return what an item begins with; one that begins with a list is that list's alone."""
        first = next((name for each in element if (name := local(each)) not in _NO_CONTENT), "")
        if first not in ("p", "h") or not self._open:
            return ""
        at = min(len(self._open), LEVELS) - 1
        found = self._open[-1][1]
        if override := attribute(element, "style-override"):
            found = replace(found, levels=self._styles.get(override, {}))
        if attribute(element, "start-value"):
            found.restart(at, whole_number(element, "start-value", default=1))
        label = found.next(at)
        return f"{label} " if label else BULLET_MARK

    def heading(self, element: Element) -> str:
        """Return what a heading outside of lists begins with, "" without a number."""
        at = min(max(whole_number(element, "outline-level", default=1), 1), LEVELS) - 1
        level = self._headings.levels.get(at)
        if level is None or not level.pattern or attribute(element, "is-list-header") == "true":
            return ""
        if attribute(element, "restart-numbering") == "true":
            first = whole_number(element, "start-value", default=level.first)
            self._headings.restart(at, first)
        return f"{self._headings.next(at)} "


def _level(element: Element, at: int) -> ListLevel:
    """Return how a level is numbered."""
    kind = attribute(element, "num-format")
    if not local(element).endswith(("-number", "outline-level-style")):
        return ListLevel(kind=BULLET)
    if not kind:
        return ListLevel(kind="none")
    shown = whole_number(element, "display-levels", default=1)
    places = ".".join(f"%{number}" for number in range(max(at + 2 - shown, 1), at + 2))
    plain = f"{attribute(element, 'num-prefix')}{places}{attribute(element, 'num-suffix')}"
    return ListLevel(
        first=whole_number(element, "start-value", default=1),
        kind=_KINDS.get(kind, "decimal"),
        pattern=_PLACE.sub(r"%\1", attribute(element, "num-list-format")) or plain,
    )
