"""Questions about a place get what stands there."""

from __future__ import annotations

import pytest

from quoth.answering.extractive.lookup import (
    heading_statements,
    part_titles,
    place_statements,
    section_statements,
    summary_statements,
)
from quoth.answering.extractive.select import Statement, collect_sentences
from quoth.answering.extractive.write import write_answer
from quoth.core.outline import Heading, SummarySentence
from quoth.core.types import Query
from tests.support.counting import is_proportional
from tests.support.passages import passage

TEXT = (
    "Bees make honey from nectar. The weather was fine. Worker bees carry nectar to the hive. "
    "Is it not odd? Honey keeps for years because bees dry the nectar."
)
QUERY = Query("What is on page 2?", "What is on page 2?", "en")


def quoted(*texts: str, questions: bool = False) -> tuple[Statement, ...]:
    passages = [passage(text, start=100, number=n) for n, text in enumerate(texts, start=1)]
    return place_statements(collect_sentences(QUERY, passages), passages, questions=questions)


def test_what_stands_at_a_place_is_quoted_whole() -> None:
    (statement,) = quoted(TEXT)
    assert statement.text == TEXT
    assert (statement.start, statement.end, len(statement.parts)) == (100, 100 + len(TEXT), 5)


def test_all_passages_of_a_place_are_quoted_and_go_on_where_they_are_long() -> None:
    short, *others = quoted(TEXT, *(TEXT * 4 for _ in range(5)))
    assert (short.text, short.goes_on) == (TEXT, False)
    assert len(others) == 5
    assert all(each.goes_on and TEXT in each.text for each in others)


@pytest.mark.parametrize(
    "first", ["In the words of its author, it is this:", "Bee | A bee dances."]
)
def test_a_section_begins_with_what_says_something(first: str) -> None:
    part = passage(f"{first}\n\n{TEXT}")
    heading = Heading("d1", ("Bees",), part.chunks[0].ordinal, part.chunks[0].ordinal)
    candidates = collect_sentences(QUERY, [part])
    (begun, *_) = section_statements([heading], [], candidates, [part])
    assert begun.text.startswith("Bees make honey")


def test_the_questions_are_quoted_where_they_are_asked_for() -> None:
    assert [each.text for each in quoted(TEXT, questions=True)] == ["Is it not odd?"]


def test_a_summary_is_made_of_its_sentences_and_what_follows_each() -> None:
    part = passage(TEXT + "\n\nWasps do not.", start=100)
    first, second, third = (100 + TEXT.index(word) for word in ("Worker", "Is it", "Honey keeps"))
    summary = [
        SummarySentence("c1", first, second - 1),
        SummarySentence("gone", 0, 5),
        SummarySentence("c1", third, 100 + len(TEXT)),
    ]
    (statement,) = summary_statements(summary, collect_sentences(QUERY, [part]), [part])
    assert statement.text == TEXT[first - 100 :]
    assert (statement.start, statement.end, statement.passage) == (first, 100 + len(TEXT), 0)


@pytest.mark.parametrize(
    ("paths", "titles"),
    [
        ([("Bees", "Honey"), ("Bees", "Wax")], ("Honey", "Wax")),
        ([("Bees", "One", "Honey"), ("Bees", "One", "Wax")], ("Honey", "Wax")),
        ([("Bees", "Honey"), ("Bees", "Honey")], ("", "")),
        ([("Bees",), ("Bees", "Honey")], ("", "")),
        ([("Bees", "Honey"), ("Bees", "Wax"), ("Bees", "Honey")], ("", "", "")),
        ([("Bees", "Honey"), ("Wasps", "Honey")], ("Bees", "Wasps")),
        ([], ()),
    ],
)
def test_a_summary_is_arranged_by_the_parts_of_its_source(
    paths: list[tuple[str, ...]], titles: tuple[str, ...]
) -> None:
    assert part_titles(paths) == titles


def test_an_outline_quotes_the_headings_where_they_stand() -> None:
    texts = ("Part 1.\nThe bee\u2019s hive\n\nBees make honey.", "We begin with wax.\nIt is soft.")
    parts = [passage(text, number=number) for number, text in enumerate(texts)]
    headings = [
        Heading("d0", ("Part 1. The bee's hive",), 0, 0),
        Heading("d1", ("Wax",), 0, 0),
        Heading("gone", ("Honey",), 0, 0),
    ]
    found = heading_statements(headings, parts)
    assert [each.text for each in found] == ["Part 1.\nThe bee\u2019s hive", "We begin with wax."]
    text, _ = write_answer(found)
    assert text == "Part 1.\nThe bee\u2019s hive [1]\nWax:\nWe begin with wax. [2]"


def test_a_title_keeps_its_french_quotation_marks() -> None:
    title = "Contrat du gîte «\u00a0Les Tilleuls\u00a0»"
    found = heading_statements([Heading("d1", (title,), 0, 0)], [passage(f"{title}\n\nBail.")])
    assert [each.text for each in found] == [title]


@pytest.mark.parametrize("signs", ["«", "-", "« "])
def test_signs_in_a_text_take_time_in_proportion_where_a_title_is_looked_for(signs: str) -> None:
    heading = [Heading("d1", ("Honey",), 0, 0)]
    text = signs * 5000
    assert is_proportional(lambda part: heading_statements(heading, [passage(f"{part}x")]), text)
