"""The layout of plain texts: margins, wrapped lines, list items, definitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from quoth.ingest.readers.hyphens import WORD, belongs, evidence

MIN_CAPTION_WIDTH = 34
"""Characters from which lines that run on, as those of live captions do, are wrapped prose."""
MIN_WRAP_WIDTH = 50
MAX_WRAP_WIDTH = 120
"""Characters between which lines are taken for wrapped prose."""
MIN_FILLED = 2
"""Full lines with which a part that is indented is wrapped prose."""
MIN_WORDS = 4
"""Words of each of these lines, unlike those of a list of long names."""
MIN_WRAPPED_SHARE = 2 / 3
"""Share of the line breaks of a paragraph that are due to wrapping, where it is prose."""
MIN_AT_MARGIN = 8
"""Lines at a margin that is not the first column."""
MARGIN_RATIO = 2
"""How many times more lines stand at a margin than left of it."""
MAX_TITLE_REPEATS = 2
"""Times that a title may occur; the names of speakers and the heads of pages recur more often."""
MAX_TITLE = 80
MAX_TERM = 60
"""Characters of a term that is defined."""

ITEM = re.compile(r"\s*(?:[-*•·+>|#]|\(?\d{1,3}[.)°]|[a-z][.)])\s+")
NUMBER = re.compile(r"\d{1,2}((?:\.\d{1,2}){0,3})\.?[ \t]")
_COLUMNS = re.compile(r".*(?:[^\s.!?] {3}|\S {4}|\S\t)\s*\S")
"""A gap within a line; justified sentences may be three blanks apart."""
_NO_TITLE = re.compile(r"[a-z]|[\W_]|.*(?: {3}|[\t={}\\<>$])|.*[.,;:!]$")
_PROGRAM = re.compile(r"[={}\\<>$_]")
_AFTER_TERM = re.compile(r" {2}\S")
_TERM_END = re.compile(r"[^\W_][)>\]'\"”’»*?]*$")
_TYPESET_HYPHEN = "\u2010"
"""What groff puts at the end of a line, be it part of the word or not."""
_PLAIN_WORD = re.compile(r"(?:^|[\s(\[\"'“«‘])[^\W\d_]+(?:[-'’][^\W\d_]+)*.$")
"""A broken word that is no option, path or name of a file."""
_PART = re.compile(r"[^\W\d_]+-|(?:and|or|und|oder|et|ou)\b")
"""What follows "va-" in "va-t-il", or "short-" in "short- or long-term"."""
_LINE_HYPHEN = re.compile(rf"(?<=[^\W\d_])[-{_TYPESET_HYPHEN}]$")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the lines of a text begin and end.

    ``margin`` is the column at which its prose begins, ``width`` the column at which it is wrapped,
    None where it is not. ``words`` counts those that no line's end breaks; ``breaks_words`` means
    that the hyphens at its lines' ends are mostly of words that it writes without elsewhere.
    """

    margin: int
    width: int | None
    words: Counter[str]
    breaks_words: bool


def layout_of(paragraphs: Sequence[Sequence[str]]) -> Layout:
    """Return the layout of a text, given the lines of its paragraphs."""
    words: Counter[str] = Counter()
    broken: list[tuple[str, str]] = []
    for lines in paragraphs:
        for line, following in zip_longest(lines, lines[1:], fillvalue=""):
            whole = line.replace(_TYPESET_HYPHEN, "-")
            if _LINE_HYPHEN.search(whole) and following:
                broken.append((whole[-MAX_TERM:-1], following.lstrip()))
                whole = whole[:-1].rpartition(" ")[0]
            words.update(WORD.findall(whole))
    for _, following in broken:
        words.subtract(WORD.findall(following)[:1])
    found = [evidence(before, following, words=words) for before, following in broken]
    return Layout(
        _margin(paragraphs),
        _wrap_width(paragraphs),
        words,
        sum(whole > hyphenated for whole, hyphenated in found)
        > sum(hyphenated > whole for whole, hyphenated in found),
    )


def indent(line: str) -> int:
    """Return the number of blanks that a line begins with."""
    return len(line) - len(line.lstrip())


def _margin(paragraphs: Sequence[Sequence[str]]) -> int:
    """Return the last column with many more lines than there are left of it."""
    columns = Counter(indent(line) for lines in paragraphs for line in lines)
    margin = left = 0
    for column, count in sorted(columns.items()):
        if count >= max(MIN_AT_MARGIN, MARGIN_RATIO * left):
            margin = column
        left += count
    return margin


def _wrap_width(paragraphs: Sequence[Sequence[str]]) -> int | None:
    inner = sorted(len(line) for lines in paragraphs for line in lines[:-1])
    if len(inner) < 3:
        return None
    width = inner[int(0.95 * (len(inner) - 1))]
    if MIN_CAPTION_WIDTH <= width < MIN_WRAP_WIDTH:
        return width if _run_on(paragraphs) else None
    return width if MIN_WRAP_WIDTH <= width <= MAX_WRAP_WIDTH else None


def _run_on(paragraphs: Sequence[Sequence[str]]) -> bool:
    """Return whether most lines go on in the next one, in lower case and without a sign between.

    Those of verse, addresses and lists do not.
    """
    breaks = [pair for lines in paragraphs for pair in pairwise(lines)]
    going = sum(one[-1:].isalpha() and other.lstrip()[:1].islower() for one, other in breaks)
    return 2 * going > len(breaks)


