"""LanceDB between processes, at sizes where a vector index pays, and without room to write."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.core.errors import RetrievalError
from quoth.core.protocols import Matrix
from quoth.core.types import Chars, Chunk

ROOT = Path(__file__).parents[2]
WIDE = 64
ROWS = 400
CHUNK = Chunk("c", "d", 0, 0, 3, "fox", Chars(0, 3), "text")

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.backends.test_lancedb_index import made, units
from quoth.backends.indexes.lancedb.index import LanceIndex
async def write(name, batches):
    index = LanceIndex(Path(sys.argv[1]), "c_1", dimension=64)
    for at in range(batches):
        await index.upsert(made(5, name=f"{name}{at}"), vectors=units(5, seed=at))
    index.close()
asyncio.run(write(sys.argv[2], int(sys.argv[3])))
"""

FILLER = """
import asyncio, resource, sys
from pathlib import Path
from tests.backends.test_lancedb_index import made, units
from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.core.errors import StorageFull
async def fill():
    index = LanceIndex(Path(sys.argv[1]), "c_1", dimension=64)
    await index.upsert(made(5, name="before"), vectors=units(5))
    none = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, none[1]))
    try:
        await index.upsert(made(400, name="lost"), vectors=units(400))
    except StorageFull as error:
        sys.stdout.write(str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, none)
    await index.upsert(made(400, name="after"), vectors=units(400))
    index.close()
asyncio.run(fill())
"""


def units(rows: int, *, seed: int = 7) -> Matrix:
    """Unit vectors that are always the same."""
    drawn = np.random.default_rng(seed).standard_normal((rows, WIDE)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def made(rows: int, *, name: str = "d") -> list[Chunk]:
    """The chunks of one document."""
    return [
        replace(CHUNK, chunk_id=f"{name}.{at}", document_id=name, ordinal=at, text=f"fox w{at % 7}")
        for at in range(rows)
    ]


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(started: subprocess.Popen[str]) -> str:
    out, err = started.communicate(timeout=120)
    assert started.returncode == 0, err
    return out


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[LanceIndex]:
    opened = LanceIndex(tmp_path, "c_1", dimension=WIDE)
    yield opened
    opened.close()


# --- processes --------------------------------------------------------------------------------


async def test_two_processes_write_at_once_and_lose_nothing(
    index: LanceIndex, tmp_path: Path
) -> None:
    """They make the table, too, and a third that had it open sees all of it."""
    started = [process(WRITER, tmp_path, name, 8) for name in "ab"]
    for each in started:
        await asyncio.to_thread(end, each)
    assert await index.document_ids() == {f"{name}{at}": 5 for name in "ab" for at in range(8)}
    assert len(await index.match("fox", languages=["en"], limit=200)) == 80


async def test_a_writer_waits_for_its_turn(index: LanceIndex, tmp_path: Path) -> None:
    await index.upsert(made(1), vectors=units(1))
    lock = FileLock(tmp_path / "c_1.lock")
    lock.acquire()
    waiting = asyncio.create_task(index.upsert(made(1, name="e"), vectors=units(1)))
    await asyncio.sleep(0.1)
    assert await index.document_ids() == {"d": 1}
    lock.release()
    await waiting
    assert await index.document_ids() == {"d": 1, "e": 1}


async def test_who_is_cancelled_in_the_queue_does_not_hold_up_the_others(
    index: LanceIndex, tmp_path: Path
) -> None:
    await index.upsert(made(1), vectors=units(1))
    lock = FileLock(tmp_path / "c_1.lock")
    lock.acquire()
    waiting = asyncio.create_task(index.upsert(made(1, name="e"), vectors=units(1)))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    lock.release()
    async with asyncio.timeout(5):
        await index.upsert(made(1, name="f"), vectors=units(1))
    assert await index.document_ids() == {"d": 1, "f": 1}


async def test_every_write_is_announced(tmp_path: Path) -> None:
    told: list[str] = []
    index = LanceIndex(tmp_path, "c_1", dimension=WIDE, on_operation=told.append)
    await index.upsert(made(2), vectors=units(2))
    await index.delete(["d"])
    await index.optimize()
    index.close()
    names = ["create index", "upsert chunks", "delete chunks", "optimize index"]
    assert told == [f"{when} {name}" for name in names for when in ("before", "after")]


# --- many rows --------------------------------------------------------------------------------


@pytest.fixture
async def large(index: LanceIndex) -> LanceIndex:
    await index.upsert(made(ROWS), vectors=units(ROWS))
    return index


async def test_a_large_table_wants_segments_until_they_are_built(
    large: LanceIndex, tmp_path: Path
) -> None:
    index = large
    assert not await index.needs_build()
    SegmentStore(tmp_path, "c_1").remove()
    assert await index.needs_build()
    assert await index.build()
    assert not await index.needs_build()
    assert not await index.build()


async def test_of_two_that_build_one_does(large: LanceIndex, tmp_path: Path) -> None:
    SegmentStore(tmp_path, "c_1").remove()
    assert sorted(await asyncio.gather(large.build(), large.build())) == [False, True]


async def test_rows_that_came_later_are_found_before_and_after_optimizing(
    large: LanceIndex,
) -> None:
    vector = units(1, seed=9)
    await large.upsert(made(1, name="late"), vectors=vector)
    for _ in range(2):
        assert (await large.nearest(vector[0], limit=1))[0][0] == "late.0"
        await large.optimize()


# --- failures ---------------------------------------------------------------------------------


async def test_no_room_is_said_so_and_takes_nothing(index: LanceIndex, tmp_path: Path) -> None:
    out = await asyncio.to_thread(end, process(FILLER, tmp_path))
    assert "no room left" in out
    assert await index.document_ids() == {"before": 5, "after": 400}


async def test_lost_files_are_a_retrieval_error_with_the_way_out(
    index: LanceIndex, tmp_path: Path
) -> None:
    await index.upsert(made(5), vectors=units(5))
    for file in (tmp_path / "c_1.lance" / "data").iterdir():
        file.unlink()
    SegmentStore(tmp_path, "c_1").remove()
    other = LanceIndex(tmp_path, "c_1", dimension=WIDE)
    with pytest.raises(RetrievalError, match="quoth reindex"):
        await other.nearest(units(1)[0], limit=5)
    other.close()
