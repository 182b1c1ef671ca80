"""The snapshot of an index: right, up to date, and harmless when it is damaged."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.indexes.lancedb.client import lancedb
from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.lancedb.schema import rows
from quoth.backends.indexes.snapshot.build import rows_to_arrays, with_product
from quoth.backends.indexes.snapshot.files import Version
from quoth.backends.indexes.snapshot.search import GROUP, Part, Snapshot, top_k
from quoth.backends.indexes.snapshot.segment import Segment
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.core.errors import IndexMismatch, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chars, Chunk, Filter
from quoth.testing import bm25
from tests.backends.test_lancedb_index import end, process

WIDE = 200
ROWS = 6000
CHUNK = Chunk("c", "d", 0, 0, 3, "fox", Chars(0, 3), "text")
TABLE = "c_1"

READER = """
import asyncio, sys
from pathlib import Path
import numpy as np
from quoth.backends.indexes.lancedb.index import LanceIndex
async def read():
    index = LanceIndex(Path(sys.argv[1]), "c_1", dimension=200)
    assert await index.match("fox", languages=["en"], limit=3)
    assert await index.nearest(np.ones(200, np.float32), limit=3)
    index.close()
asyncio.run(read())
sys.stdout.write(str(sorted({"lancedb", "onnx", "pyarrow"} & set(sys.modules))))
"""


def units(rows: int, *, seed: int = 7) -> Matrix:
    """Unit vectors that are always the same, in a narrow cone as those of models are."""
    drawn = np.random.default_rng(seed).standard_normal((rows, WIDE)).astype(np.float32)
    drawn += 2 * np.random.default_rng(1).standard_normal(WIDE).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def made(rows: int, *, name: str | None = None) -> list[Chunk]:
    """Chunks of a document, or of sixty."""
    return [
        replace(
            CHUNK,
            chunk_id=f"{name or 'd'}.{at}",
            document_id=name or f"d{at % 60}",
            ordinal=at,
            text=f"fox w{at % 7} {'owl ' * (at % 3)}",
        )
        for at in range(rows)
    ]


def opened(folder: Path) -> LanceIndex:
    return LanceIndex(folder, TABLE, dimension=WIDE)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[LanceIndex]:
    made_here = opened(tmp_path)
    yield made_here
    made_here.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index with many rows; copy it, do not change it."""
    folder = tmp_path_factory.mktemp("filled")

    async def fill() -> None:
        index = opened(folder)
        chunks, vectors = made(ROWS), units(ROWS)
        for at in range(0, ROWS, 600):
            await index.upsert(chunks[at : at + 600], vectors=vectors[at : at + 600])
        assert not await index.needs_build()
        index.close()

    asyncio.run(fill())
    return folder


@pytest.fixture
async def large(filled: Path, tmp_path: Path) -> AsyncIterator[LanceIndex]:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    index = opened(tmp_path)
    yield index
    index.close()


async def answers(index: LanceIndex) -> list[object]:
    """What a few questions find, as ids."""
    near = await index.nearest(units(1, seed=9)[0], limit=10)
    owls = await index.match("owl w3", languages=["en"], limit=10)
    return [[key for key, _ in near], sorted(score for _, score in owls)]


def snapshots(folder: Path) -> list[Path]:
    """What there is of snapshots and their manifests."""
    return sorted(folder.glob("*.scan*"))


def active(folder: Path) -> Path:
    """The file of the largest segment."""
    return max(folder.glob("*.scan"), key=lambda path: path.stat().st_size)


def snapshot_of(chunks: list[Chunk]) -> Snapshot:
    """All chunks in one segment."""
    vectors = units(len(chunks))
    return Snapshot(
        [Part(Segment(with_product(rows_to_arrays(rows(chunks, vectors=vectors), vectors))))]
    )


# --- right ------------------------------------------------------------------------------------


async def test_it_finds_what_exact_search_finds(large: LanceIndex) -> None:
    stored, found = units(ROWS), 0
    questions = units(40, seed=9)
    for vector in questions:
        exact = {f"d.{at}" for at in np.argsort(-(stored @ vector))[:20]}
        found += len(exact & {key for key, _ in await large.nearest(vector, limit=20)})
    assert found / (20 * len(questions)) >= 0.98


