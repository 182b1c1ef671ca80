"""Plain text: paragraphs as they are, wrapped lines joined, and the plainest of headings.

A heading is underlined, numbered, or stands further left than the text, as in manual pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from quoth.core.types import Chars, ParsedDocument, SpanLocator
from quoth.ingest.readers.blocks import Block, assemble, counted, to_plain_text
from quoth.ingest.readers.division_paragraphs import split_at_divisions, with_division_sections
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.ingest.readers.numbered_titles import (
    listed_titles,
    numbered_titles,
    with_capital_titles,
    with_ended_sections,
)
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.text_layout import (
    NUMBER,
    indent,
    is_title,
    layout_of,
    outdented_titles,
    paragraph_text,
)
from quoth.ingest.readers.text_pages import without_page_heads

MIN_CENTRED_INDENT = 8
"""Least blanks before a title in the middle of a line."""
MAX_OFF_CENTRE = 10
"""Characters by which the blanks on its two sides may differ."""
MAX_UNEVEN = 4
"""The same for the lines of a title that has several."""
FIRST_PARAGRAPHS = 3
"""Paragraphs in which a centred title may stand, such as behind a note on the edition."""

_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\*{3,})")
_SECTION = re.compile(r"\d|[A-Z]\.")
_MANUAL_PAGE = re.compile(r"[^\s()]{1,100}\(\w{1,20}\)")
_GUTENBERG = re.compile(
    r"^\*\*\* ?(START|END) OF TH(?:E|IS) PROJECT GUTENBERG EBOOK[^*]{0,300}\*\*\*$",
    re.MULTILINE | re.IGNORECASE,
)
_STATED = re.compile(r"^(Title|Author): +(\S.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_AFTER_NUMBER = re.compile(r"^([ \t]*(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*\.?)\u00a0+", re.MULTILINE)
"""What DocBook writes between the number of a title and its words."""
_OTHER_BREAKS = re.compile(rb"[\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""What becomes a line feed when a text is decoded: its lines are not those of an editor then."""
_LEADING_BLANKS = re.compile(r"^[ \t]+", re.MULTILINE)


def read_plain(file: SourceFile) -> ParsedDocument:
    """Read a text; its lines are counted where they are those of an editor."""
    stated, start, end = _gutenberg_book(file.text)
    line = None if _OTHER_BREAKS.search(file.data) else file.line
    numbered = _paragraphs(
        file.text[start:end], first=(line or 1) + file.text.count("\n", 0, start)
    )
    paragraphs = [[*lines.values()] for lines in numbered]
    ranges = [counted("line", min(lines), max(lines)) if line else None for lines in numbered]
    stored, places, sections = assemble(_titled_blocks(paragraphs, ranges))
    lines = {number: words for lines in numbered for number, words in lines.items()}
    by_line = tuple(place for whole in places for place in _by_line(whole, stored, lines=lines))
    own = stated.merged_with(Metadata(title=_title(paragraphs)))
    return file.document("text", (stored, by_line, sections), meta=own)


def _by_line(whole: SpanLocator, text: str, *, lines: Mapping[int, str]) -> Iterator[SpanLocator]:
    """Part the place of a paragraph at its lines, if these have the same letters as the text."""
    at = whole.locator
    assert isinstance(at, Chars)
    if not at.label_first:
        yield whole
        return
    first, last = int(at.label_first), int(at.label_last)
    letters = [place for place in range(whole.start, whole.end) if text[place].isalnum()]
    written = {n: "".join(filter(str.isalnum, lines.get(n, ""))) for n in range(first, last + 1)}
    # A title has its paragraph's lines, too.
    before = "".join(written.values()).find("".join(text[place] for place in letters))
    sums = dict(zip(written, accumulate(map(len, written.values())), strict=True))
    end = before + len(letters)
    own = {n: len(words) for n, words in written.items() if words and before < sums[n] <= end}
    if before < 0 or not own or sum(own.values()) != len(letters):
        yield whole
        return
    ends = [*accumulate(own.values())]
    begins = [whole.start, *(_line_start(text, letters[n - 1 : n + 1]) for n in ends[:-1])]
    for number, (begin, end) in zip(own, pairwise([*begins, whole.end]), strict=True):
        label = str(number)
        locator = replace(at, start=begin, end=end, label_first=label, label_last=label)
        yield SpanLocator(begin, begin + len(text[begin:end].rstrip()), locator)


def _line_start(text: str, letters: Sequence[int]) -> int:
    """Return where a line begins between two letters: behind a line feed, else behind a blank."""
    before, first = letters
    between = text[before + 1 : first]
    at = between.rfind("\n" if "\n" in between else " ")
    return first if at < 0 else before + at + 2


def _gutenberg_book(text: str) -> tuple[Metadata, int, int]:
    """Return what a book of Project Gutenberg states before its text, and where that stands.

    Its header and its licence, of 18,000 characters, are the same in every book.
    """
    starts = _GUTENBERG.search(text)
    if starts is None or starts[1].upper() != "START":
        return EMPTY, 0, len(text)
    ends = _GUTENBERG.search(text, starts.end())
    stated = dict(_STATED.findall(text[: starts.start()]))
    title, author = (to_plain_text(stated.get(name, "")) or None for name in ("Title", "Author"))
    about = Metadata(title=title, speaker=author)
    return about, starts.end(), ends.start() if ends else len(text)


