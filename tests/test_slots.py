"""What speaks against one answer for two questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.slots import may_share, slots


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is on page 42?", "What is on page 43?"),
        ("Que dit la page vi ?", "Que dit la page iv ?"),
        ("What is chapter two about?", "What is chapter ten about?"),
        ("Which files are encrypted?", "Which files are not encrypted?"),
        ("Quels fichiers sont chiffrés ?", "Quels fichiers ne sont pas chiffrés ?"),
        ("What changed before 2020?", "What changed after 2020?"),
        ("Which sort is faster?", "Which sort is slower?"),
        ("What did Tom Hughes say?", "What did Grace Okafor say?"),
        ("How do I convert miles to feet?", "How do I convert feet to miles?"),
        ("Did the client call the server?", "Did the server call the client?"),
        ("When was the parser written?", "Why was the parser written?"),
        ("What does the encoder do?", "What does the decoder do?"),
        ("Is a limit of 30 seconds enough?", "Is a limit of 30 minutes enough?"),
    ],
)
def test_another_question_gets_another_answer(one: str, other: str) -> None:
    assert not may_share(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who bought Gradio?", "Which company acquired Gradio?"),
        ("What is on page 42?", "What does page 42 say?"),
        ("Compare merge sort with quicksort", "Compare quicksort with merge sort"),
        ("Qu'est-ce qu'un mutex ?", "C'est quoi un mutex ?"),
        ("What is on page ix?", "What does page IX say?"),
        ("What is in chapter two?", "What is in chapter 2?"),
    ],
)
def test_another_wording_keeps_the_answer(one: str, other: str) -> None:
    assert may_share(one, other)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_order_of_the_two_does_not_matter(one: str, other: str) -> None:
    assert may_share(one, other) == may_share(other, one)


@given(st.text(max_size=80))
def test_a_question_shares_with_itself(text: str) -> None:
    assert may_share(text, text)


def test_what_counts_is_told() -> None:
    assert slots("What did Tom Hughes not say on page iv before 2020?") == {
        "name tom", "name hughes", "not", "number 4", "number 2020", "pole before",
    }  # fmt: skip
