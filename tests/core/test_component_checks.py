"""What a component of another package raises or returns wrongly becomes an error in a sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from quoth.backends.embedders.cached import CachedEmbedder
from quoth.backends.rerankers.registry import GuardedReranker
from quoth.core.errors import EmbeddingError, InputError, RerankError
from quoth.core.protocols import EncodedQuery, Matrix, Role
from quoth.core.types import Chars, Chunk
from quoth.testing import HashEmbedder, WordReranker

CHUNKS = [Chunk(f"c{at}", "d", at, 0, 5, "water", Chars(0, 5), "text") for at in range(3)]
FULL = np.full((2, 64), 2.0)


class Returning(HashEmbedder):
    """Returns, or raises, what it was given."""

    def __init__(self, result: Any) -> None:
        self._result = result

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        if isinstance(self._result, BaseException):
            raise self._result
        found: Matrix = self._result
        return found

    async def encode(self, query: str) -> EncodedQuery:
        return EncodedQuery(await self.embed([query], role="query"))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1]


class Scoring(WordReranker):
    """Returns, or raises, what it was given."""

    def __init__(self, result: Any, name: str = "mine") -> None:
        self._result = result
        self.name = name

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        if isinstance(self._result, BaseException):
            raise self._result
        found: list[float] = self._result
        return found


UNFIT = [
    (FULL[:1], r"shape \(1, 64\) where \(2, 64\) was expected"),
    (FULL[:, :10], r"shape \(2, 10\) where \(2, 64\)"),
    (FULL * np.nan, "without a direction"),
    (FULL * 1e300, "without a direction"),
    (FULL * 0, "without a direction"),
    (None, r"shape \(\)|can be read"),
    ([[1.0], [1.0, 2.0]], "no vectors that can be read"),
    (KeyError("water"), "failed: KeyError: 'water'"),
    (TimeoutError("slow"), "failed: TimeoutError: slow"),
]


@pytest.mark.parametrize("role", ["query", "document"])
@pytest.mark.parametrize(("result", "words"), UNFIT)
async def test_vectors_that_do_not_fit_are_refused(result: Any, words: str, role: Role) -> None:
    with pytest.raises(EmbeddingError, match=f"^The embedder hash .*{words}"):
        await CachedEmbedder(Returning(result)).embed(["ice", "water"], role=role)


@pytest.mark.parametrize("result", [FULL[0, :10], FULL[0] * np.nan, RuntimeError("broke")])
async def test_a_vector_of_a_question_that_does_not_fit_counts_for_the_breaker(result: Any) -> None:
    embedder = CachedEmbedder(Returning(result))
    for _ in range(6):
        with pytest.raises(EmbeddingError, match=r"^The embedder hash "):
            await embedder.encode("water")
    assert embedder.breaker.state == "open"


async def test_rows_of_python_become_unit_vectors() -> None:
    embedder = CachedEmbedder(Returning(FULL.tolist()))
    rows = await embedder.embed(["ice", "water"], role="document")
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    with pytest.raises(EmbeddingError, match="counted the tokens of 1 texts where 2 were given"):
        embedder.count_tokens(["ice", "water"])


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ([1.0], r"shape \(1,\) where \(3,\) was expected"),
        ([1.0, float("nan"), 2.0], "not a finite number"),
        (["high", "low", "low"], "no scores that can be read"),
        (KeyError("water"), "failed: KeyError: 'water'"),
    ],
)
async def test_scores_that_do_not_fit_are_refused_and_the_next_reranker_scores(
    result: Any, words: str
) -> None:
    with pytest.raises(RerankError, match=f"^The reranker mine .*{words}"):
        await GuardedReranker(Scoring(result)).score("water", CHUNKS)
    both = GuardedReranker(Scoring(result), WordReranker())
    assert len(await both.score("water", CHUNKS)) == 3


async def test_an_array_of_scores_becomes_a_list() -> None:
    reranker = GuardedReranker(Scoring(np.array([1, 2, 3], np.float32)))
    assert await reranker.score("water", CHUNKS) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), InputError("no")])
async def test_what_is_no_failure_of_a_component_passes(error: BaseException) -> None:
    with pytest.raises(type(error)):
        await GuardedReranker(Scoring(error)).score("water", CHUNKS)
    with pytest.raises(type(error)):
        await CachedEmbedder(Returning(error)).encode("water")


async def test_the_log_names_the_component_and_has_the_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "quoth.parts"), pytest.raises(RerankError):
        await GuardedReranker(Scoring(KeyError("water"))).score("water", CHUNKS)
    (record,) = caplog.records
    assert record.getMessage() == "part_failed: The reranker mine."
    assert "KeyError: 'water'" in caplog.text