def is_title(line: str) -> bool:
    """Return whether a line may be a title: short, no sentence, with a capital or number first."""
    title = line.strip()
    if not title or len(title) > MAX_TITLE or _NO_TITLE.match(title):
        return False
    if title[0].isdigit() and not NUMBER.match(title):
        return False
    return title.count("(") == title.count(")")


def outdented_titles(paragraphs: Sequence[Sequence[str]], layout: Layout) -> dict[int, int]:
    """Return the paragraphs that begin with a title left of the margin, with its level.

    The text below it stands further right. Titles further right are below those further left. A
    column in which a title recurs has none: these are names of speakers, or heads of pages.
    """
    times = Counter(line for lines in paragraphs for line in lines)
    found: dict[int, int] = {}
    recurring: set[int] = set()
    for number, (lines, following) in enumerate(zip_longest(paragraphs, paragraphs[1:])):
        first, below = lines[0], [*lines[1:], *(following or ())]
        column = indent(first)
        if not below or column >= min(layout.margin, indent(below[0])) or not is_title(first):
            continue
        if layout.width and lines[1:] and _is_wrapped(*lines[:2], width=layout.width):
            continue
        found[number] = column
        if times[first] > MAX_TITLE_REPEATS:
            recurring.add(column)
    columns = sorted(set(found.values()) - recurring)
    return {
        number: 1 + columns.index(column)
        for number, column in found.items()
        if column not in recurring
    }


def paragraph_text(lines: Sequence[str], layout: Layout) -> str:
    """Return a paragraph without the margin, each item, term and definition on a line of its own.

    Lines that were wrapped are joined; those of tables and programs stay as they are.
    """
    parts = _parts(list(_with_terms_apart(lines)))
    return "\n".join(
        _part_text(part, before, layout) for before, part in zip([[], *parts], parts, strict=False)
    )


def _with_terms_apart(lines: Sequence[str]) -> Iterator[str]:
    """Return the lines, a term in front of its definition as a line of its own.

    The definition begins after two blanks or more, where the next line begins, too.
    """
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        column = indent(following)
        apart = indent(line) < column and _AFTER_TERM.match(line, column - 2)
        if apart and not ITEM.match(line):
            yield line[:column].rstrip()
            yield " " * column + line[column:]
        else:
            yield line


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """Part a paragraph at its items and where lines are indented otherwise.

    The first line of a part may be indented more, as in books.
    """
    parts: list[list[str]] = []
    column = 0
    for line in lines:
        item = ITEM.match(line)
        if parts and not item and (indent(line) == column or _is_second(line, parts)):
            parts[-1].append(line)
        else:
            parts.append([line])
        column = item.end() if item else indent(line)
    return parts


def _is_second(line: str, parts: Sequence[Sequence[str]]) -> bool:
    """Return whether a line goes on after a first line that is indented more."""
    if len(parts[-1]) > 1 or indent(line) >= indent(parts[-1][0]) or ITEM.match(parts[-1][0]):
        return False
    return len(parts) == 1 or (len(parts[-2]) > 1 and indent(parts[-2][-1]) == indent(line))


def _part_text(lines: Sequence[str], before: Sequence[str], layout: Layout) -> str:
    """Return the lines of a part without the margin, as one where they are wrapped prose.

    Such are at the margin, of an item or of a definition, or have several lines which are all full;
    ``before`` is the part before, which may be the term that is defined.
    """
    own = [line[min(layout.margin, indent(line)) :] for line in lines]
    if len(lines) == 1 or layout.width is None or any(map(_COLUMNS.match, lines)):
        return "\n".join(own)
    item, first = ITEM.match(lines[0]), indent(lines[0])
    defines = len(before) == 1 and indent(before[0]) < first and _is_term(before[0])
    wrapped = [_is_wrapped(*pair, width=layout.width) for pair in pairwise(lines)]
    at_margin = min(map(indent, lines)) <= layout.margin
    if not (item or defines or at_margin or _is_filled(lines, wrapped)):
        return "\n".join(own)
    if sum(wrapped) < MIN_WRAPPED_SHARE * len(wrapped):
        return "\n".join(own)
    stripped = [line.strip() for line in own]
    return _joined([own[0] if item else stripped[0], *stripped[1:]], wrapped, layout)


def _is_filled(lines: Sequence[str], wrapped: Sequence[bool]) -> bool:
    """Return whether several lines of words, without signs of programs, are all full."""
    return (
        len(wrapped) >= MIN_FILLED
        and all(wrapped)
        and all(len(line.split()) >= MIN_WORDS for line in lines[:-1])
        and not any(map(_PROGRAM.search, lines))
    )


def _is_term(line: str) -> bool:
    return len(line.strip()) <= MAX_TERM and _TERM_END.search(line) is not None


def _is_wrapped(line: str, following: str, *, width: int) -> bool:
    """Return whether the first word of the following line had no room in the line."""
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) >= width - 2


def _joined(lines: Sequence[str], wrapped: Sequence[bool], layout: Layout) -> str:
    """Join the lines that were wrapped; the others stay lines."""
    text = lines[0]
    for line, goes_on in zip(lines[1:], wrapped, strict=True):
        if not (_LINE_HYPHEN.search(text[-2:]) and line[:1].isalpha()):
            text += (" " if goes_on else "\n") + line
            continue
        # "well-" and "known" stay one word, with the hyphen that was printed.
        may_break = layout.breaks_words or text[-1] == _TYPESET_HYPHEN
        if may_break and _PLAIN_WORD.search(text[-MAX_TERM:]) and not _PART.match(line):
            broken = not belongs(text[-MAX_TERM:-1], line, words=layout.words)
            text = text[:-1] if broken else text
        text += line
    return re.sub(r"(?<=\S) +", " ", text)
