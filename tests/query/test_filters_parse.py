"""Filters as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError
from quoth.core.types import Document, Filter
from quoth.query.filters.parse import (
    KEYS,
    MAX_PAGES,
    dropped_fields,
    join_names,
    parse_filters,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("document=abc", Filter("document", "in", ("abc",))),
        ("document=abc,def", Filter("document", "in", ("abc", "def"))),
        ("kind=PDF", Filter("kind", "in", ("pdf",))),
        (" KIND = pdf , html ", Filter("kind", "in", ("pdf", "html"))),
        ("language=FR", Filter("language", "in", ("fr",))),
        ("speaker=Ada Lovelace", Filter("speaker", "in", ("Ada Lovelace",))),
        ("speaker=Smith, John", Filter("speaker", "in", ("Smith, John",))),
        ("speaker=a=b", Filter("speaker", "in", ("a=b",))),
        ("page=12", Filter("label", "in", ("12",))),
        ("page=12-14", Filter("label", "in", ("12", "13", "14"))),
        ("page=12–14", Filter("label", "in", ("12", "13", "14"))),
        ("page=12..14", Filter("label", "in", ("12", "13", "14"))),
        ("page=iv", Filter("label", "in", ("iv",))),
        ("page=iv-vi", Filter("label", "in", ("iv", "v", "vi"))),
        ("page=IV-VI", Filter("label", "in", ("iv", "v", "vi"))),
        ("page=A-3", Filter("label", "in", ("A-3",))),
        ("page_number=12-14", Filter("page", "overlaps", (12, 14))),
        ("page_number=7", Filter("page", "overlaps", (7, 7))),
        ("time=90", Filter("seconds", "overlaps", (90, 90))),
        ("time=1:30", Filter("seconds", "overlaps", (90, 90))),
        ("time=1:30-2:00", Filter("seconds", "overlaps", (90, 120))),
        ("chapter=3", Filter("chapter", "in", ("3",))),
        ("chapter=IV", Filter("chapter", "in", ("4",))),
        ("chapter=B", Filter("chapter", "in", ("b",))),
        ("chapter=2-4", Filter("chapter", "in", ("2", "3", "4"))),
        ("chapter=1,5", Filter("chapter", "in", ("1", "5"))),
        ("section=Deadlock, again", Filter("section", "in", ("Deadlock, again",))),
        ("segment=QA", Filter("segment", "in", ("qa",))),
        ("date=2024", Filter("date", "overlaps", (20240101, 20241231))),
        ("date=2024-02", Filter("date", "overlaps", (20240201, 20240229))),
        ("date=2024-03-01", Filter("date", "overlaps", (20240301, 20240301))),
        ("date=2023-2024", Filter("date", "overlaps", (20230101, 20241231))),
        ("date=2023-05..2024-01-02", Filter("date", "overlaps", (20230501, 20240102))),
        ("date=2023..", Filter("date", "overlaps", (20230101, 99991231))),
        ("date=..2023", Filter("date", "overlaps", (0, 20231231))),
        ("time=1:00:00-1:00:30.5", Filter("seconds", "overlaps", (3600, 3630.5))),
    ],
)
def test_a_filter_is_read(text: str, expected: Filter) -> None:
    assert parse_filters([text]) == (expected,)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("The Hut, 2nd ed.", ("a",)),
        ("the hut, 2nd ed.", ("a",)),
        ("hut.pdf", ("a", "b")),
        ("b, Stoves", ("b", "c")),
        ("Hats", ("Hats",)),
    ],
)
def test_a_document_is_called_by_its_title_or_file(value: str, ids: tuple[str, ...]) -> None:
    documents = (
        Document("a", "The Hut, 2nd ed.", "pdf", "ready", source="/books/hut.pdf"),
        Document("b", "Hut rules", "pdf", "ready", source="/rules/Hut.pdf"),
        Document("c", "Stoves", "html", "ready"),
    )
    found = parse_filters([f"document={value}"], documents=documents)
    assert found == (Filter("document", "in", ids),)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "=",
            "kind",
            "kind=",
            "=pdf",
            "colour=red",
            "kind=,",
            "kind=pdf,film",
            "document= , ",
        ),
        *("time=noon", "time=-5", "time=1:2:3:4", "time=nan", "time=inf", "time=1:-5"),
        *("time=2:00-1:00", "time=::", "time=1:"),
        *("page_number=iv", "page_number=9-3", "page_number=²"),
        *("page=9-3", "page=vi-iv", f"page=1-{MAX_PAGES + 1}"),
        *("date=24", "date=2024-13", "date=2024-02-30", "date=..", "date=2024-2023", "date=May"),
        *("segment=talk", "chapter=4-2", "chapter=1-9999", "chapter=" + "9" * 40, "any=page"),
        *("language=,", "time=1e400", "page_number=" + "9" * 400),
    ],
)
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_filters([text])


def test_the_message_names_the_keys_there_are() -> None:
    with pytest.raises(InputError) as caught:
        parse_filters(["colour=red"])
    assert all(key in str(caught.value) for key in KEYS)


@pytest.mark.parametrize(
    ("texts", "fields"),
    [
        ([], set()),
        (["page=12", "kind=pdf"], set()),
        (["page=any"], {"label", "page"}),
        (["Title=ANY", "time = any"], {"document", "seconds"}),
        (["language=any", "chapter=3"], {"language"}),
    ],
)
def test_what_was_read_out_of_the_question_can_be_taken_back(
    texts: list[str], fields: set[str]
) -> None:
    assert dropped_fields(texts) == fields


@given(st.text() | st.tuples(st.sampled_from(list(KEYS)), st.text()).map("=".join))
def test_any_text_is_a_filter_or_is_refused(text: str) -> None:
    try:
        found = parse_filters([text])
    except InputError:
        return
    assert bool(found) != bool(dropped_fields([text]))
    assert all(each.values for each in found)


@pytest.mark.parametrize(
    ("more", "said"), [(1, "a, b, c, d et 1 autre"), (2, "a, b, c, d et 2 autres")]
)
def test_names_that_are_left_out_are_counted(more: int, said: str) -> None:
    assert join_names([*"abcd"], "fr", total=4 + more) == said
