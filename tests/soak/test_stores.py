"""The same library on every store: the same hits for the same questions, with and without filters.

400 documents of five chunks, 200 questions; LanceDB's exact snapshot is compared with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.vector_store import StoreAccess
from quoth.core.protocols import Index, Matrix
from quoth.core.types import Chars, Chunk, Filter, Pages
from quoth.store.database import connect
from quoth.testing import passes
from tests.contracts.test_index import (
    STORES,
    chroma_address,
    milvus_address,
    pinecone,
    place,
    postgresql,
    skip_without,
)

__all__ = ["chroma_address", "milvus_address", "pinecone", "postgresql"]

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timed,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
DOCUMENTS, CHUNKS, QUESTIONS, DIMENSION, LIMIT = 400, 5, 200, 384, 20
TIMED, OVERHEAD_MS = 40, 10.0
LARGE, INDEXED_S = 25_000, 60
EXACT = ("sqlite-vec", "pgvector", "pinecone", "qdrant")
WORDS = [f"{first}{last}" for first in ("ba", "ko", "mi", "tu", "re") for last in ("lan", "ser")]
RANDOM = np.random.default_rng(3)


def units(rows: int) -> Matrix:
    made = RANDOM.standard_normal((rows, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def library() -> list[Chunk]:
    return [
        Chunk(
            uuid4().hex[:24],
            f"doc{document}",
            at,
            0,
            9,
            " ".join(RANDOM.choice(WORDS, 30)) + f" word{document % 50} rare{document}",
            Pages(at + 1, at + 1, str(at + 1), str(at + 1)) if document % 2 else Chars(0, 9),
            "pdf" if document % 2 else "text",
            section=(f"Part {document % 7}",),
            date=f"20{10 + document % 10}-01-01",
        )
        for document in range(DOCUMENTS)
        for at in range(CHUNKS)
    ]


CHUNKS_OF_ALL, VECTORS, ASKED = library(), units(DOCUMENTS * CHUNKS), units(QUESTIONS)
TEXTS = [
    f"{WORDS[at % len(WORDS)]} word{at % 50}" + (f" rare{at}" if at % 3 else "")
    for at in range(QUESTIONS)
]
FILTERS: list[list[Filter]] = [
    [],
    [Filter("document", "in", tuple(f"doc{at}" for at in range(40)))],
    [Filter("kind", "in", ("pdf",)), Filter("page", "overlaps", (2, 3))],
    [Filter("section", "in", ("part 3", "Part 5"))],
    [Filter("date", "overlaps", (20150101, 20161231)), Filter("label", "in", ("4",))],
]


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Any]:
    """The hits of LanceDB's exact snapshot."""
    folder = tmp_path_factory.mktemp("lance")

    async def exact() -> dict[Any, Any]:
        index = LanceIndex(folder, "c_1", dimension=DIMENSION)
        await index.upsert(CHUNKS_OF_ALL, vectors=VECTORS)
        await index.optimize()
        await index.build()
        found = await results(index)
        index.close()
        return found

    return asyncio.run(exact())


@pytest.fixture(params=STORES)
async def other(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[str, Index]]:
    store = request.param
    skip_without(store)
    opened = place(store, tmp_path, request)
    access: StoreAccess = replace(opened.access, dimension=DIMENSION, timeout_s=60, connect=connect)
    if store == "pinecone":
        request.getfixturevalue("pinecone")[1].indexes.clear()
    index = replace(opened, access=access).open(
        f"c_{uuid4().hex[:12]}", on_operation=lambda _name: None
    )
    yield store, index
    index.close()


async def results(index: Index) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for at in range(QUESTIONS):
        filters = FILTERS[at % len(FILTERS)]
        near = await index.nearest(ASKED[at], limit=LIMIT, filters=filters)
        match = await index.match(TEXTS[at], languages=["en"], limit=LIMIT, filters=filters)
        found[at] = near, match
    return found


