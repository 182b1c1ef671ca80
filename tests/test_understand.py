from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.errors import InputError
from quoth.retrieval.understand import LONGEST, understand, validate


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What are embeddings?", "factual"),
        ("Who is a specialist of democracy?", "factual"),
        ("Which plugins does VSCode have?", "factual"),
        ("Is VS Code an editor?", "factual"),
        ("Where is French cuisine from?", "factual"),
        ("How do I resume training from a checkpoint?", "factual"),
        ("Quand la base a-t-elle été créée ?", "factual"),
        ("Quel est le prix des roses ?", "factual"),
        ("BERT vs GPT, what is the point?", "comparison"),
        ("What is the difference between a list and a tuple?", "comparison"),
        ("Compare the encoders", "comparison"),
        ("Quelle est la différence entre BERT et GPT ?", "comparison"),
        ("Est-ce que le premier est meilleur que le second ?", "comparison"),
        ("Summarise the talk", "summary"),
        ("What are the key points of the chapter?", "summary"),
        ("Résumez la conférence", "summary"),
        ("Quelles sont les idées principales du livre ?", "summary"),
        ("Tell me about tokenizers", "exploratory"),
        ("Which talks mention attention?", "exploratory"),
        ("Parlez-moi des tokenizers", "exploratory"),
        ("Quels sujets sont abordés dans ce cours ?", "exploratory"),
        ("How does attention work?", "conceptual"),
        ("Why is the sky blue?", "conceptual"),
        ("Pourquoi le ciel est-il bleu ?", "conceptual"),
        ("Comment fonctionne l'attention ?", "conceptual"),
        ("What is on page 12?", "page_specific"),
        ("Que dit la page xiv ?", "page_specific"),
    ],
)
def test_type(text: str, kind: str) -> None:
    assert understand(text, languages=("en", "fr")).kind == kind


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("What is on page 12?", ("12",)),
        ("What does Page IX say?", ("ix",)),
        ("pages 10-12", ("10", "11", "12")),
        ("from pages 10 to 12", ("10", "11", "12")),
        ("see pp. 3–5", ("3", "4", "5")),
        ("pages ix to xii of the book", ("ix", "x", "xi", "xii")),
        ("pages 3 and 7", ("3", "7")),
        ("the formula on page a4", ("a4",)),
        ("Que dit-on à la page 12 ?", ("12",)),
        ("de la page 10 à la page 12", ("10", "11", "12")),
        ("pages 10 à 12", ("10", "11", "12")),
        ("aux pages 3 et 7", ("3", "7")),
        ("Qu'y a-t-il page i ?", ("i",)),
    ],
)
def test_pages_stated(text: str, labels: tuple[str, ...]) -> None:
    found = [value for each in understand(text, languages=("en",)).filters for value in each.values]
    assert tuple(found) == labels


@pytest.mark.parametrize(
    "text",
    [
        "the page I read about loops",
        "la page d'accueil du site",
        "How many pages does the book have?",
        "What are homepages 12 years old like?",
        "at 3 p.m. on Monday",
        "pages 12 to 10",
        "pages 1 to 9000",
    ],
)
def test_no_page_is_meant(text: str) -> None:
    assert understand(text, languages=("en", "fr")).filters == ()


def test_language_is_the_questions_own() -> None:
    assert understand("Que fait un tokenizer ?", languages=("en",)).language == "fr"
    assert understand("What does it do?", languages=("fr",)).language == "en"
    found = understand("LoRA 3000", languages=("en",), fallback_language="fr")
    assert found.language == "fr"


def test_the_question_is_kept() -> None:
    found = understand("  what is C++? ", languages=("en",))
    assert found.original == found.standalone == "  what is C++? "


@pytest.mark.parametrize(
    "text",
    ["why", 'what is C++? "AND" OR *', "to be or not to be", "x" * LONGEST, "東京は?", "a\nbc"],
)
def test_valid_questions_come_back_unchanged(text: str) -> None:
    assert validate(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("ab", "has 2 characters"),
        ("x" * 5000, "has 5,000 characters"),
        ("?!… —", "no letter"),
        ("nul\0here", "U+0000"),
        ("bell\x07", "U+0007"),
        ("half \ud83d of it", "surrogate"),
    ],
)
def test_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason.replace("+", r"\+")):
        validate(text)


@given(st.text(max_size=200))
def test_whatever_is_valid_can_be_understood(text: str) -> None:
    try:
        validate(text)
    except InputError:
        return
    assert understand(text, languages=("en", "fr")).original == text


def test_it_takes_well_below_a_millisecond() -> None:
    text = "How do the encoder and the decoder differ, and what is said on pages 10 to 12?"
    spent = []
    for _ in range(300):
        began = time.perf_counter()
        understand(text, languages=("en", "fr"))
        spent.append(time.perf_counter() - began)
    assert sorted(spent)[285] < 0.001
