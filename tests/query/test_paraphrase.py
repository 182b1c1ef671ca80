"""Questions that ask the same, and questions that only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.pipeline.answer_cache import MAX_LENGTH, MIN_COSINE, have_equal_words, is_paraphrase
from tests.support.tables import rows


@pytest.mark.parametrize(("one", "other"), rows("query", "paraphrase.the_same_question"))
def test_the_same_question(one: str, other: str) -> None:
    assert have_equal_words(one, other)


@pytest.mark.parametrize(("one", "other"), rows("query", "paraphrase.another_question"))
def test_another_question(one: str, other: str) -> None:
    assert not have_equal_words(one, other)


def test_the_vectors_must_agree_as_well() -> None:
    one, other = "What is the page table?", "what is page table please"
    assert is_paraphrase(one, other, cosine=MIN_COSINE)
    assert not is_paraphrase(one, other, cosine=MIN_COSINE - 0.01)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_comparison_is_symmetric(one: str, other: str) -> None:
    assert have_equal_words(one, other) == have_equal_words(other, one)
    assert have_equal_words(one, f"{one} ")


def test_long_texts_are_compared_by_equality_alone() -> None:
    long = "why " * MAX_LENGTH
    assert have_equal_words(long, long)
    assert not have_equal_words(long, f"{long} please")
