"""Texts whose lines count: every line is a place, and keeps its indentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quoth.core.types import Chars, Section, SpanLocator
from quoth.ingest.readers.blocks import Content
from quoth.text.locators import ARROW

MAX_LINE = 20_000
"""Characters of a line; what is longer is cut into lines of this length."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is defined on a line, counted from 1, and how deep it stands."""

    line: int
    name: str
    level: int = 1


def numbered_lines(text: str, symbols: Iterable[Symbol] = ()) -> Content:
    """Return a text as it is, with a place for every line and a section for every symbol."""
    lines = text.rstrip().split("\n")
    starts: list[int] = []
    position = 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    stored = "\n".join(lines)
    sections = _sections(sorted(symbols, key=lambda each: each.line), starts, end=len(stored))
    places: list[SpanLocator] = []
    coming = iter([*sections, None])
    section = next(coming)
    path: str | None = None
    for number, (start, line) in enumerate(zip(starts, lines, strict=True), start=1):
        while section is not None and section.start <= start:
            path, section = ARROW.join(section.path), next(coming)
        end = start + len(line.rstrip())
        if end > start:
            own = Chars(start, end, path, None, "chars", "line", str(number), str(number))
            places.append(SpanLocator(start, end, own))
    return stored, tuple(places), tuple(sections)


def _sections(symbols: Sequence[Symbol], starts: Sequence[int], *, end: int) -> list[Section]:
    """Return the sections: each reaches to the next symbol."""
    above: list[Symbol] = []
    found: list[tuple[int, tuple[str, ...], str]] = []
    for symbol in symbols:
        if not 1 <= symbol.line <= len(starts):
            continue
        above = [*(each for each in above if each.level < symbol.level), symbol]
        path = tuple(each.name for each in above)
        if found and found[-1][0] == starts[symbol.line - 1]:
            found.pop()
        found.append((starts[symbol.line - 1], path, f"L{symbol.line}"))
    ends = [*(start for start, _, _ in found[1:]), end][: len(found)]
    return [
        Section(start, stop, path, anchor)
        for (start, path, anchor), stop in zip(found, ends, strict=True)
        if start < stop
    ]
