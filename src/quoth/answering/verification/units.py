"""Names of units, and words that multiply a number, in English and French."""

from __future__ import annotations

from collections.abc import Mapping
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
