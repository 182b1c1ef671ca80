"""Turns of a conversation that are no question of their own."""

from __future__ import annotations

import pytest

from quoth.core.types import Turn
from quoth.query.dialogue_act import asked_before, read_act
from quoth.query.understand import understand
from tests.support.made_outline import NAMES
from tests.support.tables import rows

HISTORY = (Turn("What is propolis made of?", "Propolis is made of resin."),)


@pytest.mark.parametrize(
    ("text", "kind"), rows("query", "dialogue_act.phrases_that_cover_a_turn_tell_what_it_does")
)
def test_phrases_that_cover_a_turn_tell_what_it_does(text: str, kind: str) -> None:
    act = read_act(text)
    assert act is not None
    assert act.kind == kind


@pytest.mark.parametrize(
    "text", rows("query", "dialogue_act.a_turn_with_words_of_its_own_is_a_question")
)
def test_a_turn_with_words_of_its_own_is_a_question(text: str) -> None:
    assert read_act(text) is None


def test_more_asks_the_last_question_again() -> None:
    query = understand("show me more", names=NAMES, history=(*HISTORY, Turn("thanks", "…")))
    assert query.continues
    assert query.original == "show me more"
    assert query.standalone == "What is propolis made of?"


def test_who_said_that_asks_for_the_source_of_the_answer_before() -> None:
    asked = "What is propolis made of?"
    more = (*HISTORY, Turn("show me more", "…"))
    later = (*more, Turn("Who said that?", "…"), Turn("thanks", "…"))
    assert asked_before("Who said that?", HISTORY) == (asked, ())
    assert asked_before("On which page?", later) == ("show me more", HISTORY)
    assert asked_before("Who said that?", ()) == ("Who said that?", ())
    assert asked_before("And why?", later) == ("And why?", later)
    assert "propolis" in understand("And why?", names=NAMES, history=later).standalone


def test_yes_asks_what_the_answer_offered() -> None:
    offer = Turn("What is propolis?", "It is resin [1]. Do you want to know how bees use it? [2]")
    query = understand("yes, please", names=NAMES, history=(offer,))
    assert query.is_followup
    assert query.original == "yes, please"
    assert query.standalone.startswith("How bees use it?")
    assert "propolis" in query.standalone
    after = understand("why?", names=NAMES, history=(offer, Turn("yes", "They close gaps.")))
    assert "bees" in after.standalone


def test_yes_without_an_offer_is_no_question_of_before() -> None:
    query = understand("yes, please", names=NAMES, history=HISTORY)
    assert "?" not in query.standalone


@pytest.mark.parametrize("ending", ["Correct?", "Yes? [2]", "Is there anything else?", "x ? ?"])
def test_an_answer_that_ends_with_a_question_without_a_subject_offers_nothing(ending: str) -> None:
    query = understand("yes, please", names=NAMES, history=(Turn("What is wax?", ending),))
    assert query.standalone.startswith("yes, please")
