"""The copy of an index for searching: right, fresh, and harmless when it is not."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quoth.backends.indexes.lancedb.client import lancedb
from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.lancedb.schema import rows
from quoth.backends.indexes.snapshot import file as scan_file
from quoth.backends.indexes.snapshot.build import columns_to_arrays
from quoth.backends.indexes.snapshot.search import (
    GROUP,
    Segment,
    Snapshot,
    top_k,
)
from quoth.core.errors import IndexMismatch
from quoth.core.protocols import Matrix
from quoth.core.types import Chars, Chunk, Filter
from quoth.testing import bm25
from tests.backends.test_lancedb_index import end, process

ROOT = Path(__file__).parents[2]
WIDE = 200
ROWS = 6000
CHUNK = Chunk("c", "d", 0, 0, 3, "fox", Chars(0, 3), "text")
TABLE = "c_1"

ADDER = """
import asyncio, sys
from pathlib import Path
from tests.backends.test_snapshot import WIDE, made, units
from quoth.backends.indexes.lancedb.index import LanceIndex
async def write():
    index = LanceIndex(Path(sys.argv[1]), "c_1", dimension=WIDE, vector_rows=100)
    await index.upsert(made(3, name="other"), vectors=units(3, seed=5))
    await index.delete(["d1"])
    index.close()
asyncio.run(write())
"""
READER = """
import asyncio, sys
from pathlib import Path
import numpy as np
from quoth.backends.indexes.lancedb.index import LanceIndex
async def read():
    index = LanceIndex(Path(sys.argv[1]), "c_1", dimension=200, vector_rows=100)
    assert await index.match("fox", languages=["en"], limit=3)
    assert await index.nearest(np.ones(200, np.float32), limit=3)
    index.close()
asyncio.run(read())
sys.stdout.write(str(sorted({"lancedb", "onnx", "pyarrow"} & set(sys.modules))))
"""
BUILDER = """
import asyncio, os, signal, sys
from pathlib import Path
from quoth.backends.registry import scan_file
from quoth.backends.indexes.lancedb.index import LanceIndex
def die(*_all, **_named):
    os.kill(os.getpid(), signal.SIGKILL)
at = sys.argv[2]
if at == "sync":
    scan_file.os.fsync = die
elif at == "charge":
    scan_file.put_in_charge = die
elif at == "swap":
    Path.replace = die
async def build():
    index = LanceIndex(
        Path(sys.argv[1]), "c_1", dimension=200, vector_rows=100,
        on_operation=lambda name: die() if name == at else None,
    )
    await index.build()
asyncio.run(build())
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


def opened(folder: Path, *, vector_rows: int = 100) -> LanceIndex:
    return LanceIndex(folder, TABLE, dimension=WIDE, vector_rows=vector_rows)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[LanceIndex]:
    made_here = opened(tmp_path)
    yield made_here
    made_here.close()


@pytest.fixture
async def large(index: LanceIndex) -> LanceIndex:
    await index.upsert(made(ROWS), vectors=units(ROWS))
    assert await index.build()
    return index


async def answers(index: LanceIndex) -> list[object]:
    """What a few questions find, as ids."""
    near = await index.nearest(units(1, seed=9)[0], limit=10)
    owls = await index.match("owl w3", languages=["en"], limit=10)
    return [[key for key, _ in near], sorted(score for _, score in owls)]


def files(folder: Path) -> list[Path]:
    """What there is of copies."""
    return list(folder.glob("*.scan*"))


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.scan")
    return file


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


