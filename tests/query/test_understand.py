"""Reading a question as a whole: language, validity, and what holds for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError
from quoth.core.types import Filter, Turn
from quoth.query.entity_index import EntityIndex
from quoth.query.understand import understand, validate
from tests.support.made_outline import LABELS, NAMES, SHELF

EMPTY = EntityIndex(languages=("en",))


def test_language_is_the_questions_own() -> None:
    assert understand("Que fait un tokenizer ?", names=EMPTY).language == "fr"
    assert understand("What does it do?", names=EntityIndex(languages=("fr",))).language == "en"
    assert understand("LoRA 3000", names=EMPTY).language == "en"


def test_a_title_in_another_language_does_not_tell_the_questions_own() -> None:
    assert understand("Summarise La vie secrète des ruches", names=NAMES).language == "en"
    assert understand("Résume What bees know about geometry", names=NAMES).language == "fr"


@pytest.mark.parametrize(
    ("text", "standalone"),
    [
        ("What is said about bees in the talks of 3 March 2024?", "What is bees?"),
        ("What was said about bees on 3 March 2024?", "What was said about bees?"),
        ("Que dit-on des abeilles le 3 mars 2024 ?", "Qu'est-ce que abeilles ?"),
        ("What do the talks of 2024 say about the flood of 1910?", "What is the flood of 1910?"),
    ],
)
def test_a_date_that_filters_is_not_searched_for(text: str, standalone: str) -> None:
    query = understand(text, names=NAMES)
    assert [each.field for each in query.filters] == ["date"]
    assert query.standalone == standalone


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("Summarize the meeting of 3 March 2024", True),
        ("What was decided at the board meeting on March 3, 2024?", True),
        ("Who spoke at the March 2024 assembly?", True),
        ("Résume l'assemblée générale du 3 mars 2024", True),
        ("Qui était présent au conseil municipal de mars 2024 ?", True),
        ("Summarize the minutes of 3 March 2024", True),
        ("What was said about the 2026 budget at the meeting of 3 March 2024?", True),
        ("What was decided since the meeting of 3 March 2024 about rent?", False),
        # No document has this date, or it is a whole year, or that of something else.
        ("What happened at the meeting of 30 June 1910?", False),
        ("What came of the meetings of 2024?", False),
        ("How many bees died on the day after 3 March 2024?", False),
        ("What did the Gazette write about the meeting of 3 March 2024?", False),
        ("Que dit le journal sur la réunion du 3 mars 2024 ?", False),
        ("What changed between the meeting of 3 March 2024 and that of 4 May 2024?", False),
    ],
)
def test_a_meeting_is_known_by_its_day_or_month(text: str, filters: bool) -> None:
    query = understand(text, names=NAMES)
    assert ["date"] * filters == [each.field for each in query.filters]
    assert not query.notes


def test_a_date_that_is_not_to_filter_is_searched_for() -> None:
    text = "What was said about bees on 3 March 2024?"
    query = understand(text, names=NAMES, drop={"date"})
    assert (query.standalone, query.filters) == (text, ())


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


WORDS = st.sampled_from(
    "page pages chapter chapitre 3 iv 900 12:30 Q&A demo the talk about in of le la sur dans et "
    "and Ada Lindqvist Moreau The Patient Gardener Expenses section first ten minutes 2024 March "
    "mars French talks from selon according to what does say it il why pourquoi vs compare , ? : "
    "\" '".split()
)
QUESTIONS = st.text(max_size=200) | st.lists(WORDS, max_size=40).map(" ".join)


@given(QUESTIONS)
def test_whatever_is_valid_can_be_understood(text: str) -> None:
    try:
        validate(text)
    except InputError:
        return
    assert understand(text, names=NAMES).original == text


@given(QUESTIONS, st.lists(st.builds(Turn, QUESTIONS, st.text(max_size=300)), max_size=4))
def test_no_filter_names_what_is_not_there(text: str, history: list[Turn]) -> None:
    query = understand(text, names=NAMES, history=history)
    for each in (*query.filters, *query.boosts):
        assert _is_there(each), each


def _is_there(condition: Filter) -> bool:
    headings, documents = SHELF.headings, SHELF.documents
    match condition.field:
        case "document":
            known = {each.document_id for each in documents}
        case "speaker":
            known = {each.speaker or "" for each in documents}
        case "language":
            known = {each.language or "" for each in documents}
        case "chapter":
            known = {each.chapter for each in headings if each.chapter}
        case "section":
            known = {title for each in headings for title in each.path}
        case "segment":
            known = {each.segment for each in headings if each.segment}
        case "label":
            known = {*LABELS["almanac"], *map(str, range(1, 321))}
        case _:
            low, high = (float(each) for each in condition.values)
            longest = max(each.seconds or 0.0 for each in documents)
            return low <= high and (condition.field == "date" or low <= longest)
    return bool(condition.values) and known.issuperset(map(str, condition.values))
