"""Suggestions ask something new that the library holds, in the asker's language."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.query.suggest_rank import (
    completions,
    restore_case,
    sort_by_similarity,
    suggest,
)
from tests.support.small_library import add, open_tour, write_sources

HEADINGS = ["2.4 Tokenizers", "Introduction", "2.5 Decoding text", "3"]


def ask(question: str, *, language: str = "en", **given: list[str]) -> tuple[str, ...]:
    kinds = {"headings": [], "names": [], "asked": [], **given}
    return suggest(question, language=language, limit=3, **kinds)


def test_a_heading_becomes_a_question_without_its_number() -> None:
    assert ask("What is a model?", headings=HEADINGS) == (
        "What is said about “Tokenizers”?",
        "What is said about “Decoding text”?",
    )


def test_what_was_just_asked_is_not_suggested() -> None:
    assert ask("What is said about tokenizers?", headings=["Tokenizers"]) == ()


def test_a_question_in_french_is_followed_in_french() -> None:
    said = ask("Que fait un modèle ?", language="fr", headings=["Les essaims"])
    assert said == ("Que dit-on de «\u202fLes essaims\u202f»\u202f?",)


def test_a_heading_that_is_a_question_stays() -> None:
    assert ask("What is a hive?", headings=["Why do bees swarm?"]) == ("Why do bees swarm?",)


def test_past_questions_count_where_they_share_a_word() -> None:
    past = ["When does a colony swarm?", "Who made the clock?"]
    assert ask("How large is a colony?", asked=past) == ("When does a colony swarm?",)


def test_all_kinds_have_their_turn() -> None:
    said = ask(
        "How large is a colony?",
        headings=["Queens", "Drones"],
        names=["royal jelly"],
        asked=["When does a colony swarm?"],
    )
    assert [each[:20] for each in said] == [
        "When does a colony s",
        "What is said about “",
        "What is said about “",
    ]
    assert "royal jelly" in said[2]


def test_the_nearest_titles_come_first() -> None:
    paths = [("a",), ("b",), ("c",), ("d",), ()]
    assert list(sort_by_similarity(paths, at=1)) == ["c", "a", "d"]


@pytest.mark.parametrize("typed", ["When does a c", "when does a c"])
def test_what_was_typed_is_ended_as_it_was_ended_before(typed: str) -> None:
    asked = ["When does a colony swarm?", "Who?"]
    assert completions(typed, language="en", headings=[], asked=asked, limit=3) == (asked[0],)


def test_what_was_typed_finds_headings_by_their_words() -> None:
    found = completions("decod", language="en", headings=HEADINGS, asked=[], limit=3)
    assert found == ("What is said about “Decoding text”?",)


async def test_an_answer_is_followed_by_what_stands_beside_it(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("When does a colony swarm?")
        suggestions = await engine.suggest(answer)
        assert suggestions
        answers = await engine.answer_all(suggestions)
        assert all(each.citations for each in answers)


async def test_nothing_follows_an_answer_without_citations(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("How do I repair a bicycle chain in Lisbon?")
        assert await engine.suggest(answer) == ()


async def test_titles_and_headings_end_what_is_typed(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        assert await engine.suggest("swarm")


@pytest.mark.parametrize(
    ("name", "written"),
    [("bert", "BERT"), ("hugging face", "Hugging Face"), ("final hidden", None), ("t5", None)],
)
def test_a_name_is_written_as_the_sources_write_it(name: str, written: str | None) -> None:
    texts = ["The Final hidden state.", "Of Hugging Face comes BERT, not bert."]
    assert restore_case(name, texts) == written
