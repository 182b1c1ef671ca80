"""Numbers as people write them in titles and questions: digits, Roman numerals and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from quoth.text.tables import EVERYWHERE, Table, language_tables, tables_for

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


def _listed(table: Table, name: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a row, which counts from 1, with their numbers."""
    endings = (table["endings"] or [""]) if name == "ordinals" else [""]
    for number, forms in enumerate(filter(None, table[name].split(",")), start=1):
        for form, ending in product(forms.split("/"), endings):
            yield f"{' '.join(form.split())}{ending}", number


@cache
def number_words(language: str, *names: str) -> Mapping[str, int]:
    """Return the "cardinals", the "ordinals" or both that are read in a language, folded.

    Their parts are joined by spaces; the rows are ``data/numbers.LANGUAGE.toml``.
    """
    tables = tables_for("quoth.text", "numbers", language)
    return {
        word: number for name in names for table in tables for word, number in _listed(table, name)
    }


WORDS, ORDINALS = (number_words("", name) for name in ("cardinals", "ordinals"))
"""Cardinal and ordinal numbers of English and French, from 1 to 99 and to 100."""

_JOINED = {words.replace(" ", ""): number for words, number in WORDS.items()}


@cache
def further_numbers(*names: str) -> Mapping[str, int]:
    """Return the words of the languages besides English and French, of cardinals and ordinals."""
    return {
        word: number
        for language in language_tables("quoth.text", "numbers")
        if language not in EVERYWHERE
        for word, number in number_words(language, *(names or ("cardinals", "ordinals"))).items()
    }


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