async def test_scores_are_the_exact_cosine(large: LanceIndex) -> None:
    vector = units(1, seed=9)[0]
    exact = units(ROWS) @ vector
    for key, score in await large.nearest(vector, limit=50):
        assert score == pytest.approx(exact[int(key[2:])], abs=3e-5)


@pytest.mark.parametrize(
    ("document_ids", "count"), [(("d3",), 100), (tuple(f"d{at}" for at in range(59)), 5900)]
)
async def test_filters_choose_before_the_search(
    large: LanceIndex, document_ids: tuple[str, ...], count: int
) -> None:
    stored, vector = units(ROWS), units(1, seed=9)[0]
    filters = [Filter("document", "in", document_ids)]
    inside = [at for at in range(ROWS) if f"d{at % 60}" in document_ids]
    exact = {f"d.{at}" for at in sorted(inside, key=lambda at: -(stored[at] @ vector))[:20]}
    found = {key for key, _ in await large.nearest(vector, limit=20, filters=filters)}
    assert len(found & exact) >= 19
    assert len(await large.match("fox", languages=["en"], limit=ROWS, filters=filters)) == count


@given(
    texts=st.lists(
        st.lists(st.sampled_from([f"w{at}" for at in range(9)]), min_size=1, max_size=20),
        min_size=1,
        max_size=12,
    ),
    question=st.lists(st.sampled_from([f"w{at}" for at in range(11)]), min_size=1),
)
def test_words_score_by_bm25(texts: list[list[str]], question: list[str]) -> None:
    chunks = [
        replace(CHUNK, chunk_id=str(at), text=" ".join(words)) for at, words in enumerate(texts)
    ]
    exact = bm25(" ".join(question), {chunk.chunk_id: chunk.text for chunk in chunks})
    found = snapshot_of(chunks).match(question, limit=len(chunks))
    assert dict(found) == pytest.approx(exact, rel=1e-5)
    assert all(one[1] >= other[1] for one, other in pairwise(found))


async def test_vectors_are_those_that_were_written(large: LanceIndex) -> None:
    found = await large.vectors(["d.17", "nonsense"])
    assert found.keys() == {"d.17"}
    assert found["d.17"] == pytest.approx(units(ROWS)[17], abs=3e-5)


def test_the_best_are_those_of_a_whole_sorting() -> None:
    sizes = (0, 1, 3, GROUP - 1, GROUP, 3 * GROUP, 3 * GROUP + 1, 40 * GROUP)
    for count, limit, levels in product(sizes, (1, 3, 4, GROUP), (1, 4, 2**20)):
        drawn = np.random.default_rng(count).integers(0, levels, count)
        scores = (drawn / levels - 0.5).astype(np.float32)
        whole = np.argsort(-scores, kind="stable")[:limit]
        assert top_k(scores, limit).tolist() == whole.tolist()


# --- fresh ------------------------------------------------------------------------------------


async def test_every_write_of_another_handle_is_seen_by_the_next_search(
    large: LanceIndex, tmp_path: Path
) -> None:
    other = opened(tmp_path)
    before = {key for key, _ in await large.match("fox", languages=["en"], limit=ROWS)}
    await other.upsert(made(3, name="other"), vectors=units(3, seed=5))
    await other.delete(["d1"])
    after = {key for key, _ in await large.match("fox", languages=["en"], limit=2 * ROWS)}
    assert after - before == {"other.0", "other.1", "other.2"}
    assert before - after == {f"d.{at}" for at in range(1, ROWS, 60)}
    assert (await large.nearest(units(3, seed=5)[1], limit=1))[0][0] == "other.1"
    for at in range(12):
        await other.upsert(made(1, name=f"quick{at}"), vectors=units(1, seed=100 + at))
        found = await large.nearest(units(1, seed=100 + at)[0], limit=1)
        assert found[0][0] == f"quick{at}.0"
    await other.upsert([replace(made(1)[0], text="a heron")], vectors=units(1, seed=4))
    assert await large.match("heron", languages=["en"], limit=5) != []
    found = await large.nearest(units(1, seed=4)[0], limit=2)
    assert [key for key, _ in found].count("d.0") == 1
    assert found[0][0] == "d.0"
    assert not await large.needs_build()
    other.close()


