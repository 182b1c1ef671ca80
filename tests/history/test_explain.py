"""An explanation tells of every candidate how far it came, and of any passage why it did not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from quoth.core.types import Filter
from quoth.engine import Engine
from quoth.history.explain import (
    Explanation,
    by_progress,
    explain,
    filter_text,
)
from quoth.history.explain_page import explanation_page
from quoth.history.export import exported
from quoth.history.replay import replay
from quoth.history.why_not import MissedPassage, why_not
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request
from quoth.testing import MemoryIndex, ScriptedGenerator
from tests.history.test_replay import stored
from tests.support.cli import quoth
from tests.support.recorded_queries import NECTAR, record_of_asking
from tests.support.small_library import NOTES, add, open_tour, write_sources

HONEY = "Chestnut honey number {n} of the shelf has a taste of its own and is sold in jar {n}."


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as opened:
        await add(opened, write_sources(tmp_path / "sources"))
        yield opened


async def explained(engine: Engine, request: Request | str) -> tuple[Record, Explanation]:
    record = stored(await record_of_asking(engine, request))
    return record, explain(record, engine.parts.catalogue)


def fates(found: Explanation) -> dict[str, str]:
    return {way.at.text: way.fate for one in found.searched for way in one.ways}


# --- the explanation --------------------------------------------------------------------------


async def test_what_is_cited_says_as_which_number(engine: Engine) -> None:
    _record, found = await explained(engine, NECTAR)
    (searched,) = found.searched
    first = by_progress(searched.ways)[0]
    assert (first.fate, first.why) == ("cited", "cited as 1")
    assert first.at.document == "Inside the hive"
    assert first.at.link == "https://www.youtube.com/watch?v=aaaaaaaaaaa&t=5"


async def test_every_candidate_has_an_end(engine: Engine) -> None:
    request = Request(NECTAR, {"final_k": 2, "rerank_pool": 4, "context_window": 0})
    record, found = await explained(engine, request)
    (searched,) = found.searched
    ends = [way.fate for way in by_progress(searched.ways)]
    assert ends[2:4] == ["below_final"] * 2
    assert set(ends[4:]) == {"beyond_pool"}
    assert len(ends) == record.searched[0].found


async def test_what_the_budget_leaves_out_is_told(engine: Engine) -> None:
    request = Request(NECTAR, {"max_context_tokens": 60, "context_window": 0})
    _record, found = await explained(engine, request)
    assert "over_budget" in fates(found).values()


async def test_a_copy_names_what_it_repeats(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "again.md").write_text(f"{NOTES}\n## Stings\n\nThey hurt for a day.\n")
    await add(engine, tmp_path / "again.md")
    _record, found = await explained(engine, "How do bees keep warm in winter?")
    copies = [w for one in found.searched for w in one.ways if w.fate == "copy"]
    why = "says what a better passage says: Keeping bees · Keeping bees ▸ Winter"
    assert why in [each.why for each in copies]


def test_the_day_of_a_filter_is_written_as_a_date() -> None:
    day = Filter("date", "overlaps", (20240514, 20240514))
    year = Filter("date", "overlaps", (20240101, 20241231))
    assert filter_text(day) == "date: 2024-05-14"
    assert filter_text(year) == "date: 2024-01-01–2024-12-31"


async def test_how_the_question_was_read_is_told(engine: Engine) -> None:
    record, found = await explained(engine, Request("What does Ada say about nectar?"))
    understood = dict(found.understood)
    assert understood["language"] == "en"
    assert "speaker: Ada" in understood["read as filter"]
    french = explain(record, engine.parts.catalogue, language="fr")
    assert "ce que dit Ada" in dict(french.understood)["read as filter"]


async def test_what_is_no_longer_there_is_said(engine: Engine) -> None:
    record, _found = await explained(engine, NECTAR)
    await engine.remove([record.answer.citations[0].document_id])
    found = explain(record, engine.parts.catalogue)
    (searched,) = found.searched
    assert searched.now != searched.version
    assert by_progress(searched.ways)[0].at.document == ""


async def test_an_answer_from_the_cache_says_so(engine: Engine) -> None:
    await engine.answer(NECTAR)
    record, found = await explained(engine, NECTAR)
    assert record.answer.cached
    assert found.searched == ()
    assert any("cache" in each for each in found.notes)
    again = await replay(record, engine)
    assert again.same
    assert again.candidates is None


async def test_what_a_language_model_did_is_told(engine: Engine) -> None:
    script = ("Honey is made from nectar [Source 1]. ", "It was found on the moon [Source 1].")
    parts = replace(engine.parts, generator=ScriptedGenerator(*script))
    record = stored(await record_of_asking(Engine(parts), NECTAR))
    found = explain(record, parts.catalogue)
    makers = dict(found.makers)
    assert makers["generator"] == "scripted:script"
    assert makers["written by"] == "scripted script"
    assert makers["prompt"] == record.answer.prompt
    for text in (explanation_page(found), exported(record, "md"), exported(record, "html")):
        assert "Honey is made from nectar" in text
        assert text.count("(supported by no source)") == 1


# --- why not? ---------------------------------------------------------------------------------


async def why(engine: Engine, request: Request | str, text: str) -> MissedPassage:
    record = stored(await record_of_asking(engine, request))
    found = await why_not(text, record, parts=engine.parts)
    assert found.exact
    return found.passages[0]


async def test_a_passage_outside_a_filter_of_the_question(engine: Engine) -> None:
    found = await why(engine, "What is said at 0:05 about bees?", "kilograms of HONEY")
    assert found.reason == "filtered"
    assert "read out of the question" in found.why
    assert found.advice == "add the filter time=any"


async def test_a_passage_too_deep_in_both_legs(engine: Engine, tmp_path: Path) -> None:
    lines = "\n\n".join(f"# Part {n}\n\n{HONEY.format(n=n)}" for n in range(40))
    (tmp_path / "shelf.md").write_text(lines)
    await add(engine, tmp_path / "shelf.md")
    request = Request("Which honey is sold in a jar?", {"candidates_per_leg": 3})
    record = stored(await record_of_asking(engine, request))
    there = {each.chunk_id for each in record.searched[0].candidates}
    found = [
        await why_not(HONEY.format(n=n).split(" has ")[0], record, parts=engine.parts)
        for n in (31, 17, 8)
    ]
    missed = [each.passages[0] for each in found if each.passages[0].chunk_id not in there]
    deep = [each for each in missed if each.reason == "too_deep"]
    assert deep
    assert "the first 3 of each list were looked at" in deep[0].why
    assert deep[0].advice.startswith("ask with --set plan.candidates_per_leg=")


async def test_words_beside_a_quotation_are_not_called_cited(engine: Engine) -> None:
    record = stored(await record_of_asking(engine))
    cited = record.answer.citations[0]
    shorter = replace(cited, snippet=cited.snippet[:10])
    others = record.answer.citations[1:]
    record = replace(record, answer=replace(record.answer, citations=(shorter, *others)))
    for words, reason in ((cited.snippet[:10], "cited"), (cited.snippet[5:30], "beside")):
        found = await why_not(words, record, parts=engine.parts)
        assert found.passages[0].reason == reason


async def test_of_words_that_no_passage_holds_the_closest_ones_are_explained(
    engine: Engine,
) -> None:
    record = stored(await record_of_asking(engine))
    words = f"{record.answer.citations[0].snippet[:30]} xyzzy"
    found = await why_not(words, record, parts=engine.parts)
    assert not found.exact
    assert "cited" in [each.reason for each in found.passages]


async def test_of_a_refusal_no_setting_is_advised(engine: Engine) -> None:
    found = await why(engine, "Which chestnut wears a hat?", "nectar")
    assert found.reason == "not_quoted"
    assert "nothing seemed to answer" in found.why
    assert found.advice == ""


async def test_a_text_that_runs_over_the_end_of_a_chunk(engine: Engine, tmp_path: Path) -> None:
    sentences = [f"Cell {n} of the comb was built in week {n} by the young bees." for n in range(9)]
    (tmp_path / "comb.md").write_text(" ".join(sentences))
    (document,) = await add(engine, tmp_path / "comb.md")
    chunks = engine.parts.catalogue.document_chunks(document.document_id)
    assert len(chunks) > 1
    text = f"{chunks[0].text[-20:]}{chunks[1].text[:20]}"
    record = stored(await record_of_asking(engine, NECTAR))
    found = await why_not(text, record, parts=engine.parts)
    assert found.exact
    assert {each.chunk_id for each in found.passages} == {each.chunk_id for each in chunks[:2]}


# --- the page ---------------------------------------------------------------------------------

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)> "& javascript:alert(3)'


class Page(HTMLParser):
    """What a browser would see: elements, addresses and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def addresses(self) -> list[str]:
        return [value or "" for name, value in self.attributes if name in ("href", "src")]


