"""What the asker is told about where the search looked."""

from __future__ import annotations

import pytest

from quoth.core.translations import languages, restate
from quoth.core.types import Document, Filter
from quoth.query.filters.parse import (
    FilterReach,
    describe_filters,
    dropped_fields,
    parse_filters,
)
from quoth.query.filters.patterns import mapping

BOOKS = {
    "d1": Document("d1", "Inside the hive", "transcript", "ready"),
    "d2": Document("d2", "The book", "pdf", "ready"),
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Filter("document", "in", ("d1",)), "“Inside the hive”"),
        (Filter("document", "in", ("d1", "d2")), "“Inside the hive” and “The book”"),
        (Filter("document", "in", ("a", "b", "c")), "3 documents"),
        (Filter("label", "in", ("ix",)), "page ix"),
        (Filter("label", "in", ("3", "4", "5")), "pages 3 to 5"),
        (Filter("page", "overlaps", (3, 5)), "PDF pages 3 to 5"),
        (Filter("chapter", "in", ("3",)), "chapter 3"),
        (Filter("segment", "in", ("qa",)), "the questions from the audience"),
        (Filter("seconds", "overlaps", (0, 600)), "0:00–10:00"),
        (Filter("seconds", "overlaps", (720, 720)), "what is said at 12:00, as"),
        (Filter("language", "in", ("fr",)), "sources in French"),
        (Filter("language", "in", ("eo",)), "sources in the language “eo”"),
        (Filter("date", "overlaps", (20240101, 20241231)), "2024-01-01 to 2024-12-31"),
        (Filter("date", "overlaps", (20240514, 20240514)), "sources dated 2024-05-14, as"),
        (Filter("date", "overlaps", (0, 20191231)), "dated up to 2019-12-31"),
        (Filter("date", "overlaps", (20210101, 99991231)), "dated from 2021-01-01 on"),
        (Filter("seconds", "overlaps", (1800, 360000)), "what comes after 30:00"),
        (Filter("speaker", "in", ("Ada",)), "what Ada says"),
    ],
)
def test_every_kind_of_place_has_words(given: Filter, said: str) -> None:
    (sentence,) = describe_filters([given], documents=BOOKS, language="en")
    assert said in sentence
    assert "--" not in sentence


def test_the_filters_that_take_it_back_are_named_as_every_door_spells_them() -> None:
    both = [Filter("seconds", "overlaps", (0, 600)), Filter("label", "in", ("ix",))]
    (sentence,) = describe_filters(both, documents=BOOKS, language="en")
    lifting = ("time=any", "page=any")
    assert sentence.endswith(f"take these filters away ({', '.join(lifting)}).")
    assert dropped_fields(lifting) >= {each.field for each in both}
    assert parse_filters(lifting) == ()


@pytest.mark.parametrize("language", languages())
def test_every_language_that_a_question_can_name_has_a_name(language: str) -> None:
    for code in mapping("languages").values():
        (sentence,) = describe_filters(
            [Filter("language", "in", (code,))], documents={}, language=language
        )
        assert f"“{code}”" not in sentence
        assert f"{code}\u202f»" not in sentence


def test_filters_that_leave_little_are_not_said_to_be_all_that_was_searched() -> None:
    spoken = [Filter("speaker", "in", ("Ada",))]
    (sentence,) = describe_filters(spoken, documents={}, language="en", reach=FilterReach.widened)
    assert sentence == "There is little in what Ada says, so the rest was searched, too."
    (sentence,) = describe_filters(spoken, documents={}, language="fr", reach=FilterReach.widened)
    assert restate(sentence, "en").endswith("what Ada says, so the rest was searched, too.")


def test_a_french_question_is_told_in_french() -> None:
    both = [Filter("chapter", "in", ("3",)), Filter("document", "in", ("d2",))]
    (sentence,) = describe_filters(both, documents=BOOKS, language="fr")
    assert "chapitre 3, «\u202fThe book\u202f»" in sentence
