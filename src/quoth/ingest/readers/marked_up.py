"""What the readers of plain markup share: blocks of lines with their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from quoth.ingest.readers.blocks import Block, counted, to_plain_text

Inline = Callable[[str], str]
"""Turns the markup within a line into plain text."""


Patterns = Sequence[tuple[re.Pattern[str], str]]
"""What markup is like, and what is written in its place."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines without an empty one between them; ``number`` is that of the first, from 1."""

    number: int
    lines: tuple[str, ...]


def paragraphs(lines: Sequence[str], *, first: int = 1) -> Iterator[Paragraph]:
    """Split lines at empty ones."""
    begin: int | None = None
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            begin = at if begin is None else begin
        elif begin is not None:
            yield Paragraph(first + begin, tuple(lines[begin:at]))
            begin = None


def block(text: str, first: int, last: int | None = None, *, level: int = 0) -> Block:
    """Return a block that stands on these lines."""
    return Block(text, level=level, place=counted("line", first, last))


def code_block(lines: Sequence[str], first: int) -> Iterator[Block]:
    """Return lines of code as they are, without the indentation that all of them have."""
    filled = [line for line in lines if line.strip()]
    if filled:
        margin = min(len(line) - len(line.lstrip()) for line in filled)
        while lines and not lines[0].strip():
            lines, first = lines[1:], first + 1
        text = "\n".join(line[margin:].rstrip() for line in lines).rstrip()
        yield block(text, first, first + text.count("\n"))


def prose(paragraph: Paragraph, inline: Inline, item: re.Pattern[str]) -> Iterator[Block]:
    """Return a paragraph as one block, its list items as one each."""
    starts = [0, *(at for at, line in enumerate(paragraph.lines) if at and item.match(line))]
    for low, high in zip(starts, [*starts[1:], len(paragraph.lines)], strict=True):
        text = to_plain_text(inline(" ".join(line.strip() for line in paragraph.lines[low:high])))
        if text:
            yield block(text, paragraph.number + low, paragraph.number + high - 1)


def without_markup(line: str, patterns: Patterns) -> str:
    """Return a line with each of the patterns replaced, in their order."""
    for pattern, kept in patterns:
        line = pattern.sub(kept, line)
    return line
