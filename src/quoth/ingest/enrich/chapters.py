"""Document outline: chapters and sections as numbered ranges of chunks, and segments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quoth.core.outline import Heading
from quoth.core.types import Chunk, Pages, ParsedDocument
from quoth.ingest.enrich.segments import segments_of
from quoth.ingest.readers.numbered_titles import division_rows, words_for
from quoth.text.analyzer import normalize_name
from quoth.text.numbers import WORDS, further_numbers, number_of, roman_number

MIN_CHAPTERS = 3
"""Top sections from which their places are taken for chapter numbers, where none is printed."""
LOW = 2
"""The highest number with which a sequence may begin."""

_WORDS = "|".join(
    word.replace(" ", "[ -]?")
    for word in sorted((*WORDS, *further_numbers()), key=len, reverse=True)
)
_NUMBER = rf"(?:\d{{1,3}}(?:er|ere|re)?|[ivxlc]{{1,8}}|{_WORDS})"
_ORDINAL = "|".join(sorted(further_numbers("ordinals"), key=len, reverse=True))
_CHAPTERS, _ANNEXES, _PARTS = (
    "|".join(map(re.escape, words_for(kind))) for kind in ("chapters", "annexes", "parts")
)
_CHAPTER = re.compile(rf"(?:{_CHAPTERS})\s*+(?:n[o°]\s*+)?({_NUMBER})(?![\w'])|"
                      rf"({_ORDINAL}) (?:{_CHAPTERS})(?!\w)")  # fmt: skip
_APPENDIX = re.compile(rf"(?:{_ANNEXES})(?:\s+([a-z]|\d{{1,2}}|[ivx]{{1,5}}))?\b(?!')")
_PART = re.compile(rf"(?:{_PARTS})\s++({_NUMBER})(?![\w'])|(?<!\w)\w++ partie\b|"
                   rf"(?:{_ORDINAL}) (?:{_PARTS})(?!\w)")  # fmt: skip
_DOTTED = re.compile(r"(\d{1,3}|[a-z])\.\d{1,3}(?:\.\d{1,3}){0,3}\.?(?=\s|$)")
_BARE = re.compile(r"(\d{1,3})(?:[.:)](?!\d)|\s*[-–—]\s|\s)\s*(?=\S)")
_ALONE = re.compile(r"\d{1,2}[.:]\s*(?=[^\W\d])")
_BARE_ROMAN = re.compile(r"([ivxl]{1,7})(?:[.:)]|\s+[-–—]\s|\s)\s*(?=\S)")
_BARE_LETTER = re.compile(r"([a-z])(?:[.:)]|\s)\s*(?=\S)")

_FORMAL = "|".join(division_rows("formal"))
_FORMALITIES = re.compile(rf"(?:{_FORMAL})[\s.:]*")
"""Titles, folded, of what stands around the text and says nothing about it."""
_OUTSIDE = re.compile(rf"(?:{_FORMAL}|{'|'.join(division_rows('outside'))})[\s.:]*")
"""Titles, folded, of what stands around the chapters of a book."""


@dataclass(frozen=True, slots=True)
class _Numbering:
    """Numbering scheme of the titles of one document; ``bare`` is the numbered depth.

    ``roman`` says that the bare numbers are Roman, ``letters`` are those of bare appendices.
    """

    words: bool
    dotted: bool
    bare: int | None = None
    roman: bool = False
    letters: frozenset[str] = frozenset()
    roman_appendices: bool = False


def contents_of(
    reading: ParsedDocument, chunks: Sequence[Chunk]
) -> tuple[tuple[Chunk, ...], tuple[Heading, ...]]:
    """Return the chunks with chapter and segment, and the headings in order of the text.

    A segment that a heading names is marked on that heading; one detected from speech is a heading
    of its own, without a title.
    """
    segments = segments_of(chunks)
    titled = {(segment.path, segment.first): segment for segment in segments if segment.path}
    found = [
        replace(heading, segment=titled[heading.path, heading.first].segment)
        if (heading.path, heading.first) in titled
        else heading
        for heading in headings_of(reading, chunks)
    ]
    found += [segment for segment in segments if not segment.path]
    return _marked(chunks, found, segments=segments), tuple(found)


def _marked(
    chunks: Sequence[Chunk], headings: Sequence[Heading], *, segments: Sequence[Heading]
) -> tuple[Chunk, ...]:
    chapters: dict[int, str] = {}
    for heading in headings:  # inner headings follow outer ones
        if heading.chapter:
            chapters.update(dict.fromkeys(range(heading.first, heading.last + 1), heading.chapter))
    kinds = {
        at: segment.segment for segment in segments for at in range(segment.first, segment.last + 1)
    }
    return tuple(
        replace(chunk, chapter=chapters.get(at, ""), segment=kinds.get(at, ""))
        if at in chapters or at in kinds
        else chunk
        for at, chunk in enumerate(chunks)
    )


def headings_of(reading: ParsedDocument, chunks: Sequence[Chunk]) -> tuple[Heading, ...]:
    """Return the headings of a document in order of the text, parents before children.

    A heading spans all the chunks whose path of titles begins with its own. Its chapter is that
    of the nearest title with a number; where no title of a paged document has one, chapters are
    counted among the top-level sections, without front and back matter (`_OUTSIDE`).
    """
    found = list(_nested(chunks))
    numbering = _numbering([each.path for each in found])
    numbered = [replace(each, chapter=_chapter(each.path, numbering)) for each in found]
    if reading.pages is not None and not any(each.chapter.isdecimal() for each in numbered):
        numbered = _by_position(numbered, in_front=_in_front(chunks))
    return tuple(numbered)


def _nested(chunks: Sequence[Chunk]) -> Iterator[Heading]:
    """Return a heading for each title on the paths of consecutive chunks, outer ones first.

    The same section twice in a row is merged: the two cannot be distinguished.
    """
    begun: list[tuple[tuple[str, ...], int]] = []
    lasts: list[int] = []
    open_now: list[int] = []
    path: tuple[str, ...] = ()
    for ordinal, chunk in enumerate(chunks):
        if chunk.section == path:
            continue
        same = 0
        while same < min(len(path), len(chunk.section)) and path[same] == chunk.section[same]:
            same += 1
        for place in open_now[same:]:
            lasts[place] = ordinal - 1
        del open_now[same:]
        path = chunk.section
        for depth in range(same, len(path)):
            open_now.append(len(begun))
            begun.append((path[: depth + 1], ordinal))
            lasts.append(len(chunks) - 1)
    for (titles, first), last in zip(begun, lasts, strict=True):
        yield Heading(chunks[0].document_id, titles, first, last)


# --- numbers in titles ------------------------------------------------------------------------


def _numbering(paths: Sequence[tuple[str, ...]]) -> _Numbering:
    """Detect how the titles of a document are numbered.

    A bare number before a title counts only as part of a sequence: "3 Attention" after "2
    Embeddings" is a chapter, "3 ways to sleep well" is not. With a full stop it also counts in the
    top-level title: the document is then that chapter of a larger work.
    """
    titles = [(len(path), normalize_name(path[-1])) for path in paths]
    appendices = [match[1] for _, title in titles if (match := _APPENDIX.match(title)) and match[1]]
    roman_appendices = bool(appendices) and appendices[0] == "i"
    words = any(_CHAPTER.match(title) for _, title in titles)
    dots = [match for _, title in titles if (match := _DOTTED.match(title))]
    rows = [_parts(match[0]) for match in dots if match[1].isdigit()]
    # Releases are listed backwards, chapters are not; appendices may begin again with 1.
    back = [(before, after) for before, after in pairwise(rows) if before > after]
    again = len(back) == 1 and back[0][0][0] >= MIN_CHAPTERS and back[0][1][0] <= LOW
    dotted = bool(rows) and (not back or again)
    if words:
        bare = _mixed_depth(titles)
        return _Numbering(words, dotted, bare, roman_appendices=roman_appendices)
    top = [title for depth, title in titles if depth == 1]
    if len(top) == 1 < len(titles) and _ALONE.match(top[0]):
        return _Numbering(words, dotted, bare=1, roman_appendices=roman_appendices)
    for roman, pattern in ((False, _BARE), (True, _BARE_ROMAN)):
        for depth in sorted({depth for depth, _ in titles})[:3]:
            row = [
                roman_number(match[1]) if roman else int(match[1])
                for at, title in titles
                if at == depth and not _PART.match(title) and (match := pattern.match(title))
            ]
            if _is_row_or_two([number for number in row if number is not None]):
                letters = frozenset(_letters(titles, depth, {match[1] for match in dots}))
                return _Numbering(words, dotted, depth, roman, letters, roman_appendices)
    return _Numbering(words, dotted, roman_appendices=roman_appendices)


def _mixed_depth(titles: Sequence[tuple[int, str]]) -> int | None:
    """Return the depth at which some chapters say so and others only have their number."""
    for depth in sorted({depth for depth, title in titles if _CHAPTER.match(title)}):
        row = [
            number_of(match[match.lastindex or 0])
            for at, title in titles
            if at == depth and (match := _CHAPTER.match(title) or _BARE.match(title))
        ]
        if _is_row([number for number in row if number is not None]):
            return depth
    return None


def _parts(dotted: str) -> list[int]:
    return [int(part) for part in dotted.split(".") if part]


def _is_row_or_two(numbers: Sequence[int]) -> bool:
    """Return whether the numbers form a sequence, or one and that of the appendices after it."""
    again = next((at for at in range(MIN_CHAPTERS, len(numbers)) if numbers[at] == 1), len(numbers))
    first, second = numbers[:again], numbers[again:]
    return _is_row(first) and (not second or _is_row(second))


def _is_row(numbers: Sequence[int]) -> bool:
    """Return whether the numbers form a sequence: two or more, starting low, mostly consecutive."""
    if len(numbers) < 2 or numbers[0] > LOW:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    return min(steps) > 0 and 4 * sum(step == 1 for step in steps) >= 3 * len(steps)


def _letters(titles: Sequence[tuple[int, str]], depth: int, heads: set[str]) -> Iterator[str]:
    """Return the letters of appendices whose titles look like those of the chapters."""
    rows = [
        match[1]
        for at, title in titles
        if at == depth and (match := _BARE_LETTER.match(title)) and not _BARE.match(title)
    ]
    expected = "abcdefghijklmnopqrstuvwxyz"[: len(rows)]
    if "".join(rows) == expected and (len(rows) > 1 or set(rows) & heads):
        yield from rows


def _chapter(path: Sequence[str], numbering: _Numbering) -> str:
    """Return the number that the outermost numbered title of a path bears."""
    for depth, title in enumerate(path, start=1):
        number = _number(normalize_name(title), depth, numbering)
        if number:
            return number
    return ""


def _number(title: str, depth: int, numbering: _Numbering) -> str:
    chapter = _CHAPTER.match(title)
    if chapter:
        return str(number_of(chapter[chapter.lastindex or 0]) or "")
    appendix = _APPENDIX.match(title)
    if appendix:
        return _letter(appendix[1] or "a", roman=numbering.roman_appendices)
    dotted = _DOTTED.match(title)
    if dotted and dotted[1].isdigit():
        return str(int(dotted[1])) if numbering.dotted else ""
    if dotted and numbering.dotted:
        return dotted[1]
    if depth != numbering.bare or _PART.match(title):
        return ""
    bare = (_BARE_ROMAN if numbering.roman else _BARE).match(title)
    if bare:
        return str(number_of(bare[1]) or "")
    letter = _BARE_LETTER.match(title)
    return letter[1] if letter and letter[1] in numbering.letters else ""


def _letter(name: str, *, roman: bool) -> str:
    """Name an appendix by its letter, also where it is printed with a number."""
    number = int(name) if name.isdigit() else roman_number(name) if roman else None
    if number is None and len(name) > 1:
        number = roman_number(name)
    return chr(ord("a") + min(number, 26) - 1) if number else name


# --- numbers by position ----------------------------------------------------------------------


def _in_front(chunks: Sequence[Chunk]) -> int:
    """Return how many chunks stand on the pages in front that have Roman numbers."""
    labels = [c.locator.label_first if isinstance(c.locator, Pages) else "" for c in chunks]
    first = next((at for at, label in enumerate(labels) if label == "1"), 0)
    return first if any(roman_number(label) for label in labels[:first]) else 0


def _by_position(headings: Sequence[Heading], *, in_front: int) -> list[Heading]:
    """Number the chapters of a book whose titles have no numbers."""
    chapters = [
        heading
        for heading in tops(headings)
        if heading.first >= in_front
        and not heading.chapter
        and not is_front_or_back_matter(heading)
    ]
    if len(chapters) < MIN_CHAPTERS:
        return list(headings)
    numbers = {(chapter.path, chapter.first): str(n) for n, chapter in enumerate(chapters, start=1)}
    current: tuple[Heading, str] | None = None
    found = []
    for heading in headings:
        number = numbers.get((heading.path, heading.first))
        if number is not None:
            current = (heading, number)
        inside = current is not None and current[0].first <= heading.first <= current[0].last
        below = current is not None and heading.path[: len(current[0].path)] == current[0].path
        found.append(
            replace(heading, chapter=current[1]) if current and inside and below else heading
        )
    return found


def tops(headings: Sequence[Heading]) -> list[Heading]:
    """Return the top-level headings of the document: its chapters, where it has any.

    A single title above all others, such as the document title, is skipped, and so are parts.
    """
    depth = 1
    level = [heading for heading in headings if len(heading.path) == depth]
    while len(level) == 1 and any(len(heading.path) > depth for heading in headings):
        depth += 1
        level = [heading for heading in headings if len(heading.path) == depth]
    if not any(_is_part(each) for each in level):
        return level
    found: list[Heading] = []
    part: Heading | None = None
    for heading in headings:
        if len(heading.path) == depth:
            part = heading if _is_part(heading) else None
            found.append(heading)
        elif part and len(heading.path) == depth + 1 and heading.path[:depth] == part.path:
            if found[-1] is part:
                found.pop()  # it has chapters, and is none itself
            found.append(heading)
    return found


def is_front_or_back_matter(heading: Heading) -> bool:
    """Return whether a heading is front or back matter: contents, preface, index."""
    return names_matter(_PART.sub("", normalize_name(heading.path[-1])))


def is_formality(heading: Heading) -> bool:
    """Return whether a heading is one of lists and legal texts: contents, index, licence."""
    return _FORMALITIES.fullmatch(normalize_name(heading.path[-1]).strip()) is not None


def names_matter(title: str) -> bool:
    """Return whether a title is one of front or back matter, and so none of a whole document."""
    return _OUTSIDE.fullmatch(normalize_name(title).strip()) is not None


def _is_part(heading: Heading) -> bool:
    return _PART.match(normalize_name(heading.path[-1])) is not None
