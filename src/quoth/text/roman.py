"""The page numbers that are printed: which ones lie between two of them."""

from __future__ import annotations

from quoth.text.numbers import roman_number

_VALUES = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def labels_between(first: str, last: str) -> range | None:
    """Return the numbers from one label to another, empty where they run backwards.

    None where they make no range: both must be decimal, or both Roman in lower case.
    """
    if first.isdecimal() and last.isdecimal():
        return range(int(first), int(last) + 1)
    low, high = from_roman(first), from_roman(last)
    return range(low, high + 1) if low and high else None


def from_roman(label: str) -> int:
    """Read a Roman numeral in lower case; 0 where it is none."""
    return (roman_number(label) or 0) if label.islower() else 0


def to_roman(number: int) -> str:
    """Write a number from 1 to 3999 as a Roman numeral in lower case."""
    label = ""
    for value, letters in _VALUES:
        label, number = label + letters * (number // value), number % value
    return label
