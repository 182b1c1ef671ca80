"""Killing quoth at a chosen store operation, and looking at what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from quoth.bootstrap import IndexPool
from quoth.core.settings import Settings
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database

FILES = 5
LINES = 30


def write_files(folder: Path) -> Path:
    """A folder of small files, each with words of its own."""
    folder.mkdir()
    for number in range(FILES):
        lines = [
            f"Paragraph {line} of file {number} speaks of topic{number} and word{line}, at length."
            for line in range(LINES)
        ]
        (folder / f"file{number}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    return folder


def add(
    home: Path, source: Path, *, crash_at: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `quoth add` in a process of its own, killed at the n-th store operation if wanted."""
    environment = {**os.environ, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake"}
    environment["QUOTH_CHUNK_TOKENS"] = "64"
    if crash_at is not None:
        environment["QUOTH_CRASH_AT"] = str(crash_at)
    return subprocess.run(
        [sys.executable, "-m", "quoth", "--json", "add", str(source)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


async def left_behind(home: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Chunks per document, as the catalogue and as the index has them."""
    settings = Settings(home=home)
    catalogue = Catalogue(open_database(home / "catalogue.sqlite"), tenant=settings.tenant)
    indexes = IndexPool(settings, dimension=64, on_operation=lambda _name: None)
    try:
        collection = catalogue.find_collection("default")
        if collection is None:
            return {}, {}
        index = indexes(collection.table)
        stored = dict(await index.document_ids())
        ready: dict[str, int] = {}
        for document in catalogue.documents(collection):
            if document.status != "ready":
                continue
            chunks = catalogue.document_chunks(document.document_id)
            vectors = await index.vectors([chunk.chunk_id for chunk in chunks])
            assert len(chunks) == document.chunks, "a ready document lacks chunks"
            assert set(vectors) == {chunk.chunk_id for chunk in chunks}, "a chunk has no vector"
            assert all(abs(float(row @ row) - 1) < 1e-3 for row in vectors.values())
            ready[document.document_id] = len(chunks)
        return ready, stored
    finally:
        indexes.close()
        catalogue.close()


async def kill_and_recover(home: Path, source: Path, *, crash_at: int) -> bool:
    """Kill an add at an operation, rerun it, and check that nothing is lost, twice or orphaned.

    Gives False when the add ended before it came to that operation.
    """
    killed = add(home, source, crash_at=crash_at)
    if killed.returncode == 0:
        return False
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before, stored = await left_behind(home) if (home / "catalogue.sqlite").exists() else ({}, {})
    assert all(stored.get(key) == count for key, count in before.items()), "committed and lost"
    again = add(home, source)
    assert again.returncode == 0, again.stderr
    documents = json.loads(again.stdout)
    assert len(documents) == FILES
    assert {each["status"] for each in documents} <= {"ready", "unchanged"}
    unchanged = {each["document_id"] for each in documents if each["status"] == "unchanged"}
    assert set(before) <= unchanged, "what was committed was done again"
    after, stored = await left_behind(home)
    assert len(after) == FILES
    assert stored == after, "the index holds something twice, or an orphan"
    return True
