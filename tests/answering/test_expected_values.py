"""What kind of value a question asks for, and which texts have one."""

from __future__ import annotations

import pytest

from quoth.answering.answerability import expected_kind, has_value
from quoth.core.types import Query


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many birds nest here?", "number"),
        ("How long is the pier?", "number"),
        ("What is the price of a ticket?", "price"),
        ("How much does a ticket cost?", "price"),
        ("In what year did it open?", "date"),
        ("When was it built?", "date"),
        ("Combien d'oiseaux nichent ici ?", "number"),
        ("Combien coûte un billet ?", "price"),
        ("En quelle année a-t-il ouvert ?", "date"),
        ("When should I water it?", ""),
        ("Why does it cost more?", ""),
        ("Quand faut-il arroser ?", ""),
    ],
)
def test_the_kind_that_a_question_asks_for(question: str, kind: str) -> None:
    assert expected_kind(Query(question, question, "en")) == kind


@pytest.mark.parametrize(
    ("kind", "text", "has"),
    [
        ("number", "It has 12 rooms.", True),
        ("number", "It has twelve rooms.", True),
        ("number", "It needs 780MB.", True),
        ("number", "Only one room has a door.", True),
        ("number", "Il a une dizaine de pièces.", True),
        ("number", "It needs version 6.3.1.", False),
        ("number", "Pier 9 has rooms, see section 4.", False),
        ("number", "It has rooms, see #4598.", False),
        ("price", "It costs 12 euros.", True),
        ("price", "Entry is free.", True),
        ("price", "The Free Harbour makes free software.", False),
        ("date", "It opened in 1871.", True),
        ("date", "It opened in April.", True),
        ("date", "It opened with 12 rooms.", False),
    ],
)
def test_a_text_has_a_value_of_its_own(kind: str, text: str, has: bool) -> None:
    query = Query("How many rooms has pier 9?", "How many rooms has pier 9?", "en")
    assert has_value(query, kind, text, language="en") == has
