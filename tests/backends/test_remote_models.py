"""Embedders and rerankers of providers, over real HTTP, by servers that speak their protocols."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quoth
from quoth.backends.embedders.registry import open_embedder
from quoth.backends.rerankers.access import PROVIDERS as RERANKING
from quoth.backends.rerankers.registry import Rerankers
from quoth.backends.states import check_parts, part_states
from quoth.bootstrap import close_embedder
from quoth.core.errors import ConfigError, EmbeddingError, RerankError
from quoth.core.protocols import CountsUsage, Embedder, FallsBack, Reranker
from quoth.core.settings import Settings
from quoth.core.types import Chars, Chunk, Usage
from quoth.pipeline.budget import MeteredReranker, UsageMeter
from tests.support.brought_package import install
from tests.support.embedding_server import Script, embedding_server

KEY = "key-of-the-tests"
KEYS: dict[str, Any] = {
    f"{name}_api_key": KEY for name in ("openai", "openrouter", "voyage", "cohere", "gemini")
}
PROVIDERS = ("openai", "openrouter", "voyage", "cohere", "gemini", "ollama", "openai-compatible")
TEXTS = [f"text number {at} about topic{at}" for at in range(40)]
PASSAGES = [
    Chunk(f"c{at}", "d", at, 0, 9, text, Chars(0, 9), "text")
    for at, text in enumerate(["whales swim", "a fox runs", "a fox is a fox in the snow"])
]


@pytest.fixture
def script() -> Iterator[Script]:
    with embedding_server() as served:
        yield served


def settings(script: Script, provider: str, **more: Any) -> Settings:
    named = {"embedder": f"{provider}:tiny@{script.url}", "embedder_dimensions": 64}
    return Settings(**{**KEYS, "llm_api_key": KEY, **named, **more})


@asynccontextmanager
async def embedder_of(chosen: Settings) -> AsyncIterator[Embedder]:
    opened = open_embedder(chosen)
    try:
        yield opened
    finally:
        await close_embedder(opened)


@asynccontextmanager
async def reranker_of(names: str, **more: Any) -> AsyncIterator[Reranker]:
    rerankers = Rerankers(names, Settings(**{**KEYS, **more}))
    try:
        yield rerankers.over(None)
    finally:
        await rerankers.aclose()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_embeds_in_order_and_gets_key_and_role(
    script: Script, provider: str
) -> None:
    async with embedder_of(settings(script, provider)) as embedder:
        rows = await embedder.embed(TEXTS, role="document")
        backward = await embedder.embed(TEXTS[::-1], role="document")
        question = (await embedder.encode("\x00 \ud800")).vector
    assert rows.shape == (40, 64)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows, backward[::-1])
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert all(KEY in "".join(headers.values()) for _, _, headers in script.asked)
    assert len(script.asked) == 5  # two requests for forty texts
    if provider in ("voyage", "cohere", "gemini"):
        assert "query" in str(script.asked[-1][1]).casefold()
        assert "document" in str(script.asked[0][1]).casefold()


async def test_a_known_model_is_asked_for_shorter_vectors(script: Script) -> None:
    chosen = settings(script, "openai", embedder=f"openai:text-embedding-3-large@{script.url}")
    async with embedder_of(chosen) as embedder:
        assert (await embedder.embed(["one"], role="query")).shape == (1, 64)
    assert script.asked[0][1]["dimensions"] == 64
    whole = settings(script, "openai", embedder="openai", embedder_dimensions=None)
    async with embedder_of(whole) as embedder:
        assert embedder.dimension == 1536


async def test_a_model_with_a_name_of_its_own_takes_an_address(script: Script) -> None:
    chosen = settings(script, "openai", embedder=f"text-embedding-3-large@{script.url}")
    async with embedder_of(chosen) as embedder:
        assert (await embedder.embed(["one"], role="query")).shape == (1, 64)
    assert script.asked[0][1]["model"] == "text-embedding-3-large"


async def test_a_provider_tells_what_it_charges(script: Script) -> None:
    named = f"openai:text-embedding-3-small@{script.url.replace('127.0.0.1', 'localhost')}"
    async with embedder_of(settings(script, "openai", embedder=named)) as embedder:
        assert isinstance(embedder, CountsUsage)
        _, usage = await embedder.embed_counted(TEXTS, role="document")
        assert (usage.input_tokens, usage.usd) == (2, 0.0)  # two requests, to this machine
    async with embedder_of(settings(script, "cohere")) as embedder:  # which does not tell here
        assert (await embedder.encode("one two three")).usage.input_tokens >= 3


async def test_a_busy_provider_is_asked_again(script: Script) -> None:
    script.statuses = [503, 429]
    async with embedder_of(settings(script, "openai")) as embedder:
        assert (await embedder.embed(["one"], role="query")).shape == (1, 64)
    assert len(script.asked) == 3


async def test_what_goes_wrong_is_a_sentence_without_the_key(script: Script) -> None:
    faults: list[tuple[list[int], Any, str, bool]] = [
        ([401], None, "refuses the key", False),
        ([404], None, "does not know", False),
        ([500] * 3, None, "HTTP 500", True),
        ([], {"data": []}, "shape", False),
        ([], {"data": [{"index": 0, "embedding": [0.0] * 64}]}, "direction", False),
        ([], {"data": [{"index": 0, "embedding": [1.0] * 3}]}, "QUOTH_EMBEDDER_DIMENSIONS", False),
        ([], {"text": "hello"}, "no vectors", False),
        ([], "hello", "cannot be read", True),
    ]
    for statuses, reply, words, retryable in faults:
        script.statuses, script.reply = list(statuses), reply
        async with embedder_of(settings(script, "openai")) as embedder:
            with pytest.raises(EmbeddingError, match=words) as caught:
                await embedder.embed(["one"], role="query")
        assert caught.value.retryable == retryable
        assert KEY not in str(caught.value)


async def test_nobody_there_is_an_error_in_time() -> None:
    nowhere = "openai:tiny@http://127.0.0.1:9"
    chosen = Settings(**KEYS, embedder=nowhere, embedder_dimensions=64, llm_retries=0)
    async with embedder_of(chosen) as embedder:
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            await embedder.embed(["one"], role="query")


@pytest.mark.parametrize("provider", ["cohere", "voyage"])
async def test_a_provider_reranks(script: Script, provider: str) -> None:
    async with reranker_of(f"{provider}@{script.url}") as reranker:
        scores = await reranker.score("a fox in the snow", PASSAGES)
        assert await reranker.score("a fox", []) == []
    assert scores == pytest.approx([0, 0.4, 1.0])
    path, body, headers = script.asked[0]
    assert (path, body["documents"][0]) == ("/rerank", "whales swim")
    assert headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("provider", "model", "tokens", "usd"),
    [
        ("cohere", "rerank-v3.5", 0, 0.002),
        ("voyage", "rerank-2.5", 7, 7 * 0.05e-6),
        ("voyage", "another", 7, 0),
    ],
)
async def test_what_a_reranker_charges_is_counted(
    script: Script, provider: str, model: str, tokens: int, usd: float
) -> None:
    async with reranker_of(f"{provider}:{model}@{script.url}, fake") as reranker:
        assert isinstance(reranker, FallsBack)
        _scores, here, _fell_back = await reranker.score_told("a fox", PASSAGES)
        assert here == Usage(tokens)  # a server of this machine costs nothing
        meter = UsageMeter()
        await MeteredReranker(reranker, meter).score("a fox", PASSAGES)
        assert set(meter.total.stages) == ({"rerank"} if tokens else set())
    reply = {"meta": {"billed_units": {"search_units": 1}}, "usage": {"total_tokens": 7}}
    assert RERANKING[provider].usage(reply, model=model) == Usage(tokens, usd=pytest.approx(usd))
    assert RERANKING[provider].usage({}, model=model) == Usage()


async def test_a_chain_goes_on_with_the_next_reranker(script: Script) -> None:
    async with reranker_of(f"cohere@{script.url}, fake") as reranker:
        script.statuses = [401]
        assert await reranker.score("fox", PASSAGES) == [0, 1, 1]
        script.reply = {"results": [{"index": 0, "relevance_score": 1}]}
        assert await reranker.score("fox", PASSAGES) == [0, 1, 1]
    async with reranker_of(f"cohere@{script.url}") as alone:
        with pytest.raises(RerankError, match="did not score"):
            await alone.score("fox", PASSAGES)


@pytest.mark.parametrize(
    ("chosen", "part"),
    [
        ({"embedder": "openai"}, "embedder"),
        ({"reranker": "cohere"}, "reranker"),
        ({"store": "pinecone", "pinecone_api_key": KEY}, "store"),
        ({"store": "chroma@https://chroma.example.org"}, "store"),
    ],
)
def test_nothing_leaves_before_it_is_allowed(chosen: dict[str, Any], part: str) -> None:
    base = {**KEYS, "embedder": "fake", **chosen}
    with pytest.raises(ConfigError, match=f"The {part} .* would send .*QUOTH_DOCUMENTS_MAY_LEAVE"):
        check_parts(Settings(**base))
    (sent,) = check_parts(Settings(**base, documents_may_leave=True))
    assert (sent.part, sent.local) == (part, False)


def test_a_server_of_this_machine_needs_no_leave(script: Script) -> None:
    (sent,) = check_parts(settings(script, "openai-compatible"))
    assert sent.local


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"embedder": "voyage"}, "VOYAGE_API_KEY"),
        ({"embedder": "openai-compatible:x"}, "needs an address"),
        ({"embedder": "bge-m3"}, "is not installed"),
        ({"reranker": "late, cohere"}, "COHERE_API_KEY"),
        ({"store": "pinecone"}, "PINECONE_API_KEY"),
        ({"store": "pgvector"}, "QUOTH_DATABASE"),
        ({"store": "lancedb@http://127.0.0.1"}, "is no bucket"),
        ({"store": "chroma@http://me:secret@127.0.0.1"}, "contains a password"),
        ({"store": "chroma@localhost:8000"}, "store 'chroma@' is no address"),
        ({"store": "chroma@http://127.0.0.1:x"}, "store 'chroma@' is no address"),
        ({"store": "chroma@http://[::1"}, "store 'chroma@' is no address"),
        ({"store": "pgvector@http://127.0.0.1/x"}, "pgvector@postgresql://HOST:PORT"),
        ({"store": "lancedb@/tmp/secret@x/y"}, "'x/y' is no bucket"),
        ({"embedder": "voyage@http://[::1", "voyage_api_key": KEY}, "embedder 'voyage@' is no"),
        ({"reranker": "cohere@http://", "cohere_api_key": KEY}, "reranker 'cohere@' is no"),
        ({"moderation": "openai@http://127.0.0.1:x"}, "moderator 'openai@' is no"),
        ({"embedder": "onnx"}, "onnx is not installed. Put its model.onnx"),
        ({"generator": "gemini"}, "GEMINI_API_KEY"),
    ],
)
def test_what_is_missing_is_named_in_one_sentence(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        check_parts(Settings(**{"embedder": "fake", **chosen}))
    assert "secret" not in str(caught.value)


BROUGHT = """
import sys
import quoth

