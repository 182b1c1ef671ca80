"""Signs in words: "minus 14", "moins 14" and "14 degrees below zero" are −14."""

from __future__ import annotations

from collections.abc import Sequence

_WORD_SIGNS = frozenset(("minus", "moins", "menos"))
_NO_SIGN_AFTER = frozenset(
    "a al and at au d de du et lo o of or ou oder plus por the und y % $ € £".split()
)
"""Words before such a word that make it another one: "au moins 14", "plus or minus 14"."""
_BELOW = frozenset("below under unter sous bajo audessous dessous".split())
_ZERO = frozenset("zero 0 null cero".split())
_LINK = frozenset("de du".split())
SIGN_WORDS = _WORD_SIGNS | _BELOW
_MAX_BETWEEN = 2
"""Maximum words between a number and what says that it is below zero, such as its unit."""


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
    found = set()
    for at, word in enumerate(words):
        if word not in _BELOW:
            continue
        rest = [each for each in words[at + 1 : at + 3] if each not in _LINK]
        if not rest or rest[0] not in _ZERO:
            continue
        near = range(at - 1, max(-1, at - 2 - _MAX_BETWEEN), -1)
        number = next((place for place in near if numbers[place]), None)
        if number is not None and not words[number].startswith("-"):
            found.add(number)
    return frozenset(found)
