"""Numbers as people write them in titles and questions: digits, Roman numerals and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def roman_number(text: str) -> int | None:
    """Read a Roman numeral of any case, up to 3999; None where it is none."""
    small = text.lower()
    if not ROMAN.fullmatch(small):
        return None
    values = [_VALUES[letter] for letter in small]
    following = [*values[1:], 0]
    return sum(-one if one < other else one for one, other in zip(values, following, strict=True))


def _english() -> Iterator[tuple[str, int]]:
    ones = "one two three four five six seven eight nine".split()
    teens = (
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    )
    yield from ((word, number) for number, word in enumerate([*ones, *teens], start=1))
    for ten, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2):
        yield word, 10 * ten
        yield from ((f"{word} {one}", 10 * ten + number) for number, one in enumerate(ones, 1))


def _french() -> Iterator[tuple[str, int]]:
    ones = "un deux trois quatre cinq six sept huit neuf".split()
    teens = "dix onze douze treize quatorze quinze seize".split()
    low = [*ones, *teens, "dix sept", "dix huit", "dix neuf"]
    yield from ((word, number) for number, word in enumerate(low, start=1))
    yield from (("une", 1), ("premier", 1), ("premiere", 1))
    for ten, word in enumerate("vingt trente quarante cinquante".split(), 2):
        yield word, 10 * ten
        yield from ((f"{word} {one}", 10 * ten + number) for number, one in enumerate(ones, 1))
        yield f"{word} et un", 10 * ten + 1
    for base, word in ((60, "soixante"), (80, "quatre vingt")):
        yield word, base
        yield from ((f"{word} {each}", base + number) for number, each in enumerate(low, 1))
        yield from ((f"{word} et un", base + 1), (f"{word} et onze", base + 11))
    yield "quatre vingts", 80


WORDS: Mapping[str, int] = MappingProxyType(dict([*_english(), *_french()]))
"""Cardinal numbers from 1 to 99 in English and French, folded, their parts joined by spaces."""


def number_of(text: str) -> int | None:
    """Read a whole number in digits, Roman numerals or words (folded); None where it is none.

    "1er" and "1st" are numbers; words are English and French, with hyphens or without.
    """
    plain = text.strip().lower()
    digits = re.fullmatch(r"(\d{1,4})(?:er|ere|re|e|eme|st|nd|rd|th)?", plain)
    if digits:
        return int(digits[1])
    return WORDS.get(" ".join(plain.replace("-", " ").split())) or roman_number(plain)
