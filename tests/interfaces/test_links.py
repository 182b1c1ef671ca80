"""Links into the web app: marks open their sentence, sources the cited words."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.settings import Settings
from quoth.core.types import Answer, Sentence
from quoth.interfaces.cli.render import with_links
from quoth.interfaces.links import answer_page, mark_links
from quoth.interfaces.mcp.results import ask_result
from tests.support.cli import quoth
from tests.support.small_library import add, open_tour, write_sources

PUBLIC = "https://quoth.test/library"
QUESTION = "What is honey made from?"


def test_a_mark_opens_the_sentence_before_it() -> None:
    text = "Intro [9]. Wax. [1] Honey [7] is sweet. [2][1] Loose [3]"
    sentences = (
        Sentence(0, 10, (), "unsupported"),
        Sentence(11, 15, (1,), "supported"),
        Sentence(20, 39, (2, 1), "supported"),
    )
    links = [*mark_links(text, sentences, page="p")]
    assert [(text[start:end], to) for start, end, to in links] == [
        ("[1]", "p#s2"),
        ("[2]", "p#s3"),
        ("[1]", "p#s3"),
    ]
    spans = with_links(text, sentences, page="p").spans
    assert [span.style.link for span in spans if not isinstance(span.style, str)] == [
        to for _start, _end, to in links
    ]
    assert not with_links(text, sentences, page=None).spans
    best = replace(sentences[1], marked=True)
    (bold,) = with_links(text, [*sentences[:1], best], page=None).spans
    assert (text[bold.start : bold.end], bold.style) == ("Wax.", "bold")


def test_only_a_stored_answer_of_a_public_service_has_a_page(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, public_url=f"{PUBLIC}/")
    assert answer_page(settings, "q_1") == f"{PUBLIC}/q/q_1"
    hashed = settings.model_copy(update={"history": "hash"})
    local = settings.model_copy(update={"public_url": None})
    assert (answer_page(hashed, "q_1"), answer_page(local, "q_1")) == (None, None)


def test_agents_and_the_command_line_link_into_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, home = write_sources(tmp_path / "sources"), tmp_path / "home"

    async def asked() -> Answer:
        async with open_tour(home, stored=True) as engine:
            await add(engine, sources / "notes.md")
            return await engine.answer(QUESTION)

    answer = asyncio.run(asked())
    plain = Settings(home=home)
    public = plain.model_copy(update={"public_url": PUBLIC})
    result = ask_result(answer, base=PUBLIC, settings=public)
    page = f"{PUBLIC}/q/{answer.query_id}"
    assert f"[1]({page}#s1)" in result.answer
    (first, *_others) = answer.citations
    assert first.marked is not None
    start, end = (first.snippet_start + at for at in first.marked)
    span = f"start={start}&end={end}"
    assert result.citations[0].link == f"{PUBLIC}/d/{first.document_id}?{span}"
    doubted = replace(answer.sentences[0], citations=(), support="unsupported")
    marked = replace(answer, sentences=(doubted, *answer.sentences[1:]))
    shown = ask_result(marked, base=None, settings=plain).answer
    assert shown == f"{answer.text[: doubted.end]} [unsupported]{answer.text[doubted.end :]}"
    bare = ask_result(answer, base=None, settings=plain)
    assert (bare.answer, bare.citations[0].link) == (answer.text, None)
    assert PUBLIC not in quoth(home, "ask", QUESTION).out
    monkeypatch.setenv("QUOTH_PUBLIC_URL", PUBLIC)
    printed = quoth(home, "ask", QUESTION).out
    assert re.search(rf"{PUBLIC}/d/\w+\?start=\d+&end=\d+", printed)
    assert re.search(rf"{PUBLIC}/q/q_\w+\n", printed)
