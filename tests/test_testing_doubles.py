"""The doubles behave like the things they stand for."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from quoth.core.errors import EmbeddingError, RetrievalError
from quoth.core.types import (
    Chars,
    Chunk,
    Filter,
    Pages,
    Seconds,
)
from quoth.testing import HashEmbedder, MemoryIndex, bm25, passes
from tests.support.failing_backends import FailingEmbedder, FailingIndex, SlowEmbedder, SlowIndex

CHUNK = Chunk("c1", "d1", 0, 0, 9, "red green", Chars(0, 9), "text")
PAGED = replace(CHUNK, chunk_id="c2", locator=Pages(4, 5, "iv", "v"), kind="pdf")
SPOKEN = replace(
    CHUNK, chunk_id="c3", document_id="d2", locator=Seconds(10, 20, speaker="Ada"), language="fr"
)


async def filled() -> MemoryIndex:
    index = MemoryIndex()
    texts = ["a dog bites", "the dog sleeps long", "cats sleep", "rain"]
    chunks = [
        replace(CHUNK, chunk_id=f"c{at}", document_id=f"d{at // 2}", text=text)
        for at, text in enumerate(texts)
    ]
    await index.upsert(chunks, vectors=await HashEmbedder().embed(texts, role="document"))
    return index


async def test_texts_that_share_words_are_nearer() -> None:
    rows = await HashEmbedder().embed(
        ["the dog bites the man", "the dog bites a man", "interest rates rose"], role="document"
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_bm25_by_hand() -> None:
    scores = bm25("dog", {"one": "dog dog cat", "two": "cat"})
    norm = 1.2 * (0.25 + 0.75 * 3 / 2)
    assert scores == {"one": pytest.approx(math.log(2) * 2 * 2.2 / (2 + norm))}


async def test_filters_are_applied_before_the_limit() -> None:
    found = await (await filled()).match(
        "dog sleep", languages=[], limit=1, filters=[Filter("document", "in", ("d1",))]
    )
    assert [chunk_id for chunk_id, _ in found] == ["c2"]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        (Filter("document", "in", ("d1",)), {"c1", "c2"}),
        (Filter("kind", "in", ("pdf", "html")), {"c2"}),
        (Filter("language", "in", ("fr",)), {"c3"}),
        (Filter("speaker", "in", ("Ada",)), {"c3"}),
        (Filter("page", "overlaps", (5, 9)), {"c2"}),
        (Filter("page", "overlaps", (6, 9)), set()),
        (Filter("seconds", "overlaps", (0, 10)), {"c3"}),
        (Filter("seconds", "overlaps", (20.5, 30)), set()),
    ],
)
def test_filters_look_at_the_place(condition: Filter, ids: set[str]) -> None:
    assert {c.chunk_id for c in (CHUNK, PAGED, SPOKEN) if passes(c, [condition])} == ids


async def test_the_failing_embedder_fails() -> None:
    with pytest.raises(EmbeddingError):
        await FailingEmbedder().embed(["x"], role="query")


async def test_the_failing_index_stores_and_does_not_search() -> None:
    index = FailingIndex((await filled()).rows)
    assert len(await index.vectors(["c0"])) == 1
    with pytest.raises(RetrievalError):
        await index.match("dog", languages=[], limit=1)
    with pytest.raises(RetrievalError):
        await index.nearest(np.ones(64, np.float32), limit=1)


async def test_the_slow_ones_take_their_time_and_answer() -> None:
    index = SlowIndex(0.01, rows=(await filled()).rows)
    began = time.perf_counter()
    row = (await SlowEmbedder(0.01).embed(["the dog sleeps long"], role="document"))[0]
    assert (await index.nearest(row, limit=1))[0][0] == "c1"
    assert (await index.match("dog", languages=[], limit=1))[0][0] == "c0"
    assert time.perf_counter() - began >= 0.03
