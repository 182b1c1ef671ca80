"""The sets in eval/ are what their READMEs say: large enough, alike in both parts, consistent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quoth.evaluation.cache import load_pairs
from quoth.evaluation.questions import Expected, UnderstandingSet, load_understanding
from quoth.query.entity_index import build_entity_index
from quoth.query.understand import understand

EVAL = Path(__file__).parents[2] / "eval"
COURSE = Path(__file__).parents[1] / "data" / "hf-course"
SPLITS = ("dev", "heldout")


@pytest.fixture(scope="module")
def parts() -> dict[str, UnderstandingSet]:
    return {each: load_understanding(EVAL / "understanding", split=each) for each in SPLITS}


@pytest.fixture(scope="module")
def questions(parts: dict[str, UnderstandingSet]) -> list[Expected]:
    return [row for part in parts.values() for row in part.questions]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_there_are_enough_questions(questions: list[Expected]) -> None:
    assert len(questions) >= 360
    assert sum(not each.filters[0] for each in questions) >= 150


def test_every_kind_and_field_is_asked_for(questions: list[Expected]) -> None:
    fields = {c.field for each in questions for c in each.filters[0]}
    assert fields == {
        *("document", "speaker", "label", "seconds", "chapter", "section", "segment"),
        *("date", "language"),
    }
    assert len({each.kinds[0] for each in questions}) == 6


def test_page_specific_questions_name_pages(questions: list[Expected]) -> None:
    for each in questions:
        named = any(c.field == "label" for c in each.filters[0])
        only = each.kinds == ("page_specific",)
        assert named or not only, each.text  # a page that is not there may be a fact as well
        assert "page_specific" in each.kinds or not named, each.text


def test_what_is_expected_stands_on_the_shelf(parts: dict[str, UnderstandingSet]) -> None:
    for part in parts.values():
        there = {
            "speaker": {each.speaker for each in part.shelf.documents},
            "chapter": {each.chapter for each in part.shelf.headings},
            "section": {each.path[-1] for each in part.shelf.headings},
            "label": {label for labels in part.labels.values() for label in labels},
            "language": set(part.shelf.languages),
            "segment": {"qa", "demo"},
        }
        for row in part.questions:
            for each in row.filters[0]:
                if each.field in there:
                    assert {v for v in each.values if isinstance(v, str)} <= there[each.field]


def test_the_conversations_name_rows_of_the_course() -> None:
    known = {row["id"] for row in rows(COURSE / "corpus.jsonl")}
    chains = [row for each in SPLITS for row in rows(EVAL / "conversation" / f"{each}.jsonl")]
    assert len(chains) >= 60
    assert len({row["id"] for row in chains}) == len(chains)
    assert sum(row["question"] == row["rewrite"] for row in chains) >= 10
    for row in chains:
        assert set(row["gold"]) <= known
        assert [turn["role"] for turn in row["turns"]] == ["user", "assistant"] * (
            len(row["turns"]) // 2
        )


def test_there_are_enough_pairs() -> None:
    pairs = load_pairs(EVAL / "cache")
    assert sum(not each.same for each in pairs) >= 300
    assert sum(each.same for each in pairs) >= 100
    assert len({frozenset((each.a, each.b)) for each in pairs}) == len(pairs)


def test_plain_questions_restrict_nothing(parts: dict[str, UnderstandingSet]) -> None:
    """The questions of the course were written without this shelf, so none can mean it."""
    shelf = parts["dev"]
    names = build_entity_index(shelf.shelf, labels=shelf.labels)
    asked = [row["text"] for row in rows(COURSE / "queries.jsonl")]
    assert [text for text in asked if understand(text, names=names).filters] == []
