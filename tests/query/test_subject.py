"""What a question is about, and what only says where to look."""

from __future__ import annotations

import pytest

from quoth.core.types import Filter, Query
from quoth.query.keywords import (
    only_asks_for_a_place,
    strip_locator_words,
    summary_subject,
    summary_titles,
)


@pytest.mark.parametrize(
    ("text", "language", "only"),
    [
        ("What is on page 2?", "en", True),
        ("What does page ix say?", "en", True),
        ("Summarise pages 12 to 14", "en", True),
        ("What is said at 12:30?", "en", True),
        ("Que dit la page 12 ?", "fr", True),
        ("De quoi parle le chapitre III ?", "fr", True),
        ("What does chapter three say?", "en", True),
        ("Que dit le chapitre deux ?", "fr", True),
        ("What was asked in the Q&A?", "en", True),
        ("What does page 12 say about bees?", "en", False),
        ("Que dit la page 12 des abeilles ?", "fr", False),
        ("What is in appendix B?", "en", True),
        ("What does page xii say?", "en", True),
        ("What does chapter 2 say about civil law?", "en", False),
        ("What is the mix in chapter 2?", "en", False),
        ("What does chapter 2 say about R?", "en", False),
        ("Why does honey keep?", "en", False),
    ],
)
def test_a_question_may_name_nothing_but_a_place(text: str, language: str, only: bool) -> None:
    assert only_asks_for_a_place(Query(text, text, language)) is only


def test_a_title_is_a_place_too() -> None:
    text = "What is said in the first minute of What is Transfer Learning?"
    asked = Query(text, text, "en", entities=("What is Transfer Learning?",))
    assert only_asks_for_a_place(asked)


def test_the_words_of_the_place_are_no_subject() -> None:
    text = "What does page 12 say about bees?"
    page = Filter("label", "in", ("12",))
    asked = Query(text, text, "en", "page_specific", filters=(page,))
    assert strip_locator_words(asked).standalone == "What does bees?"
    assert strip_locator_words(asked).original == text


def test_a_question_without_a_place_stays() -> None:
    text = "Why does chapter come from caput?"
    asked = Query(text, text, "en")
    assert strip_locator_words(asked) is asked


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Summarize the course", "en", set()),
        ("What are the key takeaways?", "en", set()),
        ("Résume le cours en bref", "fr", set()),
        ("What are the main points of the video about encoders?", "en", {"encod"}),
        ("De quoi parle la vidéo sur les décodeurs ?", "fr", {"decodeur"}),
    ],
)
def test_a_summary_is_of_a_subject_or_of_everything(
    text: str, language: str, terms: set[str]
) -> None:
    assert summary_subject(Query(text, text, language)) == terms


def test_a_heading_that_says_summary_is_no_subject() -> None:
    text = 'Give me a summary of "How do bees work?"'
    asked = Query(text, text, "en", entities=("Summary", "How do bees work?"))
    assert summary_titles(asked) == ("How do bees work?",)