async def test_a_write_whose_segment_was_lost_is_repaired_by_the_next(
    large: LanceIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash between the two: the table has what the segments lack."""
    with monkeypatch.context() as patched:
        patched.setattr(SegmentStore, "activate", raise_full)
        with pytest.raises(StorageFull):
            await large.delete(["d1"])
        with pytest.raises(StorageFull):
            await large.upsert(made(2, name="lost"), vectors=units(2, seed=5))
    assert len(await large.match("fox", languages=["en"], limit=2 * ROWS)) == ROWS
    assert await large.needs_build()
    other = opened(tmp_path)
    await other.upsert(made(1, name="next"), vectors=units(1, seed=6))
    assert not await large.needs_build()
    assert len(await large.match("fox", languages=["en"], limit=2 * ROWS)) == ROWS - 100 + 3
    assert (await large.nearest(units(2, seed=5)[1], limit=1))[0][0] == "lost.1"
    assert set(await large.vectors(["d.1", "lost.0", "next.0"])) == {"lost.0", "next.0"}
    other.close()


async def test_optimizing_leaves_the_snapshot_valid(large: LanceIndex, tmp_path: Path) -> None:
    """Rows move in the table; a process that starts then needs no LanceDB to answer."""
    before = await answers(large)
    await large.optimize()
    assert not await large.needs_build()
    assert await answers(large) == before
    assert await asyncio.to_thread(end, process(READER, tmp_path)) == "[]"


async def test_searches_at_once_build_missing_segments_once(
    large: LanceIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = await answers(large)
    SegmentStore(tmp_path, TABLE).remove()
    made_anew: list[object] = []
    whole = SegmentStore.activate

    def activate(self: SegmentStore, parts: Sequence[Part], *, version: Version) -> None:
        made_anew.append(version)
        whole(self, parts, version=version)

    monkeypatch.setattr(SegmentStore, "activate", activate)
    assert await asyncio.gather(*(answers(large) for _ in range(8))) == [expected] * 8
    assert len(made_anew) == 1
    assert not await large.needs_build()


# --- harmless ---------------------------------------------------------------------------------


def cut(file: Path) -> None:
    os.truncate(file, 1000)


def altered(file: Path) -> None:
    with file.open("r+b") as opened_file:
        opened_file.seek(4000)
        opened_file.write(b"\xff" * 4)


def lost(file: Path) -> None:
    file.unlink()


def no_manifest(file: Path) -> None:
    (file.parent / f"{TABLE}.scan.json").write_text("{")


@pytest.mark.parametrize("harm", [cut, altered, lost, no_manifest])
async def test_a_damaged_snapshot_is_not_used_and_is_made_again(
    large: LanceIndex, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    expected = await answers(large)
    large.close()
    harm(active(tmp_path))
    other = opened(tmp_path)
    assert await answers(other) == expected
    assert not await other.needs_build()
    assert active(tmp_path)
    other.close()


async def test_what_a_killed_build_left_behind_is_removed(
    index: LanceIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.upsert(made(50), vectors=units(50))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", raise_full)
        with pytest.raises(StorageFull):
            await index.upsert(made(300), vectors=units(300))
    (tmp_path / f"{TABLE}.half.scan").mkdir()
    (tmp_path / f"{TABLE}.half.scan" / "vectors.npy").write_bytes(b"half")
    (tmp_path / f"{TABLE}.old.scan").write_bytes(b"the format of an earlier version")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", raise_full)
        with pytest.raises(StorageFull):
            await index.build()
    assert await index.build()
    assert len(await index.match("fox", languages=["en"], limit=999)) == 300
    assert not {f"{TABLE}.half.scan", f"{TABLE}.old.scan"} & {
        path.name for path in snapshots(tmp_path)
    }


def raise_full(*_all: object, **_named: object) -> None:
    raise OSError(28, "No space left on device")


async def test_a_table_of_an_older_make_says_how_to_rebuild_it(tmp_path: Path) -> None:
    database = await lancedb.connect_async(tmp_path)
    older = pa.schema([pa.field("id", pa.string()), pa.field("terms", pa.string())])
    await database.create_table(TABLE, schema=older)
    index = opened(tmp_path)
    with pytest.raises(IndexMismatch, match="quoth reindex"):
        await index.nearest(units(1)[0], limit=5)
    await index.drop()
    await index.upsert(made(2), vectors=units(2))
    assert len(await index.nearest(units(1)[0], limit=5)) == 2
    index.close()
