"""A separate small model reads and rewords; what every stage cost is told; privacy binds all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from quoth.backends.embedders.cached import CachedEmbedder
from quoth.backends.states import part_states
from quoth.core.errors import ConfigError
from quoth.core.protocols import EncodedQuery, Matrix, Role
from quoth.core.remote_parts import RemotePart
from quoth.core.settings import Settings
from quoth.core.types import Usage
from quoth.engine import Engine
from quoth.pipeline.egress import apply_privacy_settings, list_egress
from quoth.pipeline.retrieve import Request
from quoth.store.privacy_settings import PrivacyStore
from quoth.testing import HashEmbedder, ScriptedGenerator
from tests.support.small_library import open_tour, write_sources

QUESTION = "How does a colony stay warm in winter?"
CHOICES = {"cache": "none", "expansion": "generated", "classify": True}


class Small(ScriptedGenerator):
    """A small model."""

    provider, model = "small", "tiny"


class Charged(HashEmbedder):
    """An embedder of a provider, at a dollar a text."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_counted(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        self.asked += texts
        return await super().embed(texts, role=role), Usage(10 * len(texts), usd=len(texts))

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        return (await self.embed_counted(texts, role=role))[0]

    async def encode(self, query: str) -> EncodedQuery:
        rows, usage = await self.embed_counted([query], role="query")
        return EncodedQuery(rows[0], usage=usage)


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(
        tmp_path / "home",
        embedder=CachedEmbedder(Charged()),
        generator=ScriptedGenerator("Bees keep warm by shivering. [1]"),
    ) as opened:
        assert [each async for each in opened.add([sources / "hive.srt"])]
        yield opened


async def test_the_small_model_reads_and_the_large_one_writes(engine: Engine) -> None:
    small, large = Small("a warm hive"), engine.parts.generator
    assert isinstance(large, ScriptedGenerator)
    engine.parts = replace(engine.parts, small=small)
    answer = await engine.answer(Request(QUESTION, choices=CHOICES))
    assert len(small.told) == 2
    assert len(large.told) == 1
    assert {"classify", "expand", "generate", "embed"} <= answer.usage.stages.keys()
    spent = sum(stage.usd for stage in answer.usage.stages.values())
    assert answer.usage.usd == spent > 0
    written = [each for name, each in answer.usage.stages.items() if name != "embed"]
    assert answer.usage.input_tokens == sum(stage.input_tokens for stage in written)


async def test_without_a_small_model_the_generator_does_both(engine: Engine) -> None:
    large = engine.parts.generator
    assert isinstance(large, ScriptedGenerator)
    await engine.answer(Request(QUESTION, choices=CHOICES))
    assert len(large.told) == 3


async def test_a_known_question_is_not_charged_again(engine: Engine) -> None:
    request = Request(QUESTION, choices={"cache": "none", "generate": False})
    first, second = await engine.answer(request), await engine.answer(request)
    assert second.usage.stages.get("embed", Usage()).usd < first.usage.stages["embed"].usd


async def test_what_may_not_leave_is_not_sent_to_an_embedder_or_a_small_model(
    engine: Engine,
) -> None:
    cached = engine.parts.embedder
    assert isinstance(cached, CachedEmbedder)
    assert isinstance(cached.inner, Charged)
    small = Small("a warm hive")
    small.local, small.endpoint = False, "models.example.com"
    away = RemotePart("embedder", "charged", "embed.example.com", False, ("the question",))
    engine.parts = replace(engine.parts, small=small, remote=(away,), generator=None)
    assert {entry.to for entry in list_egress(engine.parts)} == {
        "models.example.com",
        "embed.example.com",
    }
    PrivacyStore.of(engine.parts.catalogue).decide(
        history="full", retention_days=90, may_leave=False
    )
    cached.inner.asked.clear()
    answer = await engine.answer(Request(QUESTION, choices=CHOICES))
    assert any(each.startswith("embed:") for each in answer.degraded)
    assert cached.inner.asked == []
    assert small.told == []
    assert apply_privacy_settings(engine.parts).models == ()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"small_llm": "nonsense"}, "no generator 'nonsense'"),
        ({"generator": "ollama", "small_llm": "openai"}, "OPENAI_API_KEY"),
    ],
)
def test_a_small_model_that_is_missing_is_named(chosen: dict[str, str], words: str) -> None:
    error = part_states(Settings(**chosen))[-1].error
    assert isinstance(error, ConfigError)
    assert words in str(error)
