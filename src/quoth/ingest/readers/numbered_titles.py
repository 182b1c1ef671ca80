"""Titles with a number on a line of their own: "Article 7 – Services", "6.4 Common rules"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, zip_longest

from quoth.ingest.readers.blocks import Block
from quoth.ingest.readers.text_layout import MAX_TITLE_REPEATS, NUMBER, indent, is_title
from quoth.text.analyzer import normalize_name
from quoth.text.numbers import ORDINALS, WORDS, further_numbers, roman_number
from quoth.text.tables import Table, language_tables

MAX_TITLE = 100
MIN_CAPITAL_TITLES = 3
"""Titles in capitals from which these are headings."""
_NUMBERED = re.compile(
    r"(?P<first>\d{1,2}|[A-Z])(?P<deeper>(?:\.\d{1,2}){1,3})\.?[ \t]+[^\W\d_].{0,70}(?<![.,;:!])"
)
_LISTED = re.compile(
    r"(?P<first>\d{1,2}|[A-Z])(?:\.|(?P<deeper>(?:\.\d{1,3}){1,3})\.?)[ \t]+(?=\S)"
)
MIN_LISTED, MIN_LISTED_SHARE = 3, 0.6
"""Entries of a table of contents that are titles: so many, and of all."""
_CHAPTER = re.compile(r"(\d{1,2})[.)]?[ \t]+[^\W\d_].{0,70}")
_BEGINNING = re.compile(
    r"\s*(?P<first>\d{1,2}|[A-Z](?=\.\d))(?P<deeper>(?:\.\d{1,2}){0,3})[.)]?\s+\W{0,3}[^\W\d_]"
)
_SENTENCE_END = re.compile(r"[^\W\d_]{3}[.:;] ")
_DIVISION = re.compile(
    r"(?P<word>[^\W\d_]{3,}(?=\s)|§+)\s*"
    r"(?P<number>\d{1,3}(?P<deeper>(?:\.\d{1,2}){0,3})(?:er|[eè]re|e|º|°)?(?!\w)|[^\W\d_]+)"
    r"(?:(?P<mark>\s*[:–—-]|\t| {2})\s*|[.)]?(?:\s+|$))(?P<title>.*)"
)
_CAPITALS = re.compile(r"\w(?=.*[^\W\d_]{4})(?:.|\n(?=.{1,99}\Z)){3,150}[\w)?'\"’”]")
_LETTER = re.compile("[A-Z]")
_ROMAN = re.compile("[IVXLC]+|[ivxl]+")
_OPENING = "(\"'“«"


@dataclass(frozen=True, slots=True)
class _Division:
    """A numbered division: its word, folded, its number, and how deep the number is below that."""

    word: str
    number: int
    deeper: int


def with_numbered_titles(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a document; where it has no headings, those are its numbered titles."""
    if any(block.level for block in blocks[1:]):
        return list(blocks)
    paragraphs = [block.text.split("\n") for block in blocks]
    levels = numbered_titles(paragraphs, listed=listed_titles(paragraphs))
    found = (
        replace(block, level=block.level or levels.get(at, 0)) for at, block in enumerate(blocks)
    )
    return [*with_ended_sections(found)]


