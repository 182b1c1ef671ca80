"""Words beside a number: units, words that multiply it, and signs.

"minus 14", "moins 14" and "14 degrees below zero" are −14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType


def _grouped(text: str) -> Mapping[str, str]:
    """Map each word of a line to the line's first word."""
    lines = [line.split() for line in text.strip().splitlines()]
    return MappingProxyType({word: line[0] for line in lines for word in line})


UNITS = _grouped(
    """
    % percent percents percentage pourcent
    ‰ permille
    $ dollar dollars usd
    € euro euros eur
    £ gbp sterling pound pounds
    franc francs chf
    crown crowns couronne couronnes
    krone kroner krona kronor
    peso pesos
    rupee rupees roupie roupies
    yuan renminbi
    ¥ yen yens jpy
    km kilometre kilometres kilometer kilometers
    m metre metres meter meters
    cm centimetre centimetres centimeter centimeters
    mm millimetre millimetres millimeter millimeters
    mile miles
    foot feet pied pieds
    kg kilo kilos kilogram kilograms kilogramme kilogrammes
    g gram grams gramme grammes
    mg milligram milligrams milligramme milligrammes
    ton tons tonne tonnes
    litre litres liter liters
    ml millilitre millilitres milliliter milliliters
    second seconds seconde secondes sec
    ms millisecond milliseconds milliseconde millisecondes
    minute minutes min
    hour hours heure heures
    day days jour jours
    week weeks semaine semaines
    month months mois
    year years yr yrs an ans annee annees
    century centuries siecle siecles
    byte bytes octet octets
    kb kilobyte kilobytes ko
    mb megabyte megabytes mo
    gb gigabyte gigabytes go
    hz hertz
    degree degrees degre degres °
    celsius
    fahrenheit
    page pages
    chapter chapters chapitre chapitres
    """
)
"""Units in English and French, normalized, and the canonical name of each."""
SCALES: Mapping[str, int] = {
    **dict.fromkeys("hundred hundreds cents".split(), 10**2),
    **dict.fromkeys("thousand thousands mille milliers k".split(), 10**3),
    **dict.fromkeys("million millions".split(), 10**6),
    **dict.fromkeys("billion billions milliard milliards".split(), 10**9),
    **dict.fromkeys("trillion trillions".split(), 10**12),
}
"""Words that multiply the preceding number."""


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
