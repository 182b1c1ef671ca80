"""What every reranker must do, whatever computes it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from quoth.backends.embedders.onnx import OnnxEmbedder
from quoth.backends.late_interaction.token_vectors import TokenSpace, open_vectors
from quoth.backends.rerankers.colbert import ColbertReranker
from quoth.backends.rerankers.cross_encoder import OnnxReranker
from quoth.backends.rerankers.late_interaction import LateReranker
from quoth.backends.rerankers.registry import GuardedReranker, Rerankers
from quoth.core.protocols import Reranker
from quoth.core.settings import Settings
from quoth.testing import WordReranker
from tests.support.embedding_server import Script, embedding_server
from tests.support.failing_backends import FailingReranker
from tests.support.tiny_e5 import build_tiny
from tests.support.toy_rerankers import (
    PASSAGES,
    QUESTION,
    RIGHT,
    chunks,
    write_answerer,
    write_colbert,
    write_cross_encoder,
)

ODD = ["", " ", "\x00", "\ud800", "🧪" * 50, "é" * 3000, "\n\t\r", "[SEP] [CLS]", "boat " * 3000]
KINDS = ["words", "chain", "late", "one logit", "two logits", "answer", "colbert", "projected"]
REMOTE = ["cohere", "voyage"]
TRAINED = ["one logit", "two logits", "answer", "colbert", "projected"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], Reranker]]:
    root = tmp_path_factory.mktemp("rerankers")
    tiny = build_tiny(root)

    def late() -> Reranker:
        return LateReranker(open_vectors(TokenSpace(OnnxEmbedder(tiny, threads=2)), folder=None))

    def pairs(folder: Path) -> Callable[[], Reranker]:
        return lambda: OnnxReranker(folder, threads=2)

    def colbert(folder: Path) -> Callable[[], Reranker]:
        return lambda: ColbertReranker(folder, threads=2)

    return {
        "words": WordReranker,
        "chain": lambda: GuardedReranker(FailingReranker(), WordReranker()),
        "late": late,
        "one logit": pairs(write_cross_encoder(root / "one")),
        "two logits": pairs(write_cross_encoder(root / "two", logits=2, place="onnx/model.onnx")),
        "answer": pairs(write_answerer(root / "answer")),
        "colbert": colbert(write_colbert(root / "colbert")),
        "projected": colbert(write_colbert(root / "projected", projected=True)),
    }


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    """A server of this machine that speaks the protocols of the providers."""
    with embedding_server() as served:
        yield served


@pytest.fixture(params=[*KINDS, *REMOTE])
async def reranker(
    request: pytest.FixtureRequest, models: dict[str, Callable[[], Reranker]], script: Script
) -> AsyncIterator[Reranker]:
    if request.param in REMOTE:
        settings = Settings(cohere_api_key=SecretStr("key"), voyage_api_key=SecretStr("key"))
        remote = Rerankers(f"{request.param}@{script.url}", settings)
        yield remote.over(None)
        await remote.aclose()
        return
    opened = models[request.param]()
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", TRAINED)
async def test_what_was_learnt_decides(
    kind: str, models: dict[str, Callable[[], Reranker]]
) -> None:
    reranker = models[kind]()
    scores = await reranker.score(QUESTION, chunks())
    reranker.close()
    assert scores.index(max(scores)) == RIGHT


async def test_scores_are_in_the_order_of_the_chunks(reranker: Reranker) -> None:
    there = await reranker.score(QUESTION, chunks())
    back = await reranker.score(QUESTION, chunks(PASSAGES[::-1]))
    assert back == pytest.approx(there[::-1], abs=1e-5)


async def test_each_chunk_has_a_finite_score(reranker: Reranker) -> None:
    for texts in ([], PASSAGES[:1], PASSAGES * 5, ODD):
        scores = await reranker.score(QUESTION, chunks(texts))
        assert len(scores) == len(texts)
        assert all(isinstance(score, float) and math.isfinite(score) for score in scores)


async def test_odd_questions_are_answered(reranker: Reranker) -> None:
    for text in ODD:
        scores = await reranker.score(text, chunks())
        assert all(map(math.isfinite, scores)), ascii(text)[:20]


async def test_the_same_call_gives_the_same_scores(reranker: Reranker) -> None:
    first = await reranker.score(QUESTION, chunks())
    assert await reranker.score(QUESTION, chunks()) == first


async def test_sixteen_at_once_give_what_one_after_the_other_gives(reranker: Reranker) -> None:
    calls = [chunks((PASSAGES * 3)[at % 5 :]) for at in range(16)]
    at_once = await asyncio.gather(*(reranker.score(QUESTION, call) for call in calls))
    for call, scores in zip(calls, at_once, strict=True):
        assert scores == pytest.approx(await reranker.score(QUESTION, call), abs=1e-5)


async def test_a_cancelled_call_leaves_the_reranker_usable(reranker: Reranker) -> None:
    call = asyncio.create_task(reranker.score(QUESTION, chunks(PASSAGES * 50)))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert len(await reranker.score(QUESTION, chunks())) == len(PASSAGES)
