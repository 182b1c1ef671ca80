"""A question that comes again is not embedded again."""

from __future__ import annotations

import asyncio

import numpy as np

from quoth.backends.embedders.cached import CachedEmbedder
from quoth.testing import HashEmbedder
from tests.support.recording_embedder import RecordingEmbedder


async def test_a_known_question_is_not_computed() -> None:
    inner = RecordingEmbedder()
    cached = CachedEmbedder(inner)
    first = [(await cached.encode(text)).vector for text in ("a", "b", "a")]
    again = await cached.embed(["b", "a"], role="query")
    assert inner.asked == ["a", "b"]
    assert np.array_equal(first[1], again[0])
    assert np.array_equal(first[0], again[1])


async def test_documents_pass_through() -> None:
    inner = RecordingEmbedder()
    cached = CachedEmbedder(inner)
    question = await cached.embed(["a"], role="query")
    for _ in range(2):
        document = await cached.embed(["a"], role="document")
    assert inner.asked == ["a"] * 3
    assert not np.array_equal(question, document)


async def test_the_oldest_question_is_forgotten_first() -> None:
    inner = RecordingEmbedder()
    cached = CachedEmbedder(inner, max_bytes=2 * 64 * 4)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cached.embed([text], role="query")
    assert inner.asked == ["a", "b", "c", "b"]


async def test_many_at_once_get_the_right_rows() -> None:
    cached = CachedEmbedder(HashEmbedder(), max_bytes=3 * 64 * 4)
    texts = [[str(at % 5), str(at % 3)] for at in range(40)]
    found = await asyncio.gather(*(cached.embed(each, role="query") for each in texts))
    for each, rows in zip(texts, found, strict=True):
        assert np.array_equal(rows, await HashEmbedder().embed(each, role="query"))
