"""Plain data becomes the value again that it was made of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from quoth.core.plan import Plan
from quoth.core.types import (
    Answer,
    Box,
    Chars,
    Citation,
    Counts,
    Filter,
    Hit,
    LegScore,
    Locator,
    Pages,
    Query,
    Seconds,
    Sentence,
)
from quoth.text.json_codec import decode_json, dump, to_json

PAGES = Pages(3, 4, "i", "ii", "Hives ▸ Wood", (Box(3, 1.0, 2.0, 3.5, 4.0),))
PLACES: tuple[Locator, ...] = (PAGES, Seconds(1.5, 2.0, speaker="Ada"), Chars(1, 9, anchor="a"))


def citation(locator: Locator) -> Citation:
    return Citation(
        id="c1",
        number=1,
        document_id="d",
        document_name="Bees",
        chunk_id="k",
        section_heading=None,
        locator=locator,
        page=None,
        page_number=None,
        snippet="Honey.",
        snippet_start=0,
        snippet_end=6,
        link="https://example.org/#page=3",
        relevance_score=0.5,
        support="supported",
        support_score=1.0,
        retrieval_method="hybrid",
        created_at="2026-01-01T00:00:00.000+00:00",
    )


def answer() -> Answer:
    filters = (Filter("speaker", "in", ("Ada",)), Filter("page", "overlaps", (3.0, 4.0)))
    hit = Hit(1, "k", "d", "Bees", "default", "Honey.", PAGES, None, 1.0, "convex")
    return Answer(
        query_id="q_1",
        query=Query("Why?", "Why?", "en", filters=filters, aspects=("a", "b")),
        text="Honey. [1]",
        sentences=(Sentence(0, 6, (1,), "supported", 0.9),),
        citations=tuple(citation(each) for each in PLACES),
        closest=(replace(hit, legs={"keyword": LegScore(1, 2.5)}),),
        status="answered",
        grounded=True,
        degraded=(),
        warnings=("A note.",),
        counts=Counts(retrieved=3),
        used_chunks=("k",),
        timings_ms={"total": 1.5},
        profile="default",
        index_version="t:1",
    )


def through(value: Any) -> Any:
    return json.loads(dump(to_json(value)))


def test_an_answer_comes_back_as_it_was() -> None:
    assert decode_json(Answer, through(answer())) == answer()


def test_a_plan_comes_back_as_it_was() -> None:
    plan = Plan(filters=(Filter("label", "in", ("iv",)),), max_per_document=2, deadline_ms=5.0)
    assert decode_json(Plan, through(plan)) == plan


def test_what_an_older_version_did_not_know_has_its_default() -> None:
    data = through(answer())
    del data["contradictions"], data["usage"], data["sentences"][0]["score"]
    found = decode_json(Answer, data)
    assert found == replace(answer(), sentences=(Sentence(0, 6, (1,), "supported"),))


def test_what_a_newer_version_added_is_left_out() -> None:
    assert decode_json(Answer, through(answer()) | {"mood": "good"}) == answer()


@pytest.mark.parametrize("data", [{}, [], "text", 7, {"query_id": "q"}])
def test_what_is_no_such_value_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match="no Answer"):
        decode_json(Answer, data)
