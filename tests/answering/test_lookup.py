"""Questions about a place get what stands there."""

from __future__ import annotations

import pytest

from quoth.answering.extractive.lookup import centroid_sentences, part_titles, summary_statements
from quoth.answering.extractive.select import shortlist
from quoth.core.outline import SummarySentence
from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    Passage,
    Query,
)

TEXT = (
    "Bees make honey from nectar. The weather was fine. Worker bees carry nectar to the hive. "
    "Is it not odd? Honey keeps for years because bees dry the nectar."
)
CHUNK = Chunk("c", "d", 0, 100, 100 + len(TEXT), TEXT, Chars(100, 100 + len(TEXT)), "text")
PASSAGE = Passage(1, Document("d", "Bees", "text", "ready"), (CHUNK,), ("c",), 1.0)


def test_what_stands_there_is_told_by_its_central_sentences_in_order() -> None:
    material = shortlist(
        Query("What is on page 2?", "What is on page 2?", "en"), [PASSAGE]
    ).material
    said = [each.text for each in centroid_sentences(material, max_sentences=2)]
    assert said == [
        "Bees make honey from nectar.",
        "Honey keeps for years because bees dry the nectar.",
    ]


def test_the_questions_are_told_where_they_are_asked_for() -> None:
    material = shortlist(Query("What was asked?", "What was asked?", "en"), [PASSAGE]).material
    said = centroid_sentences(material, max_sentences=2, questions=True)
    assert [each.text for each in said] == ["Is it not odd?"]


def test_a_summary_is_made_of_its_sentences() -> None:
    start = 100 + TEXT.index("Worker")
    end = 100 + TEXT.index(" Is it")
    (statement,) = summary_statements(
        [SummarySentence("c", start, end), SummarySentence("gone", 0, 5)], [PASSAGE]
    )
    assert statement.text == "Worker bees carry nectar to the hive."
    assert (statement.start, statement.end, statement.passage) == (start, end, 0)


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
