"""Moderation of questions and of what a language model writes: off, rules, provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import pytest_asyncio

from quoth.backends.moderation.registry import open_moderator
from quoth.backends.states import check_parts
from quoth.core.errors import ConfigError, Moderated
from quoth.core.events import AnswerCompleted, TextAdded
from quoth.core.lecture import TranscriptSegment
from quoth.core.protocols import EncodedQuery
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.live.windows import LectureWindow, SpokenPiece
from quoth.pipeline.egress import apply_privacy_settings
from quoth.pipeline.live_language_model import TranslatedCaptions
from quoth.pipeline.retrieve import Request
from quoth.store.privacy_settings import PrivacyStore
from quoth.testing import HashEmbedder, ScriptedGenerator
from tests.support.http_double import Handler, serving
from tests.support.small_library import open_tour, write_sources

QUESTION = "What is honey made from?"
WRITTEN = "Honey is made from nectar, which the workers carry home in their stomachs. [1]"
QUOTED = "A beehive has one queen"
"""Only the answer in the sources' own words says this, too."""


@pytest.fixture
def words(tmp_path: Path) -> Path:
    file = tmp_path / "words.txt"
    file.write_text("# what is not said here\nmustard gas\ngaz moutarde\nmade from NECTAR\n")
    return file


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home", generator=ScriptedGenerator(WRITTEN)) as opened:
        assert [each async for each in opened.add([sources / "hive.srt"])]
        yield opened


def moderate(engine: Engine, **settings: Any) -> None:
    engine.parts = replace(engine.parts, moderator=open_moderator(Settings(**settings)))


async def shown(engine: Engine, question: str = QUESTION) -> tuple[str, tuple[str, ...]]:
    """The text that was streamed, and what was done without."""
    request = Request(question, choices={"cache": "none"})
    events = [event async for event in engine.stream(request)]
    text = "".join(event.text for event in events if isinstance(event, TextAdded))
    (done,) = (event for event in events if isinstance(event, AnswerCompleted))
    return text, done.answer.degraded


async def test_a_flagged_question_is_refused_before_any_model_is_asked(
    engine: Engine, words: Path
) -> None:
    moderate(engine, moderation="rules", moderation_words=words)
    for question in ("How is MUSTARD  gas made?", "Tell me of mustard, gas and bees"):
        with pytest.raises(Moderated, match=r"flagged \(mustard gas\)"):
            await shown(engine, question)
    generator = engine.parts.generator
    assert isinstance(generator, ScriptedGenerator)
    assert generator.told == []
    await shown(engine, "What is mustard made of, and is there a gas?")


async def test_a_flagged_question_reaches_no_model_by_a_search_either(
    engine: Engine, words: Path
) -> None:
    class Listening(HashEmbedder):
        """Keeps what it is asked."""

        asked: ClassVar[list[str]] = []

        async def encode(self, query: str) -> EncodedQuery:
            self.asked.append(query)
            return await super().encode(query)

    moderate(engine, moderation="rules", moderation_words=words)
    engine.parts = replace(engine.parts, embedder=Listening())
    flagged = Request("How is mustard gas made?", choices={"expansion": "generated"})
    with pytest.raises(Moderated):
        await engine.retrieve(flagged)
    generator = engine.parts.generator
    assert isinstance(generator, ScriptedGenerator)
    assert (generator.told, Listening.asked) == ([], [])
    await engine.retrieve(replace(flagged, question=QUESTION))
    assert generator.told
    assert Listening.asked


@pytest.mark.parametrize(
    ("said", "translated", "told"),
    [("Of mustard gas we say nothing.", "Rien.", 0), ("Bees.", "Fait de gaz moutarde.", 1)],
)
async def test_flagged_words_of_a_lecture_are_not_translated(
    engine: Engine, words: Path, said: str, translated: str, told: int
) -> None:
    moderate(engine, moderation="rules", moderation_words=words)
    model = ScriptedGenerator(translated)
    engine.parts = replace(engine.parts, generator=model)
    segment = TranscriptSegment("s0", said, 0.0, 20.0)
    window = LectureWindow(0, (SpokenPiece(said, 0.0, 20.0, segment, 0, True),), 0, segment.place)
    with pytest.raises(Moderated, match="flagged"):
        await TranslatedCaptions().caption(engine.parts, window, language="fr", opens=True)
    assert len(model.told) == told


