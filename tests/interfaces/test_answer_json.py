"""What programs get: the names of the fields, and one whole answer in a golden file."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from quoth.core.errors import NotFound
from quoth.core.events import Event
from quoth.core.types import (
    Answer,
    Box,
    Chars,
    Citation,
    Document,
    Hit,
    Locator,
    Pages,
    Query,
    Seconds,
    Sentence,
)
from quoth.interfaces.cli.session import error_message
from quoth.text.json_codec import to_json
from tests.support.small_library import add, open_tour, write_sources

GOLDEN = Path(__file__).parents[1] / "golden" / "answer.json"

NAMES: dict[type[Any], str] = {
    Pages: "kind first last label_first label_last section boxes",
    Box: "page x0 y0 x1 y1",
    Seconds: "kind start end speaker section",
    Chars: "kind start end section",
    Hit: "rank chunk_id document_id document collection text locator link score score_kind legs "
    "marked",
    Citation: "id number document_id document_name chunk_id section_heading locator page "
    "page_number snippet snippet_start snippet_end link relevance_score support support_score "
    "retrieval_method created_at marked",
    Query: "original standalone language kind is_followup filters entities",
    Sentence: "start end citations support",
    Answer: "query_id query text sentences citations closest status confidence grounded degraded "
    "warnings counts used_chunks timings_ms usage provider model profile index_version",
    Document: "document_id title kind status chunks pages seconds language error",
}
"""What stays; more may come."""


@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.__name__)
def test_no_name_is_lost(kind: type[Any]) -> None:
    assert {each.name for each in fields(kind)} >= set(NAMES[kind].split())


@pytest.mark.parametrize(
    ("kind", "literal"), [(Pages, "pages"), (Seconds, "seconds"), (Chars, "chars")]
)
def test_a_locator_says_its_kind(kind: type[Any], literal: str) -> None:
    places: dict[type[Any], Locator] = {
        Pages: Pages(1, 2, "i", "ii"),
        Seconds: Seconds(1.5, 2.0),
        Chars: Chars(0, 4),
    }
    assert to_json(places[kind])["kind"] == literal


def test_an_event_says_its_name() -> None:
    names = {kind.__dataclass_fields__["event"].default for kind in get_args(Event)}
    assert names == {
        *("status", "hits", "evidence", "token", "citation", "verification", "usage", "done")
    }
    assert error_message(NotFound("There is none."))["event"] == "error"


def test_a_problem_has_the_members_of_rfc_9457() -> None:
    said = error_message(NotFound("There is no collection 'x'."))
    assert set(said) >= {"type", "code", "title", "detail", "request_id"}
    assert said["code"] == "not_found"
    assert said["detail"] == "There is no collection 'x'."


async def test_a_whole_answer_is_as_it_was(tmp_path: Path, update_golden: bool) -> None:
    """Renew it with ``pytest --update-golden`` after a change that is meant."""
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("How much honey does a colony need in winter?")
        nothing = await engine.answer("What is the capital of Mongolia?")
    found = masked([to_json(answer), to_json(nothing)], folder=tmp_path)
    if update_golden:
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def masked(value: Any, *, folder: Path) -> str:
    """JSON without what differs from run to run: ids, times, folders, the last digits."""
    for answer in value:
        answer["query_id"] = "q_"
        answer["timings_ms"] = dict.fromkeys(sorted(answer["timings_ms"]), 0)
    text = json.dumps(value, ensure_ascii=False, indent=1)
    text = text.replace(str(folder.resolve()), "")
    text = re.sub(r'("created_at": )".*?"', r'\1""', text)
    text = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}", text)
    names: dict[str, str] = {}
    hexadecimal = re.compile(r"\b(?:c_)?[0-9a-f]{16,24}(?=\b|_)")
    text = hexadecimal.sub(lambda key: names.setdefault(key[0], f"id{len(names) + 1}"), text)
    return re.sub(r"(id\d+)_[0-9a-f]{12}\b", r"\1_1", text) + "\n"
