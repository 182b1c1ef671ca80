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
_BETWEEN = frozenset(
    "° c f degree degrees degre degres grad grado grados celsius fahrenheit centigrade "
    "% percent pourcent prozent au en".split()
)
"""Words between a number and what says that it is below zero: its unit, "au" of "au-dessous"."""


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
