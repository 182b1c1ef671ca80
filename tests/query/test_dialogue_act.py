"""Turns of a conversation that are no question of their own."""

from __future__ import annotations

import pytest

from quoth.core.types import Turn
from quoth.query.dialogue_act import is_small_talk, read_act
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

HISTORY = (Turn("What is propolis made of?", "Propolis is made of resin."),)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello there!", "greeting"),
        ("Bonsoir à tous", "greeting"),
        ("ok thanks", "thanks"),
        ("Merci beaucoup pour ton aide !", "thanks"),
        ("Bye, see you tomorrow", "farewell"),
        ("d'accord, je vois", "acknowledgement"),
        ("Can you tell me a bit more about it?", "more"),
        ("encore un peu plus", "more"),
        ("and in French?", "language"),
        ("et en anglais ?", "language"),
    ],
)
def test_phrases_that_cover_a_turn_tell_what_it_does(text: str, kind: str) -> None:
    act = read_act(text)
    assert act is not None
    assert act.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "Thanks to whom did the colony survive?",
        "Tell me more about bees",
        "Is there more than one queen?",
        "Who said hello?",
        "What does the French source say about acacia honey?",
        "Qui dit merci dans cette scène ?",
        "Que faut-il de plus à la ruche ?",
        "in",
        "",
    ],
)
def test_a_turn_with_words_of_its_own_is_a_question(text: str) -> None:
    assert read_act(text) is None
    assert not is_small_talk(text)


def test_more_asks_the_last_question_again() -> None:
    query = understand("show me more", names=NAMES, history=(*HISTORY, Turn("thanks", "…")))
    assert query.continues
    assert query.original == "show me more"
    assert query.standalone == "What is propolis made of?"
