"""What a question is about, and what only says where to look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quoth.core.types import Filter, Query
from quoth.query.keywords import (
    only_asks_for_a_place,
    strip_locator_words,
    strip_outline_words,
    summary_subject,
)
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "language", "only"), rows("query", "subject.a_question_may_name_nothing_but_a_place")
)
def test_a_question_may_name_nothing_but_a_place(text: str, language: str, only: bool) -> None:
    assert only_asks_for_a_place(Query(text, text, language)) is only


def test_a_word_for_the_source_that_is_searched_is_no_subject() -> None:
    text = "What are the main points of the episode Bees at Night?"
    named = Query(text, text, "en", "summary", entities=("Bees at Night",))
    assert not only_asks_for_a_place(named)
    file = Filter("document", "in", ("d1",))
    assert only_asks_for_a_place(replace(named, filters=(file,)))
    for subject in ("recordings", "the policy"):
        text = f"Summarize what Bees at Night says about {subject}"
        asked = replace(named, original=text, standalone=text, filters=(file,))
        assert not only_asks_for_a_place(asked)


@pytest.mark.parametrize(
    "text",
    [
        "Résume l'exposé « Nuits d'abeilles »",
        "Fais-moi un résumé de l’épisode « Nuits d'abeilles »",
        "Quels sont les points principaux de « Nuits d'abeilles » ?",
        "Quelles sont les idées principales de l'exposé « Nuits d'abeilles » ?",
    ],
)
def test_an_elided_article_and_the_main_points_are_no_subject(text: str) -> None:
    file = Filter("document", "in", ("d1",))
    asked = Query(text, text, "fr", "summary", filters=(file,), entities=("Nuits d'abeilles",))
    assert only_asks_for_a_place(asked)


def test_the_words_of_the_place_are_no_subject() -> None:
    text = "What does page 12 say about bees?"
    page = Filter("label", "in", ("12",))
    asked = Query(text, text, "en", "page_specific", filters=(page,))
    assert strip_locator_words(asked).standalone == "What does bees?"
    assert strip_locator_words(asked).original == text


def test_the_name_of_the_file_that_is_searched_is_no_subject() -> None:
    text = "What does Guide.pdf say about hosts.conf?"
    file = Filter("document", "in", ("d1",))
    asked = Query(text, text, "en", filters=(file,))
    found = strip_locator_words(asked, files={"guide.pdf"})
    assert found.standalone == "What does say about hosts.conf?"


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


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Which chapters does Bees at Night have?", "en", {"bee", "night"}),
        ("How many chapters are there?", "en", set()),
        ("Show me the table of contents of the guide", "en", set()),
        ("List all the sections of chapter 3", "en", set()),
        ("Combien de chapitres compte le manuel des abeilles ?", "fr", {"compt", "abeil"}),
        ("Donne-moi les sections du guide", "fr", set()),
        ("Which chapters are about bees?", "en", None),
        ("Quels chapitres parlent d'abeilles et en disent plus sur le miel ?", "fr", None),
        ("What does chapter 3 say?", "en", None),
    ],
)
def test_the_headings_of_a_source_may_be_asked_for(
    text: str, language: str, terms: set[str] | None
) -> None:
    left = strip_outline_words(Query(text, text, language))
    assert (left and summary_subject(left)) == terms


def test_a_title_may_have_a_word_that_announces_a_subject() -> None:
    text = "Which chapters does A Few Notes on Book Design have?"
    asked = Query(text, text, "en", entities=("A Few Notes on Book Design",))
    assert strip_outline_words(asked) is not None
    assert strip_outline_words(replace(asked, entities=())) is None
    about = "Which chapters are about bees?"
    assert strip_outline_words(Query(about, about, "en", entities=("About Bees",))) is None


def test_a_title_within_the_requested_chapter_is_a_subject() -> None:
    asked = Query("What is MNG?", "What is MNG?", "en", entities=("7.3. MNG",))
    chapter, section = Filter("chapter", "in", ("7",)), Filter("section", "in", ("7.3. MNG",))
    assert not only_asks_for_a_place(replace(asked, filters=(chapter,)))
    assert only_asks_for_a_place(replace(asked, filters=(section,)))
