"""Numbers as people write them: digits, Roman numerals, words of two languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.text.numbers import (
    CARDINAL,
    ORDINAL,
    ORDINALS,
    WORDS,
    number_of,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("3rd", 3),
        ("1er", 1),
        ("xiv", 14),
        ("dix", 10),
        ("twenty-one", 21),
        ("quatre-vingt-dix-sept", 97),
        ("soixante et onze", 71),
        ("one hundred and five", 105),
        ("one hundred twenty", 120),
        ("a hundred", 100),
        ("cent cinq", 105),
        ("deux cent vingt et un", 221),
        ("trois cents", 300),
        ("twelfth", 12),
        ("twenty-first", 21),
        ("hundred and third", 103),
        ("vingt et unieme", 21),
        ("quatre-vingtieme", 80),
        ("neuvieme", 9),
        ("hundred and hundred", None),
        ("page", None),
        ("", None),
    ],
)
def test_a_number_is_read(text: str, number: int | None) -> None:
    assert number_of(text) == number


@given(
    st.sampled_from(["", "one hundred and ", "three hundred ", "cent ", "quatre cent "]),
    st.sampled_from(sorted(WORDS)),
    st.sampled_from([" ", "-"]),
)
def test_every_cardinal_is_matched_whole_and_read(hundreds: str, word: str, joint: str) -> None:
    text = hundreds + word.replace(" ", joint)
    assert re.fullmatch(CARDINAL, text)
    assert (number_of(text) or 0) % 100 == WORDS[word]


@pytest.mark.parametrize("word", sorted(ORDINALS))
def test_every_ordinal_is_matched_whole(word: str) -> None:
    assert re.fullmatch(ORDINAL, word)
    assert number_of(word) == ORDINALS[word]
