"""Thoughts that a text begins with are left out, however the text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.generators.reasoning import ReasoningStripper, without_reasoning


def told(pieces: list[str]) -> str:
    said = ReasoningStripper()
    return "".join(map(said.feed, pieces)) + said.end()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", ""),
        (" \n", ""),
        ("Yes.", "Yes."),
        ("  Yes. ", "  Yes. "),
        ("<think>Hm.</think>\n\nYes.", "Yes."),
        ("\n<think>\n</think>Yes.", "Yes."),
        ("<think>Hm.</think>", ""),
        ("<think>Hm.", ""),
        ("<think>a</think><think>b</think>Yes.", "<think>b</think>Yes."),
        ("Yes, <think> is a tag.", "Yes, <think> is a tag."),
        ("<thin ice", "<thin ice"),
        ("<thi", "<thi"),
    ],
)
def test_what_is_left_of_a_text(text: str, answer: str) -> None:
    assert told([text]) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>Hm.</think>\n\nYes.", "Yes."),
        ("Hm.\n</think>\n\nYes.", "Yes."),
        ("Hm.</think>\nYes.", "Yes."),
        ("It ends with </think> [1]. Yes.", "It ends with </think> [1]. Yes."),
        ("Yes, <think> and </think> are tags.", "Yes, <think> and </think> are tags."),
        ("Yes.", "Yes."),
    ],
)
def test_a_complete_text_may_lack_the_opening_tag(text: str, answer: str) -> None:
    assert without_reasoning(text) == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "th", "\n", " ", "Yes.", ">"])))
def test_cutting_changes_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert told(pieces) == told([text]) == told(list(text))