def agreement(found: dict[Any, Any], truth: dict[Any, Any], leg: int) -> Iterator[float]:
    """For each question the share of the hits that are hits here too; ties count as equal."""
    for at, hits in truth.items():
        best = hits[leg]
        last = best[-1][1] - 1e-4 if best else 0.0
        ids = {key for key, _ in best}
        here = found[at][leg]
        same = sum(key in ids or score >= last for key, score in here)
        yield same / len(best) if best else float(not here)


def alike(rows: int) -> tuple[Matrix, Matrix]:
    """Vectors as alike as those of passages (a mean cosine of .8, few directions), and queries.

    Graphs and coarse indexes lose as many of the nearest ones as among real vectors.
    """
    random = np.random.default_rng(7)
    few = random.standard_normal((rows + QUESTIONS, 40)).astype(np.float32)
    made = few @ random.standard_normal((40, DIMENSION)).astype(np.float32) / np.sqrt(40) + 2
    made += 0.3 * random.standard_normal(made.shape).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made[:rows], made[rows:]


async def overhead_ms(index: Any) -> float:
    """The median of what a search costs beside the same call of the store's client, in turns.

    None of LanceDB, whose client is not asked.
    """
    store = getattr(index, "_store", None)
    if not hasattr(store, "endpoint"):
        return 0.0
    spent = []
    for at in range(TIMED):
        began = time.perf_counter()
        await asyncio.to_thread(store.nearest, ASKED[at], limit=LIMIT, conditions=[])
        between = time.perf_counter()
        await index.nearest(ASKED[at], limit=LIMIT)
        spent.append((time.perf_counter() - between) - (between - began))
    return float(np.median(spent)) * 1000


async def test_every_store_finds_the_same(
    other: tuple[str, Index], truth: dict[Any, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    store, index = other
    await index.upsert(CHUNKS_OF_ALL, vectors=VECTORS)
    found = await results(index)
    near = list(agreement(found, truth, 0))
    words = list(agreement(found, truth, 1))
    whole = np.mean(np.equal(near, 1))
    with capsys.disabled():
        shown = f"vectors {np.mean(near):.4f}, whole lists {whole:.4f}, words {np.mean(words):.4f}"
        beside = await overhead_ms(index)
        print(f"\n{store}: {shown}, {beside:.2f} ms above its client")  # noqa: T201
    assert beside <= OVERHEAD_MS
    assert np.mean(near) >= (0.99 if store in EXACT else 0.97)
    assert np.mean(words) >= 0.99
    by_id = {chunk.chunk_id: chunk for chunk in CHUNKS_OF_ALL}
    for at in range(QUESTIONS):
        filters = FILTERS[at % len(FILTERS)]
        assert all(passes(by_id[key], filters) for leg in found[at] for key, _ in leg)


@pytest.mark.parametrize("other", ["chroma", "pgvector", "milvus", "milvus server"], indirect=True)
async def test_a_large_library_is_found_by_the_index_of_the_store(
    other: tuple[str, Index], capsys: pytest.CaptureFixture[str]
) -> None:
    """With more rows than a store compares one by one, after no more than adding does."""
    store, index = other
    vectors, asked = alike(LARGE)
    empty = replace(CHUNKS_OF_ALL[0], text="")
    chunks = [replace(empty, chunk_id=f"{at:024d}", ordinal=at) for at in range(LARGE)]
    for at in range(0, LARGE, 1000):
        await index.upsert(chunks[at : at + 1000], vectors=vectors[at : at + 1000])
    await index.optimize()
    truth = np.argsort(-(asked @ vectors.T), axis=1)[:, :LIMIT]

    async def share() -> float:
        found = [await index.nearest(question, limit=LIMIT) for question in asked]
        same = (
            len({int(key) for key, _score in hits}.intersection(best.tolist()))
            for hits, best in zip(found, truth, strict=True)
        )
        return sum(same) / truth.size

    for _ in range(INDEXED_S):
        if (recall := await share()) >= 0.97:
            break
        await asyncio.sleep(1)  # Milvus makes its graph in the background
    with capsys.disabled():
        print(f"\n{store}: {recall:.4f} of {LARGE:,}")  # noqa: T201
    assert recall >= 0.97
