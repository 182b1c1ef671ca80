"""Clean text and assemble blocks into a document with places and sections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from quoth.core.types import Chars, Pages, Section, SpanLocator, Unit
from quoth.text.locators import ARROW

GAP = "\n\n"
"""What stands between two paragraphs."""

MIN_ENTRIES = 5
"""Minimum number of headings in a list of contents."""
MIN_SHARE = 0.8
"""Minimum share of headings among the lines of a list of contents."""
MAX_LABEL = 3
"""Maximum words of the label of a list of contents."""

_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Control characters, lone surrogates, and marks that are only there for the typesetter.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_RUN = re.compile(r"\s+")
_LINE_NUMBER = re.compile(r"^[^\S\n]*(\d{1,6})[:|]?(?:[^\S\n]|$)")
_ITEM = re.compile(r"- |\d+\. ")
_LIST_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d+(?:\.\d+)*[.):]?)\s+")
MIN_NUMBERED = 3
"""Minimum lines of a listing whose numbers are those of its lines."""


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, list item, table row or code block.

    ``level`` is that of a heading (1 is the highest), 0 for anything else. ``links`` is what a
    block or the cells of a row begin with that are mostly links. ``targets`` are the addresses of
    its links where all of its words are links within the site. ``place`` is what the source counts:
    its page, slide, line, row or cell, without characters, section and anchor.
    ``anchor`` is the place in the source that a link leads to, at the block or just before it.
    ``silent`` is a heading that only begins a section: its title is not in the text.
    """

    text: str
    level: int = 0
    anchor: str | None = None
    links: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    place: Pages | Chars | None = None
    silent: bool = False


Content = tuple[str, tuple[SpanLocator, ...], tuple[Section, ...]]
"""A text, one place for each part of it, and its sections."""


def counted(unit: Unit, first: int | str, last: int | str | None = None) -> Chars:
    """Return a block's place by what its source counts: "row 3", "lines 12–20"."""
    last = first if last is None else last
    return Chars(0, 0, unit=unit, label_first=str(first), label_last=str(last))


def normalize_whitespace(text: str) -> str:
    """Normalize newlines and accents (NFC); remove invisible and unstorable characters."""
    text = _UNSEEN.sub("", _NEWLINES.sub("\n", text))
    return unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", text))


def to_plain_text(text: str) -> str:
    """Collapse runs of white space into one space; keep a single non-breaking space."""
    return _RUN.sub(lambda run: run[0] if run[0] in "\u00a0\u202f" else " ", text).strip()


def plain_line(text: str) -> str:
    """Return a text from outside as one line: normalized, its runs of white space as one."""
    return to_plain_text(normalize_whitespace(text))


def without_line_numbers(text: str, *, column: bool = False) -> str:
    """Return a listing without the numbers of its lines, if every line has the next one.

    Where neither a line is empty but for its number nor one is indented more than others, it may
    be a list ("1 Alice"), and stays as it is, and so does what has no letter beside the numbers,
    which is data. With ``column``, numbers alone are those of the listing in the next column, and
    left out.
    """
    lines = text.split("\n")
    found = [(line, _LINE_NUMBER.match(line)) for line in lines if line.strip()]
    if len(found) < MIN_NUMBERED:
        return text
    numbers = [int(number[1]) for _, number in found if number]
    first = numbers[0] if numbers else 0
    if numbers != list(range(first, first + len(found))):
        return text
    bare = [_LINE_NUMBER.sub("", line, count=1) for line in lines]
    rest = "\n".join(bare)
    if column and not rest.strip():
        return rest
    code = [each for line, each in zip(lines, bare, strict=True) if line.strip()]
    indents = {len(line) - len(line.lstrip()) for line in code}
    columns = {len(line) - len(each.lstrip()) for (line, _), each in zip(found, code, strict=True)}
    is_program = not all(map(str.strip, code)) or min(len(indents), len(columns)) > 1
    return rest if is_program and any(map(str.isalpha, rest)) else text


def under_header(cells: Sequence[str], header: Sequence[str]) -> list[str]:
    """Return the cells of a row, each with the header of its column: "Size: 3 MB"."""
    if len(cells) != len(header) or list(cells) == list(header):
        return list(cells)
    named = zip(header, cells, strict=True)
    return [f"{name}: {cell}" if name and cell else cell for name, cell in named]


