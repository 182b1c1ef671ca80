"""What was asked can be listed and handed on, whatever stands in it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from quoth.core.plan import Plan
from quoth.core.types import Chars, Sentence
from quoth.history.export import Format, exported, pieces
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request
from tests.history.test_explain import HOSTILE, Page
from tests.support.cli import quoth
from tests.support.recorded_queries import NECTAR
from tests.text.test_json_decode import answer, citation

MARKDOWN = "# a [b](https://evil.example) ![c](x) <b>d</b> | e | `f` *g* _h_ $i$ 1. j"
TEXTS = st.text(
    st.sampled_from([*"ab 1.)#-+=*_`[]()!<>|~^$&@:/\\'\"\n\t&", "é", "\u202e", "\x00", "\ud800"])
    | st.characters(exclude_categories=[])
)


def said(text: str, *, link: str | None = "https://example.org/#page=3", **more: Any) -> Record:
    """The record of an answer that consists of one sentence and quotes it."""
    quoted = replace(citation(Chars(0, 9, section=text)), snippet=text, link=link)
    one = replace(
        answer(),
        text=f"{text} [1]",
        sentences=(Sentence(0, len(text), (1,), "supported"),),
        citations=(replace(quoted, document_name=text),),
        warnings=(text,),
    )
    return Record(Request(text), Plan(), replace(one, **more), created_at="2026-01-02T03:04:05")


# --- the text in pieces -----------------------------------------------------------------------


def test_markers_behind_a_sentence_are_left_out() -> None:
    made = replace(
        answer(),
        text="One. [1] Two. [2] [3]\n\nThree [9].",
        sentences=(
            Sentence(0, 4, (1,), "supported"),
            Sentence(9, 13, (2, 3), "partly"),
        ),
    )
    assert list(pieces(made)) == [
        ("One.", (1,), "", 1),
        (" ", (), "", 0),
        ("Two.", (2, 3), "supported in part by its source", 2),
        ("\n\nThree [9].", (), "", 0),
    ]


# --- forms ------------------------------------------------------------------------------------


def rendered(text: str) -> Page:
    return Page(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


@given(TEXTS)
def test_texts_mean_nothing_in_markdown(text: str) -> None:
    page = rendered(exported(said(text), "md"))
    assert set(page.addresses) == {"https://example.org/#page=3"}
    assert not {"img", "script", "table", "code", "s", "pre", "b"} & set(page.tags)
    assert page.tags.count("h1") == 1
    assert page.tags.count("h2") == 1
    assert page.tags.count("ol") == 1
    assert page.tags.count("em") == 1


def test_an_export_is_in_the_language_of_the_question() -> None:
    record = said("Le thé.")
    rows = Chars(0, 9, "Prix", None, "chars", "row", "2", "3")
    one = replace(
        record.answer,
        query=replace(record.answer.query, language="fr"),
        citations=(replace(record.answer.citations[0], locator=rows),),
        sentences=(Sentence(0, 7, (1,), "unsupported"),),
        model=None,
    )
    for form in ("md", "html"):
        text = exported(replace(record, answer=one), form)
        for words in ("lignes 2–3", "sans modèle de langage", "«\u202fLe thé.", "aucune source"):
            assert words in text
    assert "lignes 2–3" in exported(replace(record, answer=one), "csv")


@given(TEXTS)
def test_texts_mean_nothing_in_html(text: str) -> None:
    page = Page(exported(said(text), "html"))
    assert set(page.addresses) == {"https://example.org/#page=3", "#source-1"}
    assert not {"img", "script", "iframe", "object"} & set(page.tags)
    assert not [name for name, _value in page.attributes if name.startswith("on")]


@given(TEXTS)
def test_json_gives_the_texts_back(text: str) -> None:
    found = json.loads(exported(said(text), "json"))
    assert found["citations"][0]["snippet"] == text
    assert found["question"] == text


@pytest.mark.parametrize("text", [HOSTILE, MARKDOWN])
def test_what_is_shown_is_what_was_said(text: str) -> None:
    words = " ".join(text.split())
    assert words in rendered(exported(said(text), "md")).words
    assert words in Page(exported(said(text), "html")).words


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "http://[", "x:y", ""]
)
@pytest.mark.parametrize("form", ["md", "html"])
def test_an_address_that_could_run_something_is_no_link(link: str, form: Format) -> None:
    text = exported(said("Honey.", link=link), form)
    page = rendered(text) if form == "md" else Page(text)
    assert not [each for each in page.addresses if not each.startswith("#source-")]


def test_an_address_cannot_leave_its_brackets() -> None:
    link = 'https://example.org/a> "b" (c) [d](https://evil.example) <e'
    page = rendered(exported(said("Honey.", link=link), "md"))
    (address,) = page.addresses
    assert address.startswith("https://example.org/a%3E")


# --- the commands -----------------------------------------------------------------------------


def test_what_was_asked_is_listed_newest_first(home: Path) -> None:
    for question in (NECTAR, "How do bees keep warm in winter?"):
        assert quoth(home, "ask", question, "--quiet").code == 0
    found = quoth(home, "history", "--json").json
    assert [each["text"] for each in found] == ["How do bees keep warm in winter?", NECTAR]
    assert {each["collection"] for each in found} == {"default"}
    assert len(quoth(home, "history", "-n", "1", "--json").json) == 1
    shown = quoth(home, "history").out
    assert found[0]["query_id"] in shown
    assert "answered" in shown


def _check_columns(home: Path, answer: Any) -> None:
    written = quoth(home, "export", answer["query_id"], "--format", "csv").out
    (row, *_) = csv.DictReader(StringIO(written))
    (cited, *_) = answer["citations"]
    place = cited["locator"]
    expected = {
        "document": cited["document_name"],
        "page": cited["page"],
        "page_number": cited["page_number"],
        **{name: place.get(name) for name in ("start", "end", "speaker")},
        "section": cited["section_heading"],
    }
    assert {name: row[name] for name in expected} == {
        name: "" if value is None else str(value) for name, value in expected.items()
    }
    assert row["start"] or row["page"]


def test_an_answer_is_exported_whole_in_every_form(home: Path, tmp_path: Path) -> None:
    answer = quoth(home, "ask", NECTAR, "--json").json
    query_id = answer["query_id"]
    for name, words in (("a.md", "## Sources"), ("a.html", "<!doctype"), ("a.json", '"snippet"')):
        file = tmp_path / name
        assert quoth(home, "export", query_id, "-o", str(file)).code == 0
        text = file.read_text(encoding="utf-8")
        assert words in text
        assert "youtube.com/watch?v=aaaaaaaaaaa" in text
    for form in (("--json",), ("--format", "json")):
        found = quoth(home, "export", query_id, *form).json
        assert {**found, **answer} == found
    _check_columns(home, answer)
    _check_columns(home, quoth(home, "ask", "What is on page 2?", "--json").json)
    unsure = quoth(home, "ask", "Who sells honey in Rome?", "--json").json
    assert not unsure["citations"]
    (first, *_) = unsure["closest"]
    for form in ("md", "html", "csv"):
        written = quoth(home, "export", unsure["query_id"], "--format", form).out
        assert first["document"] in written
        assert first["link"] in written
    said = quoth(home, "export", query_id, "-o", "/no/such/folder/a.md")
    assert (said.code, "/no/such/folder/a.md" in said.err) == (2, True)
