"""What is called a contradiction is one; what speaks of two things is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.answering.contradictions import ComparedSentence, contradictions
from tests.support.tables import rows


def about(one: str, other: str, *, language: str = "en") -> str | None:
    found = contradictions(
        [
            ComparedSentence(one, "a", language=language),
            ComparedSentence(other, "b", language=language),
        ]
    )
    return found[0][2] if found else None


@pytest.mark.parametrize(
    ("one", "other", "what"), rows("answering", "contradictions.one_difference_is_named")
)
def test_one_difference_is_named(one: str, other: str, what: str) -> None:
    assert about(one, other) == what
    assert about(other, one) is not None


def test_french_is_read_too() -> None:
    one = "Le mur de la ville est tombé en 1989."
    assert about(one, one.replace("1989", "1991"), language="fr") == "1989 / 1991"
    assert about(one, "Le mur de la ville n'est pas tombé en 1989.", language="fr") == "“pas”"


@pytest.mark.parametrize(
    ("one", "other"),
    rows("answering", "contradictions.two_differences_or_another_subject_are_no_contradiction"),
)
def test_two_differences_or_another_subject_are_no_contradiction(one: str, other: str) -> None:
    assert about(one, other) is None


def test_one_event_has_one_winner() -> None:
    text = (
        "{} beat the holder in the final to win the singles title at the 2013 open championships."
    )
    assert about(text.format("Murray"), text.format("Thiem")) == "Murray / Thiem"


def test_the_other_side_is_found_among_sentences_that_were_not_chosen() -> None:
    chosen = [ComparedSentence("Our shop sold 40 bikes that year.", "a")]
    others = [
        ComparedSentence("Bikes are sold in shops.", "b"),
        ComparedSentence("Our shop sold 60 bikes that year.", "b"),
        ComparedSentence("Our shop sold 70 bikes that year.", "c"),
    ]
    assert contradictions(chosen, against=others) == ((0, 2, "40 / 60"), (0, 3, "40 / 70"))


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_can_be_compared(texts: list[str]) -> None:
    for one, two, what in contradictions(
        [ComparedSentence(text, str(at)) for at, text in enumerate(texts)]
    ):
        assert one < two
        assert what
