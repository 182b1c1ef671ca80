"""Numbers as people write them: digits, Roman numerals, words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.text.numbers import ORDINALS, WORDS, from_roman, number_of, to_roman

NUMBERS = {
    "12": 12, "3rd": 3, "1er": 1, "xiv": 14, "dix": 10, "twenty-one": 21,
    "quatre-vingt-dix-sept": 97, "soixante et onze": 71, "one hundred and five": 105,
    "one hundred twenty": 120, "a hundred": 100, "cent cinq": 105, "deux cent vingt et un": 221,
    "trois cents": 300, "twelfth": 12, "twenty-first": 21, "vingt et unieme": 21,
    "quatre-vingtieme": 80, "neuvieme": 9, "einundzwanzig": 21, "veinte": 20,
    "zwolf": 12, "siebter": 7, "zwanzigsten": 20, "achtem": 8, "dieciseis": 16, "tercera": 3,
    "tercer": 3, "decimoquinto": 15, "sixieme": 6,
    "siebenundneunzigste": 97, "treinta y uno": 31, "3.": 3, "2.º": 2, "4ª": 4,
    "hundred and hundred": None, "page": None, "": None,
}  # fmt: skip


def test_numbers_are_read() -> None:
    assert {text: number_of(text) for text in NUMBERS} == NUMBERS
    words = {**ORDINALS, **WORDS}
    assert {word: number_of(word.replace(" ", "-")) for word in words} == words


@given(st.integers(1, 3999))
def test_a_roman_numeral_is_read_as_it_is_written(number: int) -> None:
    assert from_roman(to_roman(number)) == number


@pytest.mark.parametrize("label", ["", "iiii", "vx", "IV", "a", "12", "mmmm"])
def test_other_labels_are_no_roman_numerals(label: str) -> None:
    assert from_roman(label) == 0