parts = {"embedder": "mine", "store": "shelf", "reranker": "mine", "generator": "mine:large",
         "query_transformer": "mine"}
with quoth.open(sys.argv[1], **parts) as library:
    library.add(sys.argv[2])
    answer = library.ask("How does the colony stay toasty?")
    print(answer.provider, answer.model, len(answer.citations) > 0)
    print(answer.query.standalone)
    print(sorted(library._engine.parts.reranker.name.split()), library._engine.parts.embedder.name)
"""


def test_an_installed_package_brings_its_components(tmp_path: Path) -> None:
    source = tmp_path / "bees.md"
    source.write_text("# Bees\n\nThe colony stays warm by shivering in winter.\n")
    path = os.pathsep.join([str(install(tmp_path / "packages")), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", BROUGHT, str(tmp_path / "home"), str(source)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    said = [
        "brought large True",
        "How does the colony stay warm?",
        "['brought-reranker'] brought-embedder",
    ]
    assert done.stdout.splitlines() == said


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("embedder", "is None, which lacks: close, count_tokens, .*docs/own-parts.md"),
        ("reranker", "is an object of str, which lacks: close, name, score"),
        ("generator", "cannot be opened: KeyError: 'key'"),
        ("store", "is None, which lacks: build"),
        ("query_transformer", "is an object of str, which lacks: close, local, name, transform"),
    ],
)
def test_a_component_that_does_not_fit_stops_the_start(
    part: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path / "packages"))
    source = tmp_path / "bees.md"
    source.write_text("The colony stays warm by shivering in winter.\n")
    with (
        pytest.raises(ConfigError, match=f"^The {part} 'unfit' of another package .*{words}"),
        quoth.open(str(tmp_path / "home"), **{"embedder": "fake", part: "unfit"}) as library,
    ):
        library.add(source)


def test_what_no_package_brings_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no store 'table'"):
        check_parts(Settings(embedder="fake", store="table", home=tmp_path))
    with pytest.raises(ConfigError, match="There is no query_transformer 'x'"):
        check_parts(Settings(embedder="fake", query_transformer="x", home=tmp_path))
    named = [each.part for each in part_states(Settings(embedder="fake", query_transformer="x"))]
    assert "query_transformer" in named