def assemble(blocks: Iterable[Block]) -> Content:
    """Join blocks by empty lines; return the text, one place per block, and the sections.

    A section extends from its heading to the next one. A heading followed directly by a lower one
    has no text of its own and belongs to the section below it. A place without an anchor has the
    last one before it.
    """
    parts: list[str] = []
    places: list[SpanLocator] = []
    sections: list[Section] = []
    titles: list[tuple[int, str]] = []
    position = 0
    follows_heading = False
    opening: Block | None = None
    anchor: str | None = None
    for block in _without_contents(blocks):
        text = block.text.strip("\n").rstrip()
        if block.silent:
            titles = [(level, title) for level, title in titles if level < block.level]
            titles.append((block.level, to_plain_text(text)))
            opening = block
            anchor = block.anchor
            continue
        if parts:
            parts.append(GAP)
            position += len(GAP)
        if opening is not None and not block.level:
            path = tuple(title for _, title in titles)
            is_below = follows_heading and sections[-1].path == path[: len(sections[-1].path)]
            _begin(sections, path, at=position, anchor=opening.anchor, is_below=is_below)
        opening = None
        if block.level:
            lower = bool(titles) and titles[-1][0] < block.level
            titles = [(level, title) for level, title in titles if level < block.level]
            titles.append((block.level, to_plain_text(text)))
            path = tuple(title for _, title in titles)
            is_below = follows_heading and lower
            _begin(sections, path, at=position, anchor=block.anchor, is_below=is_below)
        follows_heading = bool(block.level)
        parts.append(text)
        anchor = block.anchor or anchor
        places.append(_place(block, text, position, titles=titles, anchor=anchor))
        position += len(text)
    if sections:
        sections[-1] = replace(sections[-1], end=position)
    return "".join(parts), tuple(places), tuple(sections)


def _begin(
    sections: list[Section], path: tuple[str, ...], *, at: int, anchor: str | None, is_below: bool
) -> None:
    """End the last section and begin one, which takes the heading just before that it is below."""
    begin = sections.pop().start if is_below else at
    if sections and sections[-1].end < 0:
        sections[-1] = replace(sections[-1], end=begin)
    sections.append(Section(start=begin, end=-1, path=path, anchor=anchor))


def _place(
    block: Block,
    text: str,
    position: int,
    *,
    titles: Sequence[tuple[int, str]],
    anchor: str | None,
) -> SpanLocator:
    end = position + len(text)
    path = ARROW.join(title for _, title in titles) or None
    match block.place:
        case Pages():
            return SpanLocator(position, end, replace(block.place, section=path))
        case Chars():
            own = replace(block.place, start=position, end=end, section=path, anchor=anchor)
            return SpanLocator(position, end, own)
        case None:
            return SpanLocator(position, end, Chars(position, end, section=path, anchor=anchor))


def _without_contents(blocks: Iterable[Block]) -> list[Block]:
    """Leave out lists of headings of the same document, and the label of such a list.

    Slides stay as they are, and so does a list that a sentence announces: its items are meant.
    """
    given = [block for block in blocks if block.text.strip()]
    headings = {_bare(block.text) for block in given if block.level}
    if len(headings) < MIN_ENTRIES:
        return given
    kept: list[Block] = []
    for is_list, group in groupby(given, key=lambda block: _is_entry(block, headings)):
        run = list(group)
        if not is_list or is_introduced(kept) or not _are_contents(run, headings):
            kept += run
        else:
            drop_label(kept)
    return kept


def drop_label(blocks: list[Block]) -> None:
    """Remove the last block if it is the label of what follows: "Table of contents"."""
    if blocks and not blocks[-1].level and _is_label(blocks[-1].text):
        blocks.pop()


def is_item(block: Block) -> bool:
    """Return whether a block is an item of a list."""
    return not block.level and _ITEM.match(block.text) is not None


def is_introduced(blocks: Sequence[Block]) -> bool:
    """Return whether a sentence ends in a colon, so that what follows completes it."""
    text = blocks[-1].text.rstrip() if blocks and not blocks[-1].level else ""
    return text.endswith(":") and not _is_label(text)


def _is_label(text: str) -> bool:
    """Return whether a text is no sentence: "Table of contents"."""
    return len(text.split()) <= MAX_LABEL and not text.rstrip().endswith((".", "!", "?"))


def _are_contents(run: Sequence[Block], headings: set[str]) -> bool:
    lines = [_bare(line) for block in run for line in block.text.splitlines() if line.strip()]
    found = sum(line in headings for line in lines)
    return found >= max(MIN_ENTRIES, MIN_SHARE * len(lines))


def _is_entry(block: Block, headings: set[str]) -> bool:
    """Return whether a block may belong to a list of contents: an item, or headings only."""
    if block.level or isinstance(block.place, Pages):
        return False
    return is_item(block) or all(_bare(line) in headings for line in block.text.splitlines())


def _bare(line: str) -> str:
    """Return a title without the mark, number and page that a list gives it."""
    title = _LIST_MARK.sub("", line)
    return " ".join((title.rstrip("0123456789").rstrip(" .\t") or title).casefold().split())
