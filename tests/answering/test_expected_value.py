"""What kind of value a question asks for, and which texts have one."""

from __future__ import annotations

import pytest

from quoth.answering.answerability import are_rows_of_others
from quoth.answering.expected_value import expected_kind, has_value
from quoth.answering.extractive.select import collect_sentences
from quoth.core.types import Query
from tests.support.passages import passage


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
        ("number", "It needs version 6.3.1.", False),
        ("number", "Pier 9 has rooms, see section 4.", False),
        ("number", "It has rooms, see #4598.", False),
        ("price", "It costs 12 euros.", True),
        ("price", "A return ticket costs 23 pounds.", True),
        ("price", "Whoever opens a sluice pays eight crowns.", True),
        ("price", "Entry is free.", True),
        ("price", "Calling a veteran costs 20 gold.", True),
        ("price", "The price is about 1,500 points.", True),
        ("price", "Price: 40", True),
        ("price", "The fee is due in 30 days.", False),
        ("price", "Prices of 2023 were higher, costs 5 % lower.", False),
        ("price", "The fees are 1.5 % a year, or 2,5 % with a loan.", False),
        ("price", "Year: 1655 | Wheat (shillings): 40.5", True),
        ("price", "Year: long ago | Wheat: dear", False),
        ("price", "The Free Harbour makes free software.", False),
        ("date", "It opened in 1871.", True),
        ("date", "It opened in April.", True),
        ("date", "It opened with 12 rooms.", False),
    ],
)
def test_a_text_has_a_value_of_its_own(kind: str, text: str, has: bool) -> None:
    query = Query("How many rooms has pier 9?", "How many rooms has pier 9?", "en")
    assert has_value(query, kind, text, language="en") == has


@pytest.mark.parametrize(
    ("language", "text", "has"),
    [
        (
            "fr",
            "Le ferry transporte des passagers entre les îles, un passager est très à l'aise.",
            False,
        ),
        ("en", "She sails for miles and miles, with a fault in MS-DOS.", False),
        ("de", "Eine Fähre bringt einen Gast zu einer Insel.", False),
        ("es", "Una barca lleva a un pasajero con MS-DOS.", False),
        ("de", "Die Fähre bringt ein Dutzend Gäste.", True),
        ("de", "Die Fähre bringt siebzig Gäste.", True),
        ("es", "La barca lleva a varios pasajeros.", True),
        ("es", "La barca lleva a sesenta pasajeros.", True),
        ("fr", "Il a une dizaine de pièces.", True),
    ],
)
def test_numbers_in_words_are_those_of_the_language_of_the_text(
    language: str, text: str, has: bool
) -> None:
    query = Query("How many passengers?", "How many passengers?", "en")
    assert has_value(query, "number", text, language=language) == has


DEATHS = """Month: March 1854 | Wounds: 3 | Disease: 40

Month: April 1855 | Wounds: 5 | Disease: 110

Month: June 1855 | Wounds: 8 | Disease: 95"""


@pytest.mark.parametrize(
    ("question", "quoted", "others"),
    [
        ("Who died of disease in April 1855?", [1], False),
        ("Who died of disease in April 1855?", [2], True),
        ("Who died of disease in April 1854?", [0, 1], True),
        ("disease in March 1854 and June 1855", [0, 2], False),
        ("disease in March 1854 and June 1855", [0], True),
        ("deaths from wounds in the Garden", [0], False),
        ("deaths from wounds at Inkerman", [0], True),
        ("deaths at Inkerman in March 1854", [0], False),  # A note says that it is missing.
        ("deaths from wounds in July", [0, 1, 2], True),
        ("deaths from wounds", [0], False),
        ("WHO DIED OF DISEASE AT INKERMAN", [0], False),
    ],
)
def test_a_row_of_a_table_is_about_what_the_question_names(
    question: str, quoted: list[int], others: bool
) -> None:
    query = Query(question, question, "en")
    candidates = collect_sentences(query, [passage(DEATHS, title="Garden")])
    assert are_rows_of_others(query, candidates, quoted=quoted) is others


def test_a_number_within_the_range_of_a_row_is_in_it() -> None:
    for age, others in ((10, False), (13, False), (14, True)):
        question = f"What do children of {age} years pay?"
        query = Query(question, question, "en")
        candidates = collect_sentences(query, [passage("Children: 8-13 years | They pay: 250")])
        assert are_rows_of_others(query, candidates, quoted=[0]) is others


@pytest.mark.parametrize("row", ["Call: 555-1234", "Pages: 100-200", "Day: 2 - 10 - 2020"])
def test_other_numbers_with_a_hyphen_are_no_range(row: str) -> None:
    query = Query("What is number 150 or 5?", "What is number 150 or 5?", "en")
    candidates = collect_sentences(query, [passage(f"{row} | Number: 1")])
    assert are_rows_of_others(query, candidates, quoted=[0])


def test_a_month_of_the_question_is_in_a_row_with_its_number() -> None:
    for question, others in (("Sales in March 2020", False), ("Sales in April 2021", True)):
        query = Query(question, question, "en")
        candidates = collect_sentences(query, [passage("Day: 2020-03-01 | Sales: 40")])
        assert are_rows_of_others(query, candidates, quoted=[0]) is others


def test_rows_in_another_language_lack_only_numbers() -> None:
    for question, others in (("The capital of Germany", False), ("Germany in 1990", True)):
        query = Query(question, question, "en")
        row = "Pays: Allemagne | Année: 1950 | Capitale: Bonn"
        candidates = collect_sentences(query, [passage(row, language="fr")])
        assert are_rows_of_others(query, candidates, quoted=[0]) is others


def test_prose_may_lack_a_name() -> None:
    question = "Who died of disease at Inkerman?"
    query = Query(question, question, "en")
    candidates = collect_sentences(query, [passage("Many soldiers died of disease.")])
    assert not are_rows_of_others(query, candidates, quoted=[0])
