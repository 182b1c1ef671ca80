"""One leg that fails leaves the other; none left is an error; the deadline counts as a failure."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quoth.core.errors import OutOfTime, RetrievalError
from quoth.core.page_images import PictureShape
from quoth.core.plan import Plan
from quoth.core.protocols import Embedder, EncodedQuery, Index, Matrix
from quoth.core.trace import Trace
from quoth.core.types import (
    Chars,
    Chunk,
    Query,
    Scored,
    Variant,
)
from quoth.retrieval.search import (
    EncodedVariant,
    RetrieverResults,
    embed_page_query,
    embed_variants,
    encode_query,
    search,
)
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.failing_backends import FailingEmbedder, FailingIndex, SlowEmbedder, SlowIndex

CHUNK = Chunk("c0", "d0", 0, 0, 9, "", Chars(0, 9), "text")
TEXTS = ["the fox runs", "the dog sleeps", "whales swim"]
QUESTION = Query("A fox?", "fox", "en")
SOON = 800.0
"""Milliseconds of the deadline of those who are late."""
LATE = 8.0
"""Seconds that those need."""

Rows = dict[str, tuple[Chunk, Matrix]]


@pytest.fixture
async def rows() -> Rows:
    index = MemoryIndex()
    chunks = [replace(CHUNK, chunk_id=f"c{at}", text=text) for at, text in enumerate(TEXTS)]
    await index.upsert(chunks, vectors=await HashEmbedder().embed(TEXTS, role="document"))
    return index.rows


class WithoutKeywords(MemoryIndex):
    """Fails in the keyword leg alone."""

    async def match(self, text: str, **_choices: Any) -> list[Scored]:
        raise RetrievalError("The terms are made to fail.")


class WithoutVectors(MemoryIndex):
    """Fails in the semantic leg alone."""

    async def nearest(self, vector: Matrix, **_choices: Any) -> list[Scored]:
        raise RetrievalError("The vectors are made to fail.")


class LateVectors(MemoryIndex):
    """Is late in the semantic leg alone."""

    async def nearest(self, vector: Matrix, **choices: Any) -> list[Scored]:
        return await SlowIndex(LATE, rows=self.rows).nearest(vector, **choices)


class LateKeywords(MemoryIndex):
    """Is late in the keyword leg alone."""

    async def match(self, text: str, **choices: Any) -> list[Scored]:
        return await SlowIndex(LATE, rows=self.rows).match(text, **choices)


class Broken(MemoryIndex):
    """Has a bug."""

    async def nearest(self, vector: Matrix, **_choices: Any) -> list[Scored]:
        raise ZeroDivisionError


async def ask(
    index: Index,
    *,
    embedder: Embedder | None = None,
    trace: Trace | None = None,
    query: Query = QUESTION,
    **choices: Any,
) -> RetrieverResults:
    trace, plan, encoded = trace or Trace(deadline_ms=SOON), Plan(**choices), None
    embedder = embedder or HashEmbedder()
    if plan.mode != "keyword":
        encoded = await encode_query(query.standalone, embedder=embedder, trace=trace)
    encoded_variants = await embed_variants(
        [Variant(query.standalone)], encoded, plan, embedder=embedder, trace=trace
    )
    found = await search(
        encoded_variants,
        plan,
        index=index,
        languages=["en"],
        trace=trace,
    )
    return found[0]


def ids(leg: list[Scored]) -> list[str]:
    return [key for key, _ in leg]


async def test_both_legs_search(rows: Rows) -> None:
    trace = Trace()
    found = await ask(MemoryIndex(rows), trace=trace)
    assert (ids(found.keyword), ids(found.semantic)[:1]) == (["c0"], ["c0"])
    assert trace.degraded == ()
    assert set(trace.timings_ms()) == {"embed", "semantic", "keyword", "total"}


@pytest.mark.parametrize("turns", range(5))
async def test_a_search_that_is_stopped_leaves_no_coroutine_over(rows: Rows, turns: int) -> None:
    encoded = await encode_query("fox", embedder=HashEmbedder(), trace=Trace())
    assert encoded is not None
    stopped = asyncio.create_task(
        search(
            [EncodedVariant(Variant("fox"), encoded.vector, None, None)],
            Plan(),
            index=MemoryIndex(rows),
            languages=["en"],
            trace=Trace(),
        )
    )
    for _ in range(turns):
        await asyncio.sleep(0)
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    gc.collect()  # A coroutine that was never awaited is a warning, and so an error, now.


class LatePages:
    """Answers after the deadline; a `PageEmbedder`."""

    name, revision, shape = "late", "1", PictureShape(1, 1)

    async def embed_pages(self, pictures: Sequence[bytes]) -> Matrix:
        raise NotImplementedError

    async def embed_query(self, query: str) -> Matrix:
        await asyncio.sleep(LATE)
        return np.ones(1, np.float32)

    def close(self) -> None:
        raise NotImplementedError


async def test_a_late_model_for_pages_leaves_the_texts_half_of_the_time() -> None:
    trace = Trace(deadline_ms=SOON)
    assert await embed_page_query("fox", Plan(), embedder=LatePages(), trace=trace) is None
    assert (trace.remaining_ms() or 0) > 0
    assert trace.failures == ("pages:deadline:texts alone",)


class HangingEmbedder(HashEmbedder):
    """Never returns a vector of a query."""

    async def encode(self, query: str) -> EncodedQuery:
        await asyncio.Event().wait()
        raise NotImplementedError


async def test_an_embedder_that_hangs_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("quoth.retrieval.search.MAX_EMBED_MS", 10.0)
    trace = Trace()
    assert await encode_query("fox", embedder=HangingEmbedder(), trace=trace) is None
    assert trace.failures == ("embed:deadline:keyword",)


async def test_wordings_that_repeat_the_query_are_not_embedded_again() -> None:
    embedder = HashEmbedder()
    encoded = await embedder.encode("fox")
    variants = [
        Variant("fox"),
        Variant("fox", weight=0.2),
        Variant("a dog"),
        Variant("", semantic=False),
    ]
    found = await embed_variants(variants, encoded, Plan(), embedder=embedder, trace=Trace())
    (dog,) = await embedder.embed(["a dog"], role="query")
    vectors = [each.vector for each in found]
    assert vectors[0] is vectors[1] is encoded.vector
    assert vectors[2] is not None
    assert np.array_equal(vectors[2], dog)
    assert vectors[3] is None
    trace = Trace()
    failing = await embed_variants(
        variants, encoded, Plan(), embedder=FailingEmbedder(), trace=trace
    )
    assert [each.vector is None for each in failing] == [False, False, True, True]
    assert trace.degraded == ("embed:embedding_failed:keyword",)


FAILURES: dict[str, tuple[Callable[[Rows], Index], Embedder, str, str]] = {
    "the keyword leg fails": (
        *(WithoutKeywords, HashEmbedder()),
        *("semantic", "keyword:retrieval_failed:semantic"),
    ),
    "the semantic leg fails": (
        *(WithoutVectors, HashEmbedder()),
        *("keyword", "semantic:retrieval_failed:keyword"),
    ),
    "the embedder fails": (
        *(MemoryIndex, FailingEmbedder()),
        *("keyword", "embed:embedding_failed:keyword"),
    ),
    "the embedder is late": (
        *(MemoryIndex, SlowEmbedder(LATE)),
        *("keyword", "embed:deadline:keyword"),
    ),
    "the semantic leg is late": (
        *(LateVectors, HashEmbedder()),
        *("keyword", "semantic:deadline:keyword"),
    ),
    "the keyword leg is late": (
        *(LateKeywords, HashEmbedder()),
        *("semantic", "keyword:deadline:semantic"),
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_the_other_leg_goes_on(rows: Rows, failure: str) -> None:
    make, embedder, left, recorded = FAILURES[failure]
    trace = Trace(deadline_ms=SOON)
    began = time.perf_counter()
    found = await ask(make(rows), embedder=embedder, trace=trace)
    legs = {"keyword": found.keyword, "semantic": found.semantic}
    assert {name for name, leg in legs.items() if leg} == {left}
    assert trace.degraded == (recorded,)
    assert time.perf_counter() - began < LATE / 2


@pytest.mark.parametrize(
    ("make", "embedder", "mode"),
    [
        (FailingIndex, HashEmbedder(), "hybrid"),
        (FailingIndex, FailingEmbedder(), "hybrid"),
        (WithoutKeywords, FailingEmbedder(), "hybrid"),
        (WithoutKeywords, HashEmbedder(), "keyword"),
        (WithoutVectors, HashEmbedder(), "semantic"),
        (MemoryIndex, FailingEmbedder(), "semantic"),
        (lambda rows: SlowIndex(LATE, rows=rows), HashEmbedder(), "hybrid"),
        (LateKeywords, SlowEmbedder(LATE), "hybrid"),
    ],
)
async def test_no_leg_left_is_an_error(
    rows: Rows, make: Callable[[Rows], Index], embedder: Embedder, mode: str
) -> None:
    trace = Trace(deadline_ms=SOON)
    with pytest.raises(RetrievalError) as caught:
        await ask(make(rows), embedder=embedder, trace=trace, mode=mode)
    assert trace.degraded
    # A lack of time is the client's: its error names no stages.
    late = isinstance(caught.value, OutOfTime)
    assert late or all(each in str(caught.value) for each in trace.degraded)
    assert late == all(":deadline:" in each for each in trace.degraded)


async def test_a_bug_in_a_leg_stays_visible(rows: Rows) -> None:
    with pytest.raises(ZeroDivisionError):
        await ask(Broken(rows))


class Meeting(MemoryIndex):
    """An index each of whose legs waits for the other one."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.barrier = asyncio.Barrier(2)

    async def nearest(self, vector: Matrix, **more: Any) -> list[Scored]:
        await self.barrier.wait()
        return await super().nearest(vector, **more)

    async def match(self, text: str, **more: Any) -> list[Scored]:
        await self.barrier.wait()
        return await super().match(text, **more)


async def test_the_legs_search_at_the_same_time(rows: Rows) -> None:
    async with asyncio.timeout(10):
        await ask(Meeting(rows), trace=Trace())
