"""Options that a model lacks are left out: those it is known for, and those it refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quoth.backends.generators.access import Access
from quoth.backends.generators.pydantic_ai import ModelGenerator
from quoth.backends.registry import backend
from quoth.core.errors import GenerationError
from quoth.core.protocols import GenerationParams, Message
from tests.support.llm_servers import DIALECTS, OPENAI, Reply, Server

TALK = [Message("user", "What is a gradient?")]


@asynccontextmanager
async def opened(name: str, model: str, server: Server) -> AsyncIterator[ModelGenerator]:
    url = server.url + DIALECTS.get(name, OPENAI).path
    access = Access(provider=name, model=model, url=url, window=1000, key="k")
    generator: ModelGenerator = backend("generator", name)(access)
    yield generator
    await generator.close()


async def say(generator: ModelGenerator) -> str:
    written = generator.stream(TALK, writing=GenerationParams(temperature=0.3, max_tokens=50))
    return "".join([each async for each in written if isinstance(each, str)])


def refusing(message: str, status: int = 400) -> Reply:
    return Reply([json.dumps({"error": {"message": message}}).encode()], status)


@pytest.mark.parametrize(
    ("name", "model"),
    [("openai", "o3"), ("anthropic", "claude-opus-4-8"), ("anthropic", "claude-haiku-5-5")],
)
async def test_a_model_that_sets_its_own_temperature_is_told_none(name: str, model: str) -> None:
    dialect = DIALECTS[name]
    async with Server(dialect.stream("Yes.")) as server, opened(name, model, server) as generator:
        assert await say(generator) == "Yes."
    assert dialect.options(server.asked[0].body) == (None, 50)


@pytest.mark.parametrize(
    ("name", "model", "says"),
    [
        ("openai", "gpt-5.6-luna", ("reasoning_effort", "none")),
        ("openrouter", "google/gemini-3.5-flash-lite", ("reasoning", {"effort": "minimal"})),
        ("anthropic", "claude-haiku-5-5", ("thinking", {"type": "disabled"})),
        ("ollama", "qwen3:8b", ("reasoning_effort", "none")),
    ],
)
async def test_a_model_that_thinks_is_asked_not_to(
    name: str, model: str, says: tuple[str, object]
) -> None:
    reply = DIALECTS[name].stream("Yes.")
    async with Server(reply) as server, opened(name, model, server) as generator:
        await say(generator)
    assert server.asked[0].body.get(says[0]) == says[1]


@pytest.mark.parametrize("name", ["openai", "openai-compatible", "openrouter", "ollama"])
@pytest.mark.parametrize(
    "pieces",
    [
        ("<think>", "Hm.", "</think>", "Yes."),
        ("<think>", "\nHm.\n", "</think>\n\n", "Yes."),
        ("<think>", "Hm.", "</", "think", ">", "Yes."),
    ],
)
async def test_reasoning_in_tags_is_left_out_however_it_is_sent(
    name: str, pieces: tuple[str, ...]
) -> None:
    reply = DIALECTS.get(name, OPENAI).stream(*pieces)
    async with Server(reply) as server, opened(name, "m/m", server) as generator:
        assert await say(generator) == "Yes."


REFUSED = {
    "temperature": "Unsupported value: 'temperature' does not support 0.3 with this model.",
    "reasoning_effort": "Reasoning is mandatory here; this value is not supported.",
    "stream": "Your organization must be verified: streaming is not available.",
}


@pytest.mark.parametrize("option", REFUSED)
async def test_an_option_that_is_refused_is_left_out_and_never_asked_for_again(
    option: str,
) -> None:
    whole = option == "stream"
    answer = OPENAI.whole("Yes.") if whole else OPENAI.stream("Yes.")
    replies = refusing(REFUSED[option]), answer
    async with Server(*replies) as server, opened("openai", "gpt-5.6-luna", server) as generator:
        assert [await say(generator), await say(generator)] == ["Yes.", "Yes."]
    assert [bool(each.body.get(option)) for each in server.asked] == [True, False, False]


async def test_a_model_that_refuses_all_options_gives_up_in_the_end() -> None:
    refusal = refusing("temperature, stream and reasoning are not supported")
    async with Server(refusal) as server, opened("openai", "gpt-4.1", server) as generator:
        with pytest.raises(GenerationError) as caught:
            await say(generator)
    assert caught.value.code == "generation_failed"
    assert len(server.asked) <= 4
    assert not generator.dropped


async def test_a_refusal_of_an_upstream_is_none_of_an_option() -> None:
    refusal = refusing("The upstream provider does not support this model.")
    async with Server(refusal) as server, opened("openai", "gpt-4.1", server) as generator:
        with pytest.raises(GenerationError):
            await say(generator)
    assert len(server.asked) == 1