def plain_blocks(text: str) -> list[Block]:
    """Return the paragraphs of a text in order, and headings that are beyond doubt."""
    paragraphs = [[*lines.values()] for lines in _paragraphs(text)]
    return _titled_blocks(paragraphs, [None] * len(paragraphs))


def _titled_blocks(
    paragraphs: Sequence[Sequence[str]], places: Sequence[Chars | None]
) -> list[Block]:
    blocks = with_ended_sections(with_capital_titles([*_blocks(paragraphs, places)]))
    return with_division_sections([*blocks])


def _blocks(paragraphs: Sequence[Sequence[str]], places: Sequence[Chars | None]) -> Iterator[Block]:
    layout = layout_of(paragraphs)
    listed = listed_titles(paragraphs)
    if len(listed) <= sum(map(_is_underlined, paragraphs)):
        listed = frozenset()
    numbered = numbered_titles(paragraphs, listed=listed)
    # Where a table of contents names the titles, a line without a number is none.
    outdented = {} if listed else outdented_titles(paragraphs, layout)
    underlines = ["overline"] if any(map(_is_overlined, paragraphs)) else []
    """The kinds of underlines so far: as in reStructuredText, the first is that of level 1."""
    below = 0
    """The level of the last title of a division, such as "Chapter 3"."""
    for number, (lines, place) in enumerate(zip(paragraphs, places, strict=True)):
        title = lines[0].strip()
        if _is_overlined(lines) and not listed:
            yield Block(to_plain_text(lines[1]), level=1, place=place)
            lines = lines[3:]
        elif _is_underlined(lines) and (not listed or _depth(title)):
            kind = lines[1].strip()[0]
            underlines += [] if kind in underlines else [kind]
            yield Block(title, level=_depth(title) or 1 + underlines.index(kind), place=place)
            lines = lines[2:]
        elif number in numbered:
            yield Block(" ".join(map(str.strip, lines)), level=numbered[number], place=place)
            below = 0 if _SECTION.match(title) else numbered[number]
            continue
        elif number in outdented:
            level = max(below + 1, outdented[number], _depth(title))
            yield Block(title, level=level, place=place)
            lines = lines[1:]
        if lines:
            yield Block(paragraph_text(lines, layout), place=place)


def _paragraphs(text: str, *, first: int = 1) -> list[dict[int, str]]:
    """Return the lines of each paragraph by their numbers, without blanks at their ends.

    ``first`` is the number of the text's first line.
    """
    expanded = _LEADING_BLANKS.sub(lambda blanks: blanks[0].expandtabs(), text)
    expanded = _AFTER_NUMBER.sub(r"\1 ", expanded)
    numbered = without_page_heads(expanded.split("\n"))
    groups = groupby(numbered, key=lambda pair: not pair[1].strip(" \t"))
    split = (
        {first - 1 + n: line.rstrip() for n, line in group if line.strip()} for _, group in groups
    )
    return split_at_divisions([lines for lines in split if lines])


def _is_overlined(lines: Sequence[str]) -> bool:
    """Return whether a title stands between two equal lines of signs."""
    return (
        len(lines) > 2
        and lines[0] == lines[2]
        and _UNDERLINE.fullmatch(lines[0].strip()) is not None
        and is_title(to_plain_text(lines[1]))
    )


def _is_underlined(lines: Sequence[str]) -> bool:
    if len(lines) < 2:
        return False
    drawn, title = lines[1].strip(), lines[0].strip()
    return (
        _UNDERLINE.fullmatch(drawn) is not None
        and any(character.isalnum() for character in title)
        and len(title) <= 100
        and 0.5 * len(title) <= len(drawn)
        and (len(drawn) <= len(title) + 10 or (len(lines) == 2 and is_title(title)))
    )


def _depth(title: str) -> int:
    """Return how deep the number of a title is: 2 for "1.2 Names", 0 without one."""
    numbered = NUMBER.match(title)
    return 1 + numbered[1].count(".") if numbered else 0


def _title(paragraphs: Sequence[Sequence[str]]) -> str:
    """Return the title that a text begins with, empty without one.

    It is that of a page of a manual, or underlined as no other line is, or the first line of one of
    the first paragraphs, if all its lines are centred.
    """
    if not paragraphs:
        return ""
    first, title = paragraphs[0], paragraphs[0][0].strip()
    parts = re.split(" {3,}", title)
    if len(parts) > 2 and parts[0] == parts[-1] and _MANUAL_PAGE.fullmatch(parts[0]):
        return parts[0]
    if _is_underlined(first) and is_title(title) and not title[0].isdigit():
        alike = [
            each for each in paragraphs if _is_underlined(each) and each[1][:1] == first[1][:1]
        ]
        return title if len(alike) == 1 else ""
    width = max(len(line) for lines in paragraphs[:50] for line in lines)
    for lines in paragraphs[:FIRST_PARAGRAPHS]:
        indents = [indent(line) for line in lines]
        off = [
            2 * before - width + len(line.strip())
            for before, line in zip(indents, lines, strict=True)
        ]
        centred = min(indents) >= MIN_CENTRED_INDENT and abs(off[0]) <= MAX_OFF_CENTRE
        if not (centred and max(off) - min(off) <= MAX_UNEVEN and is_title(lines[0])):
            continue
        if (len(lines) == 1 or len(set(indents)) > 1) and not lines[0].strip()[0].isdigit():
            return lines[0].strip()
    return ""
