"""Divisions that begin their paragraph: "Art. 4. - The board meets twice a year"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quoth.ingest.readers.blocks import Block, to_plain_text
from quoth.ingest.readers.numbered_titles import division_value, division_words, full_word
from quoth.text.analyzer import normalize_name

MIN_STEPS = 2
"""Times that a number is greater than the one before: three divisions that count up."""

_DIVISION = re.compile(
    r"\s*(?P<name>(?:(?P<word>[^\W\d_]{2,})\.?(?=\s)|(?P<sign>§+))\s*"
    r"(?P<number>\d{1,3}(?P<deeper>(?:\.\d{1,2}){0,3})(?:er|[eè]re|e|º|°)?(?!\w)|[^\W\d_]+))"
    r"(?P<mark>[.)]?\s*[:–—]|[.)]?\s*-(?=\s)|[.)](?=\s+[\"'“«‘(\[]?\s?[^\W\d_a-zà-ÿ]))?"
)
_LISTED = re.compile(r"(?:\.{3}|…|\t| {3})\s{0,40}\d{1,4}\s{0,40}$")
"""The page behind an entry of a table of contents."""
_LISTED_WITHIN = 40
"""Last characters of a paragraph in which such a page is looked for."""
_ENDED = re.compile(r"[.:;!?…][\s»”\"'’)\]]*$")

_Number = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What a paragraph begins with: its name as it stands, its word, folded, and its number.

    ``is_marked`` tells it from a sentence that begins with a reference: "Article 4 says …".
    """

    name: str
    word: str
    number: _Number
    is_marked: bool


def with_division_sections(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a document; a section begins where a paragraph does with a division.

    At least three have a number that is 1 or greater than the one before, where headings with that
    word count, too. The text of the paragraph stays as it is. Headings that are sentences, too, are
    such paragraphs, where there are others.
    """
    found = {at: each for at, block in enumerate(blocks) if (each := _division(block.text))}
    found = {at: each for at, each in found.items() if blocks[at].level or each.is_marked}
    levels = {each.word: blocks[at].level for at, each in found.items() if blocks[at].level}
    scopes = _scopes(blocks, found, levels)
    taken = {(scopes[at], each.number) for at, each in found.items() if blocks[at].level}
    new = {
        at: each
        for at, each in _counting(found).items()
        if not blocks[at].level and (scopes[at], each.number) not in taken
    }
    taken |= {(scopes[at], each.number) for at, each in new.items()}
    words = {each.word for each in new.values()}
    order = list(dict.fromkeys(each.word for each in new.values() if each.word not in levels))
    kept: list[Block] = []
    level = 0
    for at, block in enumerate(blocks):
        each = found.get(at)
        is_sentence = each is not None and each.word in words and block.text.endswith(".")
        if each and (at in new or (block.level and is_sentence)):
            above = levels.get(each.word) or level + 1 + order.index(each.word)
            is_inside = (scopes[at], each.number[:1]) in taken
            below = block.level or above + is_inside * (len(each.number) - 1)
            kept.append(Block(each.name, level=below, anchor=block.anchor, silent=True))
            kept.append(replace(block, level=0))
        else:
            level = block.level or level
            kept.append(block)
    return kept


def _scopes(
    blocks: Sequence[Block], found: Mapping[int, _Beginning], levels: Mapping[str, int]
) -> dict[int, tuple[str, int]]:
    """Return the word of each division and the higher heading that it is below."""
    scopes: dict[int, tuple[str, int]] = {}
    above: dict[int, int] = {}
    for at, block in enumerate(blocks):
        if each := found.get(at):
            own = block.level or levels.get(each.word, 0)
            scopes[at] = each.word, max((n for level, n in above.items() if level < own), default=0)
        if block.level:
            above[block.level] = at
    return scopes


def split_at_divisions(paragraphs: Sequence[Mapping[int, str]]) -> list[dict[int, str]]:
    """Return paragraphs of numbered lines, parted where a line begins with a division.

    The line before is that of a whole sentence, and the divisions count up.
    """
    found: dict[int, _Beginning] = {}
    for paragraph in paragraphs:
        before = "."
        for number, line in paragraph.items():
            if _ENDED.search(before) and (each := _division(line)) and each.is_marked:
                found[number] = each
            before = line
    begun = _counting(found)
    parted: list[dict[int, str]] = []
    for paragraph in paragraphs:
        parted.append({})
        for number, line in paragraph.items():
            if number in begun and parted[-1]:
                parted.append({})
            parted[-1][number] = line
    return parted


def _counting(found: Mapping[int, _Beginning]) -> dict[int, _Beginning]:
    """Return the divisions of each word that count up, without those that do not follow."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for at, each in found.items():
        places = by_word[each.word]
        last = found[places[-1]].number if places else (0,)
        if each.number > last or each.number[-1] == 1:
            places.append(at)
    return {
        at: found[at]
        for places in by_word.values()
        if sum(_steps(found[at].number for at in places)) >= MIN_STEPS
        for at in places
    }


def _steps(numbers: Iterator[_Number]) -> Iterator[bool]:
    return (one < other for one, other in pairwise(numbers))


def _division(text: str) -> _Beginning | None:
    """Return the division that a text begins with, None without one."""
    parts = _DIVISION.match(text)
    if parts is None or _LISTED.search(text, max(0, len(text) - _LISTED_WITHIN)):
        return None
    word = full_word(normalize_name(parts["word"] or parts["sign"]))
    first = division_value(parts["number"]) if word in division_words() else None
    if first is None:
        return None
    number = (first, *map(int, (parts["deeper"] or "").split(".")[1:]))
    return _Beginning(to_plain_text(parts["name"]), word, number, bool(parts["mark"]))
