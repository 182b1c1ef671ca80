"""Suggestions ask something new that the library holds, in the asker's language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.types import Turn
from quoth.query.suggest_rank import frequent_names, suggest
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


@pytest.mark.parametrize(
    ("language", "headings", "suggested"),
    [
        ("de", ["Einleitung", "2.4 Bienenwachs"], "Was wird über „Bienenwachs“ gesagt?"),
        ("es", ["Introducción", "2.4 Cera"], "¿Qué se dice sobre «Cera»?"),
    ],
)
def test_a_heading_is_a_question_of_its_language(
    language: str, headings: list[str], suggested: str
) -> None:
    assert ask("Was?", language=language, headings=headings) == (suggested,)


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


def test_a_past_question_is_suggested_unless_it_is_long() -> None:
    short, long = "When does a colony swarm?", "When does a colony swarm, " + "and why, " * 20
    assert ask("How large is a colony?", asked=[long, short]) == (short,)


async def test_names_come_from_the_documents_that_are_cited(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    trip = "# A trip\n\nWe stayed at the Grand Hotel. Rooms of the Grand Hotel are dear.\n"
    (sources / "trip.md").write_text(trip, encoding="utf-8")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        [other, *_rest] = await engine.search("Grand Hotel rooms")
        answer = await engine.answer("When does a colony swarm?")
        answer = replace(answer, used_chunks=(*answer.used_chunks, other.chunk_id))
        assert other.document_id not in {each.document_id for each in answer.citations}
        suggested = await engine.suggest(answer)
        assert suggested
        assert not any("Hotel" in each for each in suggested)


async def test_an_answer_is_followed_by_what_stands_beside_it(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("When does a colony swarm?")
        suggestions = await engine.suggest(answer)
        assert suggestions
        answers = await engine.answer_all(suggestions)
        assert all(each.citations for each in answers)


async def test_what_was_asked_in_the_conversation_is_not_suggested(tmp_path: Path) -> None:
    first, second = "Where does a colony live in winter?", "When does a colony swarm?"
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        await engine.answer(first)
        answer = await engine.answer(second)
        assert first in await engine.suggest(answer)
        suggested = await engine.suggest(answer, history=[Turn(first, "")])
        assert suggested
        assert first not in suggested


async def test_questions_in_another_language_are_not_suggested(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    french = "# Essaim\n\nUn essaim quitte la ruche avec la vieille reine au printemps.\n\n"
    french += "# Récolte\n\nLe miel est récolté en été quand les cadres sont pleins.\n"
    (sources / "ruche.md").write_text(french, encoding="utf-8")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        await engine.answer("Quand le miel est-il récolté dans la ruche ?")
        swarm = await engine.answer("When does a colony swarm?")
        assert not any("miel" in each for each in await engine.suggest(swarm))
        essaim = await engine.answer("Quand un essaim quitte-t-il la ruche ?")
        suggested = await engine.suggest(essaim)
        assert suggested
        assert not any("colony" in each or "What" in each for each in suggested)


async def test_questions_to_begin_with_are_about_documents(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    (sources / "ruche.md").write_text("# La ruche\n\nLa ruche a une reine.\n", encoding="utf-8")
    (sources / "why.md").write_text("# Why do bees dance?\n\nTo lead the way.\n", encoding="utf-8")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        found = await engine.suggest(language="en")
        assert found[0] == "Why do bees dance?"
        assert len(found) == 3
        assert await engine.suggest(" ", language="de") == await engine.suggest()
        french = await engine.suggest(language="fr")
        assert french
        assert all(each.startswith("Que dit-on") for each in french)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is a model?", ["Hugging Face", "BERT"]),
        ("What is BERT?", ["Hugging Face"]),
    ],
)
def test_names_that_the_passages_repeat_are_suggested(question: str, names: list[str]) -> None:
    texts = [
        "Final states are read. From Hugging Face comes BERT, and with Hugging Face, T5.",
        "Final states of BERT are kept by Hugging Face.",
        "See the Chapter 3, the Chapter 4, the States and the States; in Table 1, in Table 2.",
    ]
    assert frequent_names(texts, without=question) == names
