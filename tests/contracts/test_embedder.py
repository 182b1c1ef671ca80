"""What every embedder must do, whatever computes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from quoth.backends.embedders.onnx import OnnxEmbedder
from quoth.backends.embedders.registry import open_embedder
from quoth.bootstrap import close_embedder
from quoth.core.protocols import Embedder
from quoth.core.settings import Settings
from quoth.testing import HashEmbedder
from tests.support.embedding_server import Script, embedding_server
from tests.support.tiny_e5 import build_tiny

TEXTS = [
    "the tokenizer",
    "a page of the text",
    "le chapter learn to token",
    "la page",
    "the model and the tokenizer learn une page of text " * 12,
]
REMOTE = ("openai", "openrouter", "voyage", "cohere", "gemini", "ollama", "openai-compatible")
ROLES = ("voyage", "cohere", "gemini")
"""Providers that are told whether a text is a question; the others have one vector for both."""
ODD = ["", " ", "\x00", "a\x00b", "\ud800", "x\udfffy", "\u200b", "🧪" * 50, "é" * 3000, "\n\t\r"]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    """A server of this machine that speaks the protocols of the providers."""
    with embedding_server() as served:
        yield served


HERE = ("hash", "onnx", "onnx on one thread")


@pytest.fixture(params=[*HERE, *REMOTE])
async def embedder(
    request: pytest.FixtureRequest, tiny_model: Path, script: Script
) -> AsyncIterator[Embedder]:
    if request.param == "hash":
        yield HashEmbedder()
        return
    if request.param in REMOTE:
        keys = {f"{name}_api_key": "key" for name in (*REMOTE[:5], "llm")}
        named = f"{request.param}:tiny@{script.url}"
        remote = open_embedder(Settings(**keys, embedder=named, embedder_dimensions=64))
        yield remote
        await close_embedder(remote)
        return
    opened = OnnxEmbedder(tiny_model, threads=2 if request.param == "onnx" else 1)
    yield opened
    opened.close()


async def test_rows_are_unit_vectors_of_the_stated_dimension(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS, role="document")
    assert rows.shape == (len(TEXTS), embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


async def test_rows_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    forward = await embedder.embed(TEXTS, role="document")
    backward = await embedder.embed(TEXTS[::-1], role="document")
    assert np.array_equal(forward, backward[::-1])


async def test_a_text_has_one_vector_whatever_it_is_embedded_with(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS, role="document")
    alone = [await embedder.embed([text], role="document") for text in TEXTS]
    assert np.array_equal(together, np.concatenate(alone))


async def test_a_question_is_embedded_otherwise_than_a_document(embedder: Embedder) -> None:
    provider = embedder.name.partition(":")[0]
    if provider in REMOTE and provider not in ROLES:
        pytest.skip("The provider's protocol knows no roles.")
    question = await embedder.embed(TEXTS[:1], role="query")
    document = await embedder.embed(TEXTS[:1], role="document")
    assert not np.allclose(question, document)


async def test_other_texts_have_other_vectors(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS, role="document")
    assert np.triu(rows @ rows.T, 1).max() < 0.9999


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    rows = await embedder.embed([], role="document")
    assert rows.shape == (0, embedder.dimension)


@pytest.mark.parametrize("text", ODD, ids=[ascii(text)[:20] for text in ODD])
async def test_odd_text_has_a_vector_too(embedder: Embedder, text: str) -> None:
    row = (await embedder.embed([text], role="query"))[0]
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


async def test_sixteen_at_once_give_what_one_after_the_other_gives(embedder: Embedder) -> None:
    calls = [TEXTS[at % 5 :] for at in range(16)]
    at_once = await asyncio.gather(*(embedder.embed(call, role="document") for call in calls))
    serial = [await embedder.embed(call, role="document") for call in calls]
    assert all(map(np.array_equal, at_once, serial))


async def test_a_cancelled_call_leaves_the_embedder_usable(embedder: Embedder) -> None:
    call = asyncio.create_task(embedder.embed(TEXTS * 20, role="document"))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert (await embedder.embed(TEXTS[:2], role="document")).shape == (2, embedder.dimension)


async def test_tokens_are_counted_for_each_text(embedder: Embedder) -> None:
    counts = embedder.count_tokens(["the page", "", "the page of the page"])
    if embedder.name.partition(":")[0] not in REMOTE:
        assert counts == [2, 0, 5]
    assert all(counted >= real for counted, real in zip(counts, [2, 0, 5], strict=True))


async def test_counting_is_not_cut_at_the_limit(embedder: Embedder) -> None:
    (count,) = embedder.count_tokens(["the " * 2000])
    if embedder.name.partition(":")[0] not in REMOTE:
        assert count == 2000
    assert count >= 2000


async def test_no_texts_have_no_counts(embedder: Embedder) -> None:
    assert embedder.count_tokens([]) == []


@pytest.mark.parametrize("text", ODD, ids=[ascii(text)[:20] for text in ODD])
async def test_odd_text_can_be_counted(embedder: Embedder, text: str) -> None:
    assert embedder.count_tokens([text])[0] >= 0