async def test_words_score_as_in_the_table(large: LanceIndex, tmp_path: Path) -> None:
    copied = dict(await large.match("owl w3", languages=["en"], limit=ROWS))
    scan_file.remove(tmp_path, TABLE)
    direct = dict(await large.match("owl w3", languages=["en"], limit=ROWS))
    assert copied.keys() == direct.keys()
    factors = {round(copied[key] / score, 2) for key, score in direct.items()}
    assert len(factors) == 1, "the scores are not in proportion"


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


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(
        st.lists(st.sampled_from([f"w{at}" for at in range(9)]), min_size=1, max_size=20),
        min_size=1,
        max_size=12,
    ),
    question=st.lists(st.sampled_from([f"w{at}" for at in range(11)]), min_size=1, unique=True),
)
def test_words_score_by_bm25(texts: list[list[str]], question: list[str]) -> None:
    chunks = [
        replace(CHUNK, chunk_id=str(at), text=" ".join(words)) for at, words in enumerate(texts)
    ]
    columns = rows(chunks, vectors=units(len(chunks)))
    snapshot = Snapshot(Segment({**columns_to_arrays(columns), "vectors": units(len(chunks))}))
    exact = bm25(" ".join(question), {chunk.chunk_id: chunk.text for chunk in chunks})
    found = snapshot.match(question, limit=len(chunks))
    assert dict(found) == pytest.approx(exact, rel=1e-5)
    assert all(one[1] >= other[1] for one, other in pairwise(found))


async def test_vectors_come_from_file_and_tail(large: LanceIndex) -> None:
    await large.upsert(made(1, name="late"), vectors=units(1, seed=3))
    found = await large.vectors(["d.17", "late.0", "nonsense"])
    assert found.keys() == {"d.17", "late.0"}
    assert found["d.17"] == pytest.approx(units(ROWS)[17], abs=3e-5)
    assert np.array_equal(found["late.0"], units(1, seed=3)[0])


def test_equal_scores_keep_their_order() -> None:
    scores = np.array([1, 3, 2, 3, 3, 0], np.float32)
    assert top_k(scores, 3).tolist() == [1, 3, 4]


@pytest.mark.parametrize("rows", [0, 1, 3, GROUP - 1, GROUP, 3 * GROUP, 3 * GROUP + 1, 40 * GROUP])
@pytest.mark.parametrize("limit", [1, 3, 4, GROUP])
@pytest.mark.parametrize("levels", [1, 4, 2**20])
def test_the_best_are_those_of_a_whole_sorting(rows: int, limit: int, levels: int) -> None:
    drawn = np.random.default_rng(rows).integers(0, levels, rows)
    scores = (drawn / levels - 0.5).astype(np.float32)
    whole = np.argsort(-scores, kind="stable")[:limit]
    assert top_k(scores, limit).tolist() == whole.tolist()


# --- fresh ------------------------------------------------------------------------------------


async def test_what_another_process_writes_is_seen_by_the_next_search(
    large: LanceIndex, tmp_path: Path
) -> None:
    before = {key for key, _ in await large.match("fox", languages=["en"], limit=ROWS)}
    await asyncio.to_thread(end, process(ADDER, tmp_path))
    after = {key for key, _ in await large.match("fox", languages=["en"], limit=ROWS)}
    assert after - before == {"other.0", "other.1", "other.2"}
    assert before - after == {f"d.{at}" for at in range(1, ROWS, 60)}
    assert (await large.nearest(units(3, seed=5)[1], limit=1))[0][0] == "other.1"


async def test_every_one_of_many_quick_writes_is_seen(large: LanceIndex) -> None:
    for at in range(12):
        await large.upsert(made(1, name=f"quick{at}"), vectors=units(1, seed=100 + at))
        found = await large.nearest(units(1, seed=100 + at)[0], limit=1)
        assert found[0][0] == f"quick{at}.0"


async def test_a_replaced_chunk_answers_with_its_new_content(large: LanceIndex) -> None:
    await large.upsert([replace(made(1)[0], text="a heron")], vectors=units(1, seed=4))
    assert await large.match("heron", languages=["en"], limit=5) != []
    found = await large.nearest(units(1, seed=4)[0], limit=2)
    assert [key for key, _ in found].count("d.0") == 1
    assert found[0][0] == "d.0"


async def test_optimizing_leaves_the_copy_valid(large: LanceIndex, tmp_path: Path) -> None:
    """Rows move in the table; a process that starts then needs no LanceDB to answer."""
    before = await answers(large)
    await large.optimize()
    assert await answers(large) == before
    assert await asyncio.to_thread(end, process(READER, tmp_path)) == "[]"


async def test_a_small_table_is_copied_after_every_change(
    large: LanceIndex, tmp_path: Path
) -> None:
    await large.delete(["d1"])
    await large.optimize()
    assert await large.build()
    assert await asyncio.to_thread(end, process(READER, tmp_path)) == "[]"


