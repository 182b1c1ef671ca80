"""Terms that are one typing error away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from quoth.text.near_terms import MAX_LETTERS, near_terms


@given(st.text("abcdéжщяαω", min_size=4, max_size=8), st.text("abcdéжщяαω", max_size=9))
def test_they_are_the_strings_at_edit_distance_one(term: str, other: str) -> None:
    near = near_terms(term)
    assert near == sorted(set(near))
    assert {OSA.distance(term, each) for each in near} == {1}
    letters = set(term) | set("abcd")
    if OSA.distance(term, other) == 1 and set(other) <= letters:
        assert other in near


@pytest.mark.parametrize("known", ["lagerung", "страница", "σελιδα"])
def test_every_error_of_a_word_is_found_from_its_misspelling(known: str) -> None:
    extra = known[:3] + known[-1] + known[3:]
    exchanged = known[:2] + known[3] + known[2] + known[4:]
    for typed in (known[:3] + known[4:], extra, exchanged, known[:3] + known[0] + known[4:]):
        assert known in near_terms(typed)


@pytest.mark.parametrize("term", ["", "cat", "2024x", "x" * (MAX_LETTERS + 1)])
def test_short_and_long_terms_and_numbers_have_none(term: str) -> None:
    assert near_terms(term) == []