def with_capital_titles(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a text; where it has no headings, those are its titles in capitals.

    Several have prose below them; others may begin their paragraph. Appendices do not count as
    headings.
    """
    if any(block.level and not _is_appendix(block.text) for block in blocks):
        return list(blocks)
    times = Counter(block.text for block in blocks)
    alone = {
        at
        for at, block in enumerate(blocks)
        if _is_in_capitals(block.text) and times[block.text] <= MAX_TITLE_REPEATS
    }
    lengths = [*(len(block.text) for block in blocks[1:]), 0]
    if sum(lengths[at] > MAX_TITLE for at in alone) < MIN_CAPITAL_TITLES:
        return list(blocks)
    found: list[Block] = []
    for at, block in enumerate(blocks):
        line, _, more = block.text.partition("\n")
        if at not in alone and more and _is_in_capitals(line) and not more.isupper():
            found.append(Block(line, level=1, silent=True))
        found.append(replace(block, level=1) if at in alone else block)
    return found


def _is_in_capitals(text: str) -> bool:
    return text.isupper() and _CAPITALS.fullmatch(text.strip()) is not None


def with_ended_sections(blocks: Iterable[Block]) -> Iterator[Block]:
    """End a section at a later number, so that none goes on where another one begins.

    A paragraph "7.1 …" ends "6.4 Common rules", and so does "7. Services" where the numbers of
    chapters are those of their sections. The section has that line as its title, else "7".
    """
    series = _Series()
    for block in blocks:
        number = _BEGINNING.match(block.text)
        label, deeper = number.groups() if number else ("", "")
        first, dots = _place(label), deeper.count(".")
        if series.begins_chapter(first, dots, is_title=block.level > 0):
            line, _, more = block.text.strip().partition("\n")
            is_title = not block.level and not dots and _is_chapter(line)
            if is_title and not more:
                block = replace(block, level=series.level)
            else:
                yield Block(line if is_title else label, level=series.level, silent=True)
            series.chapter, series.item = first, 0
        elif block.level:
            series.enter(first, dots, level=block.level)
        elif first and not dots:
            series.item = first
        yield block


@dataclass(slots=True)
class _Series:
    """Where the numbers of a text are: in which chapter, and at which item of a list.

    ``has_title`` says whether the chapter has one ("7. Services"), ``has_sections`` whether the
    sections of such a chapter have its number ("7.1").
    """

    chapter: int = 0
    level: int = 1
    item: int = 0
    has_title: bool = False
    has_sections: bool = False

    def begins_chapter(self, first: int, dots: int, *, is_title: bool) -> bool:
        """Return whether a number of a block begins a later chapter, whose title is not there."""
        self.has_sections |= self.has_title and dots > 0 and first == self.chapter
        if not 0 < self.chapter < first:
            return False
        if dots:
            return self.has_sections if self.has_title else not is_title
        # An item of a list follows another one.
        is_next = first == self.chapter + 1 and self.item != self.chapter
        return is_next and self.has_title and self.has_sections and not is_title

    def enter(self, first: int, dots: int, *, level: int) -> None:
        """Enter the section of a title."""
        self.item = 0
        if first and not (dots and self.has_title):
            self.chapter, self.level, self.has_title = first, max(1, level - dots), not dots
        elif not first and level <= self.level:
            self.chapter, self.has_title = 0, False


def _place(label: str) -> int:
    """Return the number of a chapter; appendices with letters follow the others."""
    return int(label) if label.isdecimal() else 100 + ord(label) if label else 0


def numbered_titles(
    paragraphs: Sequence[Sequence[str]], *, listed: frozenset[str]
) -> dict[int, int]:
    """Return the paragraphs that are titles with a number, with their levels.

    They have one line, or are ``listed`` in a table of contents.
    """
    divisions = _divisions(paragraphs)
    chapters = _chapters(paragraphs)
    order = list(dict.fromkeys(each.word for each in divisions.values()))
    order = [word for word in order if not division_words()[word]]
    levels: dict[int, int] = {}
    above = (1, 0)  # the level and the number of the last division
    restarts = False  # whether the sections of each division are counted from 1
    for at, (lines, following) in enumerate(zip_longest(paragraphs, paragraphs[1:])):
        line = _joined(lines)
        if division := divisions.get(at):
            level = 1 if division_words()[division.word] else 1 + order.index(division.word)
            levels[at] = level + division.deeper
            above = (level, division.number)
        elif line not in listed and (at in chapters or _has_sections(lines, following)):
            levels[at] = 1
        elif title := _LISTED.match(line) if line in listed else _numbered(lines):
            restarts |= above[1] > 0 and not title["deeper"]
            inside = above[0] if restarts or division_value(title["first"]) == above[1] else 1
            levels[at] = inside + restarts + (title["deeper"] or "").count(".")
    return levels


def listed_titles(paragraphs: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the entries of tables of contents with numbers that are titles further on.

    Nearly all entries are, in the same order.
    """
    alone = {_joined(lines): at for at, lines in enumerate(paragraphs)}
    found: set[str] = set()
    for at, lines in enumerate(paragraphs):
        starts = [n for n, line in enumerate(lines) if _LISTED.match(line.strip())]
        if len(starts) < MIN_LISTED or starts[0]:
            continue
        entries = [_joined(lines[n:end]) for n, end in pairwise([*starts, len(lines)])]
        titles = [entry for entry in entries if alone.get(entry, 0) > at]
        places = [alone[title] for title in titles]
        is_whole = len(titles) >= max(MIN_LISTED, MIN_LISTED_SHARE * len(entries))
        if is_whole and places == sorted(places):
            found.update(titles)
    return frozenset(found)


def _joined(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


@cache
def division_words() -> Mapping[str, bool]:
    """Return the words for divisions, folded, each with whether it is one for appendices."""
    return {
        normalize_name(word): key == "appendices"
        for table in _tables().values()
        for key in ("divisions", "appendices")
        for word in table[key]
    }


@cache
def words_for(kind: str) -> tuple[str, ...]:
    """Return the words of all languages for "chapters", "annexes" or "parts", the longest first."""
    found = {normalize_name(word) for each in _tables().values() for word in each[kind]}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


def full_word(word: str) -> str:
    """Return the word for a division that a folded one stands for: "article" for "art"."""
    tables = _tables().values()
    return next(
        (each["abbreviations"][word] for each in tables if word in each["abbreviations"]), word
    )


def division_rows(name: str) -> Iterator[str]:
    """Yield the regular expressions of a row in all languages: "formal" or "outside"."""
    for table in _tables().values():
        yield from table[name]


@cache
def _tables() -> Mapping[str, Table]:
    return language_tables("quoth.ingest.readers", "divisions")


def _divisions(paragraphs: Sequence[Sequence[str]]) -> dict[int, _Division]:
    """Return the titles of divisions, without those that are listed in a table of contents."""
    found = {
        at: division
        for at, lines in enumerate(paragraphs)
        if len(lines) == 1 and (division := _division(lines[0].strip()))
    }
    listed: set[int] = set()
    for one, other in pairwise(found):
        if other == one + 1 and found[one].word == found[other].word:
            listed.add(one)
            again = any(found[later] == found[other] for later in found if later > other)
            listed |= {other} if again else set()
    return {at: division for at, division in found.items() if at not in listed}


def _is_appendix(title: str) -> bool:
    division = _division(title)
    return division is not None and division_words()[division.word]


def _division(line: str) -> _Division | None:
    """Return the division that a line is the title of, None for another line."""
    parts = _DIVISION.fullmatch(line) if len(line) <= MAX_TITLE else None
    if parts is None or (word := normalize_name(parts["word"])) not in division_words():
        return None
    number, title = division_value(parts["number"]), parts["title"]
    if number is None or title.endswith((",", ";", ":", "!")):
        return None
    # A sentence may begin with a reference: "Part 2 says more.", "Section 4. No fee is due."
    begins = title[:1].isupper() or title[:1] in _OPENING
    is_sentence = title.endswith((".", "?")) and not parts["word"].isupper()
    if title and not parts["mark"] and (is_sentence or not begins):
        return None
    return _Division(word, number, (parts["deeper"] or "").count("."))


def division_value(number: str) -> int | None:
    """Return the value of the number or letter of a division."""
    if digits := re.match(r"\d+", number):
        return int(digits[0])
    if _ROMAN.fullmatch(number) and (roman := roman_number(number)):
        return roman
    if _LETTER.fullmatch(number):
        return ord(number) - ord("A") + 1
    name = normalize_name(number)
    return WORDS.get(name) or ORDINALS.get(name) or further_numbers().get(name)


def _chapters(paragraphs: Sequence[Sequence[str]]) -> set[int]:
    """Return the paragraphs that are titles like "4. Commands", where others are like "4.1 Names".

    Their numbers follow one another, or that of a section; the last of several counts, since the
    first may be in a table of contents. Each section has its chapter, or none is one.
    """
    chapters: dict[int, int] = {}
    sections: set[int] = set()
    columns: set[int] = set()
    above, item = -1, -1
    for at, lines in enumerate(paragraphs):
        title = lines[0].strip()
        number = NUMBER.match(title) if len(lines) == 1 else None
        top = int(re.split(r"\D", title, maxsplit=1)[0]) if number else -1
        if number and _NUMBERED.fullmatch(title):
            columns.add(indent(lines[0]))
            sections.add(top)
        elif number and is_title(title):
            is_next = top == 1 or top - 1 in chapters or top - 1 in sections
            # An item follows another one, be it at once or behind text.
            if is_next and top not in sections and top - 1 not in (above, item):
                chapters[top] = at
            else:
                item = top
        above = top if number else -1
    found = {top: at for top, at in chapters.items() if indent(paragraphs[at][0]) in columns}
    return set(found.values()) if sections <= set(found) else set()


def _is_chapter(line: str) -> bool:
    """Return whether a line may be a title with one number: no sentence goes on behind it."""
    return _CHAPTER.fullmatch(line) is not None and not _SENTENCE_END.search(line)


def _numbered(lines: Sequence[str]) -> re.Match[str] | None:
    return _NUMBERED.fullmatch(lines[0].strip()) if len(lines) == 1 else None


def _has_sections(lines: Sequence[str], following: Sequence[str] | None) -> bool:
    """Return whether a line is a title like "6. Versions", which "6.1" follows."""
    title = _CHAPTER.fullmatch(lines[0].strip()) if len(lines) == 1 and following else None
    first = re.match(r"\s*(\d{1,2})\.[01]\b", following[0]) if title and following else None
    return bool(title and first and title[1] == first[1])