async def test_many_changes_of_a_large_table_call_for_a_new_copy(
    large: LanceIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.backends.indexes.lancedb.index.QUICKLY_COPIED", 1000)
    old = only_file(tmp_path)
    await large.delete(["d1"])
    assert not await large.needs_build()
    await large.delete([f"d{at}" for at in range(10)])
    before = await answers(large)
    assert await large.needs_build()
    assert await large.build()
    assert only_file(tmp_path) != old
    assert not await large.needs_build()
    after = await answers(large)
    assert after[0] == before[0]


async def test_searches_go_on_while_another_copy_is_made(large: LanceIndex, tmp_path: Path) -> None:
    await large.delete([f"d{at}" for at in range(10)])
    other = opened(tmp_path)
    expected = await answers(large)
    building = asyncio.create_task(other.build())
    rounds = 0
    while not building.done() or rounds < 3:
        seen = await asyncio.gather(*(answers(large) for _ in range(8)))
        assert all(each[0] == expected[0] for each in seen)
        rounds += 1
    assert await building
    other.close()


async def test_a_library_that_has_become_small_loses_its_copy(
    index: LanceIndex, tmp_path: Path
) -> None:
    await index.upsert(made(120), vectors=units(120))
    assert await index.build()
    await index.delete([f"d{at}" for at in range(40)])
    await index.optimize()
    assert files(tmp_path) == []
    assert len(await index.match("fox", languages=["en"], limit=99)) == 40


async def test_a_dropped_index_takes_its_copy_along(large: LanceIndex, tmp_path: Path) -> None:
    await large.drop()
    assert files(tmp_path) == []
    await large.upsert(made(2, name="new"), vectors=units(2))
    assert len(await large.match("fox", languages=["en"], limit=99)) == 2


async def test_with_too_much_to_catch_up_on_the_table_answers(
    large: LanceIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.backends.indexes.snapshot.reader.MOST_LATER", 5)
    await large.upsert(made(9, name="late"), vectors=units(9, seed=3))
    assert (await large.nearest(units(9, seed=3)[8], limit=1))[0][0] == "late.8"
    assert len(await large.match("fox", languages=["en"], limit=2 * ROWS)) == ROWS + 9
    assert await large.needs_build()


# --- harmless ---------------------------------------------------------------------------------


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def altered(file: Path) -> None:
    with file.open("r+b") as opened_file:
        opened_file.seek(file.stat().st_size * 2 // 3)
        opened_file.write(b"\xff" * 4096)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def lost(file: Path) -> None:
    file.unlink()


def no_manifest(file: Path) -> None:
    scan_file.manifest_path(file.parent, TABLE).write_text("{")


@pytest.mark.parametrize("harm", [cut, altered, emptied, lost, no_manifest])
async def test_a_damaged_copy_counts_as_none_and_is_made_anew(
    large: LanceIndex, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    expected = await answers(large)
    large.close()
    harm(only_file(tmp_path))
    other = opened(tmp_path)
    assert (await answers(other))[0] == expected[0]
    assert await other.needs_build()
    assert await other.build()
    assert await answers(other) == expected
    assert only_file(tmp_path)
    other.close()


@pytest.mark.parametrize(
    "at", ["before build search copy", "sync", "charge", "swap", "after build search copy"]
)
async def test_killed_while_it_is_made_it_does_no_harm(
    index: LanceIndex, tmp_path: Path, at: str
) -> None:
    await index.upsert(made(300), vectors=units(300))
    expected = await answers(index)
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", BUILDER, str(tmp_path), at],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (await answers(index))[0] == expected[0]
    await index.build()
    assert (await answers(index))[0] == expected[0]
    assert only_file(tmp_path)


def test_a_segment_without_rows_finds_nothing() -> None:
    none = rows(made(1), vectors=units(1)).slice(0, 0)
    vectors = np.empty((0, WIDE), np.float32)
    segment = Segment({**columns_to_arrays(none), "vectors": vectors})
    found, _scores = segment.nearest(units(1)[0], limit=5, among=None)
    assert found.tolist() == []
    assert segment.rows_of(["d.0"]) == {}


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
