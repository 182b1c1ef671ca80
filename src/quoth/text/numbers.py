"""Numbers as people write them in titles and questions: digits, Roman numerals and words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_NUMERALS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def roman_number(text: str) -> int | None:
    """Return the value of a Roman numeral of any case, up to 3999; None where it is none."""
    small = text.lower()
    if not ROMAN.fullmatch(small):
        return None
    values = [_VALUES[letter] for letter in small]
    following = [*values[1:], 0]
    return sum(
        -value if value < after else value for value, after in zip(values, following, strict=True)
    )


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

_JOINED = {words.replace(" ", ""): number for words, number in WORDS.items()}
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth", "cinq": "cinquieme", "neuf": "neuvieme",
    "vingts": "vingtieme",
}  # fmt: skip


def _ordinal(cardinal: str) -> str:
    """Return the ordinal of a folded cardinal: of its last word, as both languages do."""
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


@cache
def further_ordinals() -> Mapping[str, int]:
    """Return the ordinal numbers of further languages, folded: ``data/numbers.toml``."""
    return {
        stem + ending: number
        for table in _further().values()
        for number, stems in enumerate(table["ordinals"].split(), start=1)
        for stem, ending in product(stems.split("/"), table["endings"])
    }


@cache
def further_numbers() -> Mapping[str, int]:
    """Return the cardinal and the ordinal numbers of further languages, folded."""
    cardinals = (table["cardinals"].split() for table in _further().values())
    return {
        **{word: number for words in cardinals for number, word in enumerate(words, start=1)},
        **further_ordinals(),
    }


def _further() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("quoth.text") / "data" / "numbers.toml").read_text("utf-8"))


_SPOKEN_LANGUAGES = ("en", "fr", "de", "es", "it", "pt")
_DIGITS = re.compile(r"(\d{1,5})(?:er|ere|re|e|eme|ieme|st|nd|rd|th|\.|\.?[ªº])?")


def number_of(text: str) -> int | None:
    """Return an integer given in digits, words or Roman numerals; None for other text.

    "1er", "1st" and "third" are numbers; words are normalized, with hyphens or without.
    """
    plain = text.strip().lower()
    if digits := _DIGITS.fullmatch(plain):
        return int(digits[1])
    words = _spaced(plain)
    known = WORDS.get(words) or ORDINALS.get(words) or roman_number(plain) or _JOINED.get(words)
    return known or further_numbers().get(words) or spoken_number(words)


def spoken_number(text: str) -> int | None:
    """Return a number in words of any supported language: "deux cent vingt et un", "forty-two"."""
    from text_to_num import text2num  # rarely needed

    words = _spaced(text.lower())
    if not words.replace(" ", "").isalpha():
        return None
    for language in _SPOKEN_LANGUAGES:
        try:
            return int(text2num(re.sub(r"^an? (?=hundred)", "one ", words), language))
        except ValueError:
            continue
    return None


def _spaced(words: str) -> str:
    return " ".join(words.replace("-", " ").split())


def natural_order(text: str) -> str:
    """Return a key that sorts texts by the numbers in them: "2.9" before "2.10"."""
    return re.sub(r"\d+", lambda number: number[0].zfill(12), text.casefold())
