"""The marks of the items of lists: numbers that count on, and "- " where there are none."""

from __future__ import annotations

BULLET = "- "


class ListMarks:
    """The open lists, each with the number of its last item, None where items have bullets."""

    def __init__(self) -> None:
        self._open: list[int | None] = []

    def begin(self, first: int | None) -> None:
        """Open a list whose items are numbered from ``first``, or have bullets."""
        self._open.append(None if first is None else first - 1)

    def end(self) -> None:
        """Close the innermost list, if one is open."""
        del self._open[-1:]

    def restart(self, number: int) -> None:
        """Let the innermost list count on from ``number`` where its items have numbers."""
        if self._open and self._open[-1] is not None:
            self._open[-1] = number

    def item(self, number: int | None = None) -> str:
        """Return what the next item begins with; ``number`` is its own where it states one."""
        last = self._open[-1] if self._open else None
        if last is None:
            return BULLET
        self._open[-1] = last + 1 if number is None else number
        return f"{self._open[-1]}. "