async def test_a_flagged_answer_is_never_shown(engine: Engine, words: Path) -> None:
    assert QUOTED not in (await shown(engine))[0]
    moderate(engine, moderation="rules", moderation_words=words)
    text, degraded = await shown(engine)
    assert QUOTED in text
    assert "generate:moderated:extractive" in degraded


class Moderations(Handler):
    """The moderation endpoint of OpenAI: flags what names a weapon."""

    status = 200
    asked: list[Any]

    def do_POST(self) -> None:
        body = self.json_body()
        self.asked.append((self.path, body, self.headers["Authorization"]))
        rows = [
            {"flagged": held, "categories": {"violence": held, "hate": False}}
            for held in ("weapon" in text for text in body["input"])
        ]
        self.answer_json(self.status, {"id": "m", "model": body["model"], "results": rows})


@pytest.fixture
def provider() -> Iterator[tuple[type[Moderations], str]]:
    handler = type("Moderations", (Moderations,), {"asked": []})
    with serving(handler) as url:
        yield handler, f"openai@{url}/v1"


async def test_a_provider_checks_question_and_answer(
    engine: Engine, provider: tuple[type[Moderations], str]
) -> None:
    handler, name = provider
    moderate(engine, moderation=name, openai_api_key="sk-secret")
    assert QUOTED not in (await shown(engine))[0]
    path, body, key = handler.asked[0]
    assert (path, body["input"], key) == ("/v1/moderations", [QUESTION], "Bearer sk-secret")
    assert len(handler.asked) == 2
    with pytest.raises(Moderated, match="violence"):
        await shown(engine, "How is a weapon made?")


async def test_without_a_verdict_no_model_takes_part(
    engine: Engine, provider: tuple[type[Moderations], str]
) -> None:
    handler, name = provider
    handler.status = 403
    moderate(engine, moderation=name)
    text, degraded = await shown(engine)
    assert QUOTED in text
    assert any(each.startswith("moderate:moderation_failed") for each in degraded)
    generator = engine.parts.generator
    assert isinstance(generator, ScriptedGenerator)
    assert generator.told == []


def test_a_provider_of_another_machine_receives_nothing_that_may_not_leave(
    engine: Engine,
) -> None:
    settings = Settings(embedder="fake", moderation="openai", openai_api_key="sk-secret")
    remote = check_parts(settings)
    assert [(part.part, part.endpoint, part.local) for part in remote] == [
        ("moderator", "api.openai.com", False)
    ]
    PrivacyStore.of(engine.parts.catalogue).decide(
        history="full", retention_days=90, may_leave=False
    )
    parts = replace(engine.parts, remote=remote, moderator=open_moderator(settings))
    allowed = apply_privacy_settings(parts)
    assert (allowed.moderator, allowed.generator) == (None, None)
    assert allowed.generation_disabled_reason == "unmoderated"


@pytest.mark.parametrize("name", ["off", "none", " off "])
def test_it_can_be_off(name: str) -> None:
    settings = Settings(embedder="fake", moderation=name)
    assert open_moderator(settings) is None
    assert check_parts(settings) == ()


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"moderation": "rules"}, "QUOTH_MODERATION_WORDS"),
        ({"moderation": "rules", "moderation_words": Path("/nowhere")}, "cannot be read"),
        ({"moderation": "openai"}, "OPENAI_API_KEY"),
        ({"moderation": "magic"}, "no moderator 'magic'"),
    ],
)
def test_what_is_missing_is_named(chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_parts(Settings(embedder="fake", **chosen))
