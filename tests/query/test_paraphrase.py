"""Questions that ask the same, and questions that only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.query.paraphrase import (
    MAX_LENGTH,
    MIN_COSINE,
    have_equal_words,
    is_paraphrase,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the page table?", "what is page table please"),
        ("How can I reset my PIN?", "Please, how do I reset my PIN?"),
        ("Why do bees swarm?", "For what reason do bees swarm?"),
        ("Could you explain how caches work?", "How caches work"),
        ("Why isn't my card accepted?", "why is not my card accepted"),
        ("Comment tailler un rosier ?", "Peux-tu me dire comment tailler un rosier ?"),
        ("Pourquoi le ciel est-il bleu ?", "Pour quelle raison le ciel est-il bleu ?"),
    ],
)
def test_the_same_question(one: str, other: str) -> None:
    assert have_equal_words(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is on page 42?", "What is on page 43?"),
        ("What does error 404 mean?", "What does error 403 mean?"),
        ("Is it safe?", "Is it not safe?"),
        ("Why can I pay?", "Why can't I pay?"),
        ("How do I get my card?", "How do I get his card?"),
        ("What did the US decide?", "What did us decide?"),
        ("Who beat Ann, Bob or Cid?", "Who beat Cid, Bob or Ann?"),
        ("How do I send money from Paris to Rome?", "How do I send money from Rome to Paris?"),
        ("Is tea better than coffee?", "Is coffee better than tea?"),
        ("Où pousse le blé ?", "Où ne pousse pas le blé ?"),
        ("What is 5 < 6?", "What is 5 > 6?"),
    ],
)
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
