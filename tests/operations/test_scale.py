"""What the tasks of a cluster do; tests/soak/test_ray.py runs them on a real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from quoth.bootstrap import ingest_parts, open_engine
from quoth.core.settings import Settings
from quoth.core.types import Chars, Chunk, ParsedDocument
from quoth.ingest.readers.metadata import EMPTY
from quoth.operations import scale
from quoth.operations.scale import Failure, Job, embed_part, read_file
from quoth.pipeline.commit import embed_here
from quoth.testing import HashEmbedder

CHUNK = Chunk("c", "d", 0, 0, 3, "a fox", Chars(0, 3), "text", prefix="Animals")


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """A job as a worker receives it; its components are closed at the end."""
    made = Job("tests", ingest_parts, Settings(home=tmp_path, embedder="fake", threads=1))
    yield made
    runner, parts = scale._opened(made)
    runner.run(parts.readers.close())
    runner.close()
    scale._opened.cache_clear()


def test_a_worker_embeds_and_reads_as_this_process_does(job: Job, tmp_path: Path) -> None:
    rows, tokens = embed_part(job, [CHUNK, CHUNK])
    runner, _ = scale._opened(job)
    here, _ = runner.run(embed_here([CHUNK, CHUNK], embedder=HashEmbedder(), tokens=None))
    assert np.array_equal(rows, here)
    assert tokens == []
    (tmp_path / "note.md").write_text("# Bees\n\nBees dance.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    parsed = read_file(job, tmp_path / "note.md", EMPTY)
    assert isinstance(parsed, ParsedDocument)
    assert parsed.title == "Bees"
    failed = read_file(job, tmp_path / "broken.pdf", EMPTY)
    assert isinstance(failed, Failure)
    assert failed.code == "damaged"


async def test_no_cluster_is_started_before_there_is_work(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    async with open_engine(Settings(home=tmp_path, embedder="fake", on="ray")) as engine:
        assert engine.parts.workers is not None
        assert await engine.documents() == []
