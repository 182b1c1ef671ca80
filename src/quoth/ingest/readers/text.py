"""Plain text: paragraphs as they are, wrapped lines joined, and headings that are beyond doubt.

A heading is underlined, numbered, or stands further left than the text, as in manual pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.metadata import Metadata, file_title

MIN_WRAP_WIDTH = 50
MAX_WRAP_WIDTH = 120
"""Characters between which lines are taken for wrapped prose."""

AT_MARGIN = 2
"""How many times more lines stand at the margin of a text than left of it."""
MOST_ALIKE = 2
"""Times that a title may occur: the names of speakers and the heads of pages recur."""

CENTRED = 8
"""Least blanks before a title in the middle of a line."""
MOSTLY = 2 / 3
"""Share of the line breaks of a paragraph that are due to wrapping, where it is prose."""

_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\*{3,}|\.{3,})")
_NUMBERED = re.compile(
    r"(?:\d{1,2}|[A-Z])(?P<deeper>(?:\.\d{1,2}){1,3})\.?[ \t]+[^\W\d_].{0,70}(?<![.,;:!])"
)
_NUMBER = re.compile(r"\d{1,2}((?:\.\d{1,2}){0,3})\.?[ \t]")
_CHAPTER = re.compile(
    r"(?:chapter|chapitre|part|partie)\s+(?:\d{1,3}|[ivxlc]{1,7})\b[.:]?(?:\s*[-–—:]?\s+.{1,70})?",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?:(?![a-z])[^\W_])(?!.*(?: {3}|\t)).{0,99}(?<![.,;:!])")
_MARK = re.compile(r"\s*(?:[-*•+>|#]|\(?\d{1,3}[.)]|[a-z]\))\s+")
_MANUAL_PAGE = re.compile(r"([^\s()]+\(\w+\)) {3,}\S.* {3,}\1")
_LEADING = re.compile(r"^[ \t]+", re.MULTILINE)
_TERM_END = re.compile(r" \S")
_COLUMNS = re.compile(r".*\S(?: {4,}|\t)\S")


def read_plain(text: str, *, meta: Metadata, name: str) -> ParsedDocument:
    """Read a text; the ``name`` of the file is its title unless a better one is known."""
    stored, places, sections = assemble(list(plain_blocks(text)))
    return ParsedDocument(
        kind="text",
        title=meta.title or _title(text) or file_title(name),
        text=stored,
        places=places,
        sections=sections,
        language=meta.language,
        url=meta.url,
        speaker=meta.speaker,
    )


def _title(text: str) -> str:
    """Return the title that a text begins with: centred, underlined, or of a page of a manual."""
    lines = [line.expandtabs().rstrip() for line in text.lstrip("\n").split("\n", 2)] + ["", ""]
    title, below = lines[0].strip(), lines[1]
    if page := _MANUAL_PAGE.fullmatch(title):
        return page[1]
    centred = _indent(lines[0]) >= CENTRED and not below
    return (
        title if _TITLE.fullmatch(title) and (centred or _is_underline(below, below=title)) else ""
    )


def plain_blocks(text: str) -> Iterator[Block]:
    """Return the paragraphs of a text in order, and headings that are beyond doubt."""
    parts = re.split(r"\n(?:[ \t]*\n)+", _LEADING.sub(lambda blanks: blanks[0].expandtabs(), text))
    split = ([line.rstrip() for line in part.split("\n") if line.strip()] for part in parts)
    paragraphs = [lines for lines in split if lines]
    margin, width = _margin(paragraphs), _wrap_width(paragraphs)
    outdented = _outdented(paragraphs, margin=margin, width=width)
    drawn: list[str] = []
    for number, lines in enumerate(paragraphs):
        title = lines[0].strip()
        if len(lines) > 1 and _is_underline(lines[1], below=title):
            yield Block(title, level=_underlined_level(lines, drawn))
            lines = lines[2:]
        elif len(lines) == 1 and (level := _heading_level(title)):
            yield Block(title, level=level)
            continue
        elif number in outdented:
            yield Block(title, level=max(outdented[number], _depth(title)))
            lines = lines[1:]
        if lines:
            units = _units(lines)
            yield Block("\n".join(_unit_text(unit, margin=margin, width=width) for unit in units))


def _is_underline(line: str, *, below: str) -> bool:
    drawn, title = line.strip(), below.strip()
    return (
        _UNDERLINE.fullmatch(drawn) is not None
        and any(character.isalnum() for character in title)
        and len(title) <= 100
        and 0.5 * len(title) <= len(drawn) <= len(title) + 10
    )


def _underlined_level(lines: Sequence[str], drawn: list[str]) -> int:
    """Return the level of a title by its number, else by when its kind of line was first drawn.

    The latter is how reStructuredText does it. ``drawn`` are the kinds so far.
    """
    kind = lines[1].strip()[0]
    if kind not in drawn:
        drawn.append(kind)
    return _depth(lines[0].strip()) or 1 + drawn.index(kind)


def _depth(title: str) -> int:
    """Return how deep the number of a title is: 2 for "1.2 Names", 0 without one."""
    numbered = _NUMBER.match(title)
    return 1 + numbered[1].count(".") if numbered else 0


def _heading_level(line: str) -> int:
    if _CHAPTER.fullmatch(line):
        return 1
    numbered = _NUMBERED.fullmatch(line)
    return 1 + numbered["deeper"].count(".") if numbered else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _margin(paragraphs: Sequence[Sequence[str]]) -> int:
    """Return the column at which most of a text begins, 0 where little stands left of it."""
    columns = Counter(_indent(line) for lines in paragraphs for line in lines)
    margin = left = 0
    for column, count in sorted(columns.items()):
        if count >= AT_MARGIN * left:
            margin = column
        left += count
    return margin


def _outdented(
    paragraphs: Sequence[Sequence[str]], *, margin: int, width: int | None
) -> dict[int, int]:
    """Return the paragraphs that begin with a title left of the margin, with its level.

    Text further right is below it. Titles further right are below those further left.
    """
    alike = Counter(line for lines in paragraphs for line in lines)
    found = {}
    for number, (lines, following) in enumerate(zip_longest(paragraphs, paragraphs[1:])):
        below = [*lines[1:], *(following or ())]
        indent = _indent(lines[0])
        if (
            below
            and indent < min(margin, _indent(below[0]))
            and _TITLE.fullmatch(lines[0].strip())
            and alike[lines[0]] <= MOST_ALIKE
            and not (lines[1:] and width and _is_wrapped(*lines[:2], width=width))
        ):
            found[number] = indent
    columns = sorted(set(found.values()))
    return {number: 1 + columns.index(indent) for number, indent in found.items()}


def _wrap_width(paragraphs: Sequence[Sequence[str]]) -> int | None:
    """Return the column at which a text is hard-wrapped; None when it is not."""
    inner = sorted(len(line) for lines in paragraphs for line in lines[:-1])
    if len(inner) < 3:
        return None
    width = inner[int(0.95 * (len(inner) - 1))]
    return width if MIN_WRAP_WIDTH <= width <= MAX_WRAP_WIDTH else None


def _units(lines: Sequence[str]) -> list[list[str]]:
    """Part a paragraph at its items, its terms, and where the indent changes but in the first line.

    A term stands left of its definition, on a line of its own or in front of the first line.
    """
    units: list[list[str]] = []
    column = -1
    for number, line in enumerate(lines):
        mark, indent = _MARK.match(line), _indent(line)
        below = _indent(lines[number + 1]) if number + 1 < len(lines) else 0
        opening = number == 1 and column > indent and not _MARK.match(lines[0])
        if units and not mark and (indent == column or opening):
            units[-1].append(line)
        elif not mark and indent < below and _TERM_END.match(line[below - 1 :]):
            units += [[line[:below].rstrip()], [" " * below + line[below:]]]
            indent = below
        else:
            units.append([line])
        column = mark.end() if mark else indent
    return units


def _is_wrapped(line: str, following: str, *, width: int) -> bool:
    """Return whether the first word of the following line had no room in the line."""
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) >= width - 2


def _unit_text(lines: Sequence[str], *, margin: int, width: int | None) -> str:
    """Return the lines without the margin; where they are prose, those that were wrapped as one."""
    own = [line[min(margin, _indent(line)) :] for line in lines]
    if len(lines) == 1 or width is None or any(map(_COLUMNS.match, lines)):
        return "\n".join(own)
    wrapped = [_is_wrapped(*pair, width=width) for pair in pairwise(lines)]
    if sum(wrapped) < MOSTLY * len(wrapped):
        return "\n".join(own)
    return _join(own if _MARK.match(own[0]) else [line.lstrip() for line in own], wrapped)


def _join(lines: Sequence[str], wrapped: Sequence[bool]) -> str:
    text = lines[0]
    for line, goes_on in zip(map(str.lstrip, lines[1:]), wrapped, strict=True):
        # "well-" and "known" stay one word, with the hyphen that was printed; "\u2010" is groff's.
        broken = re.search(r"[^\W\d_][-\u2010]$", text[-2:]) is not None and line[:1].islower()
        text = text.removesuffix("\u2010") if broken else text + (" " if goes_on else "\n")
        text += line
    return re.sub(r"(?<=\S) +", " ", text)
