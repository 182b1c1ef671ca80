"""Words beside a number: units, words that multiply it, and signs.

"minus 14", "moins 14" and "14 degrees below zero" are −14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

from quoth.text.tables import tables_for, word_list

_tables = partial(tables_for, __package__, "units")


@cache
def units(language: str) -> Mapping[str, str]:
    """Return the units of a language, normalized, and the name of each."""
    rows = [row for table in _tables(language) for row in table["units"].items()]
    return {word: name for name, words in rows for word in (name, *words.split())}


@cache
def scales(language: str) -> Mapping[str, int]:
    """Return the words that multiply the number before them."""
    rows = [row for table in _tables(language) for row in table["scales"].items()]
    return {word: 10 ** int(power) for power, words in rows for word in words.split()}


@cache
def unit_words(name: str, language: str) -> frozenset[str]:
    """Return the words of a row, such as "before"."""
    return frozenset().union(*(table[name].split() for table in _tables(language)))


@cache
def short_months(language: str) -> Mapping[str, int]:
    """Return the short names of months with their numbers."""
    return {name: at for table in _tables(language) for name, at in table["short_months"].items()}


def is_percent(language: str, words: tuple[str, ...]) -> bool:
    """Return whether two words behind a number say that it is a percentage."""
    return any(" ".join(words) in table["percent"] for table in _tables(language))


_words = partial(word_list, __package__, "units")
_WORD_SIGNS = _words("minus")
_NO_SIGN_AFTER = _words("no_sign_after")
_BELOW, _ZERO = _words("below"), _words("zero")
_LINK, _BETWEEN = _words("links"), _words("between")
SIGN_WORDS = _WORD_SIGNS | _BELOW
"""Words that may make a number negative, in all languages."""


def signs_before(
    words: Sequence[str], numbers: Sequence[bool], *, amounts: Sequence[bool]
) -> frozenset[int]:
    """Return the places of the words that are the sign of the number after them.

    After a number or a unit, ``amounts``, such a word subtracts.
    """
    return frozenset(
        at
        for at, word in enumerate(words[:-1])
        if word in _WORD_SIGNS
        and numbers[at + 1]
        and not words[at + 1].startswith("-")
        and not (at and (amounts[at - 1] or words[at - 1] in _NO_SIGN_AFTER))
    )


def below_zero(words: Sequence[str], numbers: Sequence[bool]) -> frozenset[int]:
    """Return the places of the numbers that are said to be below zero."""
    found: set[int] = set()
    for at, word in enumerate(words):
        if word not in _BELOW:
            continue
        rest = [each for each in words[at + 1 : at + 3] if each not in _LINK]
        if not rest or rest[0] not in _ZERO:
            continue
        number = at - 1
        while number >= 0 and words[number] in _BETWEEN:
            number -= 1
        if number >= 0 and numbers[number] and not words[number].startswith("-"):
            is_year = number == at - 1 and len(words[number]) == 4
            found.update(() if is_year else (number,))
    return frozenset(found)
