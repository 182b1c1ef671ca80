"""What is shown of hostile texts is text: nothing runs, nothing is sent, in any form there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from quoth.answering.generative.stream_reader import AnswerReader, ParsedSentence
from quoth.core.types import Chars, Citation, Sentence
from quoth.engine import Engine
from quoth.history.explain import explain
from quoth.history.explain_page import explanation_page
from quoth.history.export import exported
from quoth.history.why_not import why_not
from quoth.interfaces.markdown import markdown_sentences
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request
from quoth.testing import ScriptedGenerator
from tests.history.test_replay import stored
from tests.support.http_double import Handler, serving
from tests.support.payloads import ACTIVE, CANARY, SENDING, at
from tests.support.recorded_queries import record_of_asking
from tests.support.small_library import add, open_tour
from tests.support.web_app import CHROMIUM, NEEDS_CHROMIUM
from tests.text.test_json_decode import answer, citation

OURS = "https://ours.test/document#page=3"
"""The link that code makes of a citation."""

ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "br", "span"),
    *("sup", "em", "a", "ol", "ul", "li", "blockquote", "strong", "code", "pre", "hr"),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
}
"""The elements that our pages, and Markdown that we write, are made of."""
LOADING = ("src", "srcset", "poster", "data", "ping", "action", "formaction", "background")
LIVE = re.compile(r"(?i)(?<!\]\()(?<!\]\(<)(?:https?://|\bwww\.)[\w]")
"""A bare address, of which many programs that show Markdown make a link."""


def marked(texts: Sequence[str]) -> Iterator[tuple[str, Record]]:
    for each in texts:
        yield each, record_of(each)


def record_of(*texts: str) -> Record:
    """The record of an answer that has a text everywhere: question, sentence, name, quotation."""
    whole, sentences, citations = "", [], []
    for number, text in enumerate(texts, 1):
        sentences.append(Sentence(len(whole), len(whole) + len(text), (number,), "supported"))
        whole += f"{text} [{number}]\n\n"
        citations.append(_cited(text, number))
    made = replace(
        answer(),
        text=whole,
        sentences=tuple(sentences),
        citations=tuple(citations),
        warnings=texts,
        model=texts[0],
    )
    return Record(Request("\n".join(texts)), _plan(), made, created_at="2026-01-02T03:04:05")


def _cited(text: str, number: int) -> Citation:
    found = citation(Chars(0, len(text), section=text, anchor="a"))
    named = {"document_name": text, "section_heading": text, "snippet": text}
    return replace(found, number=number, link=OURS, **named)


def _plan() -> Any:
    from quoth.core.plan import Plan

    return Plan()


def as_page(markdown: str) -> str:
    """Markdown as the most generous program would show it: with HTML, tables and all."""
    shows = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return str(shows.render(markdown))


def dangers(page: str) -> list[str]:
    """What in a page runs, loads, or leads anywhere but to where code says."""
    found = []
    for node in LexborHTMLParser(page).css("*"):
        tag, attributes = node.tag or "", node.attributes
        if tag not in ALLOWED:
            found.append(tag)
        for name, value in attributes.items():
            said = value or ""
            if name.startswith("on") or name in LOADING:
                found.append(f"{tag} {name}")
            if name == "href" and said != OURS and not re.fullmatch(r"#(source|cited)-\d+", said):
                found.append(f"{tag} {said}")
            if name == "style" and re.search(r"(?i)url|expression|@", said):
                found.append(f"{tag} style")
            if tag == "meta" and said.lower() == "refresh":
                found.append("refresh")
    return found


# --- a parser reads what we write -------------------------------------------------------------


def test_the_corpora_have_their_size_and_are_dangerous_by_themselves() -> None:
    assert len(set(ACTIVE)) >= 200
    assert len(set(SENDING)) >= 150
    assert sum(bool(dangers(f"<p>{each}</p>")) for each in ACTIVE) >= 190
    assert sum(bool(dangers(as_page(each))) or bool(LIVE.search(each)) for each in SENDING) >= 135


@pytest.mark.parametrize("form", ["html", "md"])
def test_what_is_exported_is_text(form: Any) -> None:
    for text, record in marked([*ACTIVE, *SENDING]):
        made = exported(record, form)
        assert dangers(made if form == "html" else as_page(made)) == [], text
        if form == "md":
            assert not LIVE.search(made.replace(OURS, "")), text


def test_what_clients_of_openai_are_sent_is_text() -> None:
    for text, record in marked([*ACTIVE, *SENDING]):
        whole = _linked(record)
        assert dangers(as_page(whole)) == [], text
        assert not LIVE.search(whole.replace(OURS, "")), text


def _linked(record: Record) -> str:
    shown = replace(record.answer, model=None)
    return "".join(markdown_sentences(shown, address=lambda link, _id: link))


@pytest.mark.parametrize("size", [1, 1000])
def test_no_address_of_a_model_flashes_up_while_it_writes(size: int) -> None:
    for text in SENDING:
        reader, shown = AnswerReader((1,)), ""
        said = f"The hive is full {text} [Source 1]"
        for start in range(0, len(said), size):
            for part in reader.feed(said[start : start + size]):
                shown += part.lead + part.text
                assert _plain(shown), (text, shown)
        shown += "".join(part.lead + part.text for part in reader.close())
        assert _plain(shown), (text, shown)


def _plain(shown: str) -> bool:
    return not LIVE.search(shown) and not dangers(as_page(shown))


def test_no_source_is_cited_that_a_payload_names() -> None:
    for text in SENDING:
        reader = AnswerReader((2,))
        parts = [*reader.feed(f"The hive is full {text}"), *reader.close()]
        assert not [
            n for each in parts if isinstance(each, ParsedSentence) for n in each.numbers
        ], text


# --- the whole way, from the file to the page -------------------------------------------------


async def asked(engine: Engine, question: str) -> tuple[Record, str]:
    record = stored(await record_of_asking(engine, question))
    found = explain(record, engine.parts.catalogue)
    nearest = await why_not(question, record, parts=engine.parts)
    return record, explanation_page(found, asked=nearest)


def lay_out(folder: Path, texts: Sequence[str]) -> Path:
    """Files that hold the texts wherever a format lets them: name, title, heading, cue, speaker."""
    folder.mkdir()
    for number, text in enumerate(texts):
        line = " ".join(text.split())
        kept = re.sub(r"[/\x00]", "_", line)[:60]
        made = {
            f"{kept} {number}.txt": f"Hive {number} is full of honey. {text}\n",
            f"m{number}.md": f"# Hive {number} {line}\n\n## {line}\n\nHoney {number} {text}\n",
            f"c{number}.vtt": "WEBVTT\n\n00:01.000 --> 00:09.000\n"
            f"<v {line}>Hive {number} {line}\n",
            f"h{number}.html": f"<title>Hive {number} {line}</title><h1 id='{line}'>Hive</h1>"
            f"<p>Honey {number} fills the hive. {text}</p>",
        }
        for name, content in made.items():
            (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.soak) for part in (1, 2))]
)
async def test_hostile_documents_are_shown_as_texts(tmp_path: Path, part: int) -> None:
    some = [*ACTIVE[part::60], *SENDING[part::50]]
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, lay_out(tmp_path / "files", some))
        for text in some[::3]:
            record, page = await asked(engine, f"What fills the hive? {text}"[:900])
            assert record.answer.citations
            for made in (exported(record, "html"), as_page(exported(record, "md")), page):
                outside = [each for each in dangers(made) if not _leads_to_file(each, tmp_path)]
                assert outside == [], text


def _leads_to_file(danger: str, folder: Path) -> bool:
    """Whether it is only a link to one of the files that were added, as a citation has it."""
    tag, _, address = danger.partition(" ")
    return tag == "a" and address.startswith(folder.as_uri())


async def test_what_an_obedient_model_writes_is_shown_as_text(tmp_path: Path) -> None:
    for text in [*SENDING[::10], *ACTIVE[::20]]:
        model = ScriptedGenerator(f"Honey is made from nectar {text} [Source 1]")
        async with open_tour(tmp_path / "home", generator=model, stored=True) as engine:
            if not engine.parts.catalogue.collections():
                (tmp_path / "a.md").write_text("# Honey\n\nHoney is made from nectar by bees.\n")
                await add(engine, tmp_path / "a.md")
            record = await record_of_asking(engine, "What is honey made from?")
        whole = "".join(markdown_sentences(record.answer, address=lambda _link, _id: OURS))
        assert dangers(as_page(whole)) == [], text
        assert not LIVE.search(whole.replace(OURS, "")), text
        assert dangers(as_page(exported(record, "md")).replace(_file_link(record), OURS)) == []


def _file_link(record: Record) -> str:
    links = [each.link for each in record.answer.citations if each.link]
    return links[0] if links else "nowhere"


# --- a browser opens it -----------------------------------------------------------------------


@pytest.fixture
def canary() -> Iterator[tuple[str, list[str]]]:
    """A listener to which every request would go, with the paths that were asked for."""
    asked_for: list[str] = []

    class Answer(Handler):
        def do_GET(self) -> None:
            asked_for.append(self.path)
            self.send_error(404)

    with serving(Answer) as url:
        yield url, asked_for


@NEEDS_CHROMIUM
def test_a_browser_runs_nothing_and_asks_for_nothing(
    canary: tuple[str, list[str]], tmp_path: Path
) -> None:
    """With our policy taken out, so that the writing alone has to hold; a bare page does not."""
    address, asked_for = canary
    texts = [*at(address, ACTIVE), *at(address, SENDING)]
    record = record_of(*texts)
    pages = {
        "export.html": exported(record, "html"),
        "export.md": as_page(exported(record, "md")),
        "linked.md": as_page(_linked(record)),
        "bare.html": "<p>" + "</p>\n<p>".join(at(address, ACTIVE[4:28])),
    }
    for name, text in pages.items():
        open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        (tmp_path / name).write_text(open_page, encoding="utf-8")
    (tmp_path / "export.md").rename(tmp_path / "exported.html")
    (tmp_path / "linked.md").rename(tmp_path / "linked.html")
    names = ("export.html", "exported.html", "linked.html", "bare.html")
    with opening() as opened:
        for name in names[:-1]:
            assert opened(tmp_path / name) == (False, []), name
            assert asked_for == [], name
        ran, requests = opened(tmp_path / names[-1])
    assert ran
    assert requests
    assert asked_for


@contextmanager
def opening() -> Iterator[Callable[[Path], tuple[bool, list[str]]]]:
    """Open files in Chromium; tells whether a script ran, and what was asked for beside a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )

        def opened(file: Path) -> tuple[bool, list[str]]:
            requests: list[str] = []
            page = browser.new_page()
            page.on("request", lambda each: requests.append(each.url))
            page.on("dialog", lambda each: each.dismiss())
            page.goto(file.as_uri(), wait_until="load")
            page.wait_for_timeout(150)
            ran = bool(page.evaluate("window.ran === 1"))
            page.close()
            return ran, [each for each in requests if each != file.as_uri()]

        yield opened
        browser.close()


def test_the_canary_has_a_name_of_its_own() -> None:
    assert CANARY in "".join(at(CANARY, SENDING))
