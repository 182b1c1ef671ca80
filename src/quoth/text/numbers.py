"""Numbers as people write them in titles and questions: digits, Roman numerals and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_NUMERALS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def roman_number(text: str) -> int | None:
    """Read a Roman numeral of any case, up to 3999; None where it is none."""
    small = text.lower()
    if not ROMAN.fullmatch(small):
        return None
    values = [_VALUES[letter] for letter in small]
    following = [*values[1:], 0]
    return sum(-one if one < other else one for one, other in zip(values, following, strict=True))


def from_roman(label: str) -> int:
    """Return the value of a Roman numeral in lower case; 0 where it is none."""
    return (roman_number(label) or 0) if label.islower() else 0


def to_roman(number: int) -> str:
    """Return a number from 1 to 3999 as a Roman numeral in lower case."""
    label = ""
    for value, letters in _NUMERALS:
        label, number = label + letters * (number // value), number % value
    return label


def labels_between(first: str, last: str) -> range | None:
    """Return the numbers from one page label to another, empty where they run backwards.

    None where they make no range: both must be decimal, or both Roman in lower case.
    """
    if first.isdecimal() and last.isdecimal():
        return range(int(first), int(last) + 1)
    low, high = from_roman(first), from_roman(last)
    return range(low, high + 1) if low and high else None


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

_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth", "cinq": "cinquieme", "neuf": "neuvieme",
    "vingts": "vingtieme",
}  # fmt: skip


def _ordinal(cardinal: str) -> str:
    """Make the ordinal of a folded cardinal: of its last word, as both languages do."""
    *before, last = cardinal.split()
    ending = "th" if cardinal in _ENGLISH else "ieme"
    if last.endswith("y"):
        regular = f"{last[:-1]}ieth"
    else:
        regular = (last.removesuffix("e") if ending == "ieme" else last) + ending
    return " ".join([*before, _IRREGULAR.get(last, regular)])


_ENGLISH = frozenset(word for word, _ in _english())
ORDINALS: Mapping[str, int] = MappingProxyType(
    {
        **{_ordinal(word): number for word, number in WORDS.items()},
        **dict.fromkeys(("premier", "premiere"), 1),
        **dict.fromkeys(("second", "seconde"), 2),
        **dict.fromkeys(("hundredth", "centieme"), 100),
    }
)
"""Ordinal numbers from 1 to 100 in English and French, written as `WORDS` are."""

_ONES_EN = "one|two|three|four|five|six|seven|eight|nine"
_ONES_FR = "une?|deux|trois|quatre|cinq|six|sept|huit|neuf"
_LOW_FR = rf"(?:dix(?:[- ](?:sept|huit|neuf))?|onze|douze|treize|quatorze|quinze|seize|{_ONES_FR})"
_BELOW_HUNDRED = (
    rf"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ](?:{_ONES_EN})\b)?|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen"
    rf"|quatre[- ]vingts?(?:[- ](?:et[- ])?{_LOW_FR}\b)?|soixante(?:[- ](?:et[- ])?{_LOW_FR}\b)?"
    rf"|(?:vingt|trente|quarante|cinquante)(?:[- ](?:et[- ])?(?:{_ONES_FR})\b)?"
    rf"|{_LOW_FR}|{_ONES_EN}|premiere?)\b"
)
CARDINAL = (
    rf"(?:\d{{1,5}}|(?:(?:an?|{_ONES_EN}|{_ONES_FR})[- ])?(?:hundred|cents?)\b"
    rf"(?:[- ](?:and )?{_BELOW_HUNDRED}(?! (?:hundred|cents?)\b))?|{_BELOW_HUNDRED})"
)
"""The pattern of a number below 1000 in words, or of one in digits, folded."""
ORDINAL = (
    r"(?:\d{1,3}(?:st|nd|rd|th|er|ere|re|e|eme|ieme)"
    rf"|(?:(?:(?:{_ONES_EN}) )?hundred(?: and)? |(?:(?:{_ONES_FR}) )?cent )?"
    rf"(?:{'|'.join(w.replace(' ', '[ -]') for w in sorted(ORDINALS, key=len, reverse=True))}))"
)
"""The pattern of an ordinal in digits or in words, folded."""
_HUNDREDS = re.compile(r"(?:(\w+) )?(?:hundred|cents?)(?: and)?(?: (.+))?")
_DIGITS = re.compile(r"(\d{1,5})(?:er|ere|re|e|eme|ieme|st|nd|rd|th)?")


def number_of(text: str) -> int | None:
    """Read a whole number in digits, words or Roman numerals (folded); None where it is none.

    "1er", "1st" and "third" are numbers; words are English and French, with hyphens or without,
    up to 999.
    """
    plain = text.strip().lower()
    digits = _DIGITS.fullmatch(plain)
    if digits:
        return int(digits[1])
    words = " ".join(plain.replace("-", " ").split())
    return _below_hundred(words) or _hundreds(words) or roman_number(plain)


def _below_hundred(words: str) -> int | None:
    return WORDS.get(words) or ORDINALS.get(words)


def _hundreds(words: str) -> int | None:
    found = _HUNDREDS.fullmatch(words)
    if not found:
        return None
    count, rest = found.groups()
    hundreds = 1 if count in (None, "a", "an") else WORDS.get(count)
    left = _below_hundred(rest) if rest else 0
    return None if hundreds is None or left is None else 100 * hundreds + left