async def test_the_page_shows_texts_as_texts_only(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(f"{HOSTILE}\n\nHoney is made from nectar {HOSTILE}.")
    async for _step in engine.add([tmp_path / "bad.txt"]):
        pass
    record, found = await explained(engine, f"What is honey made from? {HOSTILE}")
    asked = await why_not(HOSTILE, record, parts=engine.parts)
    page = Page(explanation_page(found, asked=asked))
    assert HOSTILE in page.words
    assert not {"script", "img", "iframe", "object", "link"} & set(page.tags)
    assert not [name for name, _value in page.attributes if name.startswith("on")]
    assert all(each.startswith(("https://", "file:", "#cited-")) for each in page.addresses)


async def test_the_page_needs_nothing_from_anywhere(engine: Engine) -> None:
    _record, found = await explained(engine, NECTAR)
    text = explanation_page(found)
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


# --- the command ------------------------------------------------------------------------------


def test_the_command_shows_the_ways_and_writes_a_page(home: Path, tmp_path: Path) -> None:
    query_id = quoth(home, "ask", NECTAR, "--json").json["query_id"]
    said = quoth(home, "explain", query_id, embedder="/no/such/model")  # no model is loaded
    assert said.code == 0
    for words in ("understood", "took part", "cited as 1", "in all"):
        assert words in said.out
    page = tmp_path / "page.html"
    assert quoth(home, "explain", query_id, "--html", str(page)).code == 0
    assert NECTAR in page.read_text(encoding="utf-8")
    said = quoth(home, "explain", query_id, "--html", "/no/such/folder/page.html")
    assert said.code == 2
    assert "/no/such/folder/page.html" in said.err


def test_the_command_says_why_not(home: Path) -> None:
    query_id = quoth(home, "ask", "What is said at 0:05 about bees?", "--json").json["query_id"]
    said = quoth(home, "explain", query_id, "--why-not", "fifteen kilograms")
    assert "does not pass the filter" in said.out
    found = quoth(home, "explain", query_id, "--why-not", "fifteen kilograms", "--json").json
    assert found["why_not"]["passages"][0]["reason"] == "filtered"
