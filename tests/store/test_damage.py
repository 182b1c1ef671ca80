"""A byte that flips on the disk is never answered from: what is damaged is seen, and built anew."""

from __future__ import annotations

import random
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import numpy as np
import pytest

from quoth.backends.late_interaction.token_store import TokenStore
from quoth.core.errors import IndexCorrupt
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from tests.support.killed_process import write_files
from tests.support.made_documents import chunk
from tests.support.small_library import open_tour

FILES = 5
WORDS = ("word3", "topic2 word7", "paragraph of file 4", "at length")

Found = list[list[tuple[str, float]]]


def library(home: Path) -> AbstractAsyncContextManager[Engine]:
    settings = Settings(home=home, embedder="fake", chunk_tokens=32, history="off")
    return open_tour(home, settings=settings, stored=True)


async def search(engine: Engine) -> Found:
    """Every hit of some searches, with its score."""
    return [
        [(hit.chunk_id, round(hit.score, 9)) for hit in await engine.search(each)] for each in WORDS
    ]


async def add(home: Path, source: Path) -> None:
    async with library(home) as engine:
        steps = [step async for step in engine.add([source])]
        assert {each.status for each in steps if isinstance(each, Document)} == {"ready"}
        await reindex(engine)
    in_order_of_the_table(home)


def in_order_of_the_table(home: Path) -> None:
    """Have the next search build the segments, as it does after damage: equal hits keep a place."""
    for manifest in (home / "index").rglob("*.scan.json"):
        manifest.unlink()


async def reindex(engine: Engine) -> None:
    async for _step in engine.reindex():
        pass


async def after_damage(home: Path) -> Found | None:
    """What a new process finds; None if it says that the index is damaged."""
    async with library(home) as engine:
        try:
            return await search(engine)
        except IndexCorrupt:
            return None


def flip(file: Path, dice: random.Random) -> bytes:
    """Change one byte of a file; gives what it was."""
    content = file.read_bytes()
    at = dice.randrange(len(content))
    file.write_bytes(
        content[:at] + bytes([content[at] ^ dice.randrange(1, 256)]) + content[at + 1 :]
    )
    return content


@pytest.mark.parametrize("files", [FILES, pytest.param(30, marks=pytest.mark.soak)])
async def test_one_flipped_byte_is_never_silently_wrong(tmp_path: Path, files: int) -> None:
    home, source = tmp_path / "home", write_files(tmp_path / "files")
    lines = (f"Paragraph {line} speaks of word{line % 9}, at length." for line in range(1500))
    (source / "long.txt").write_text("\n\n".join(lines))
    await add(home, source)
    right = await after_damage(home)
    assert right is not None
    assert all(right)
    dice = random.Random(7)
    there = [each for each in sorted((home / "index").rglob("*")) if each.is_file()]
    there = [each for each in there if each.suffix != ".lock" and each.stat().st_size]
    for file in dice.sample(there, min(files, len(there))):
        if not file.exists():
            continue  # the search before has built its segment again, under another name
        whole = flip(file, dice)
        assert await after_damage(home) in (None, right), file
        if file.exists():
            file.write_bytes(whole)
    data = next(iter(sorted((home / "index").rglob("data/*.lance"))))
    flip(data, dice)
    async with library(home) as engine:
        await reindex(engine)
    in_order_of_the_table(home)
    assert await after_damage(home) == right


async def test_a_damaged_index_is_not_added_to_and_the_doctor_names_it(tmp_path: Path) -> None:
    home, source = tmp_path / "home", write_files(tmp_path / "files")
    await add(home, source)
    flip(next(iter(sorted((home / "index").rglob("data/*.lance")))), random.Random(1))
    (source / "more.txt").write_text("More of it.")
    async with library(home) as engine:
        health = await engine.health()
        (said,) = [each for each in health.checks if each.name == "index"]
        assert not said.ok
        assert "reindex" in (said.advice or "")
        with pytest.raises(IndexCorrupt, match="quoth reindex"):
            _ = [step async for step in engine.add([source])]
        await reindex(engine)
        steps = [step async for step in engine.add([source])]
        statuses = [each.status for each in steps if isinstance(each, Document)]
    assert sorted(set(statuses)) == ["ready", "unchanged"]


def test_damaged_token_vectors_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    rows = np.arange(40, dtype=np.uint8).reshape(10, 4)
    chunks = [chunk("d1", at) for at in range(3)]
    parts = {0: rows[:3], 1: rows[3:9], 2: rows[9:]}
    store = TokenStore(tmp_path, width=4)
    store.put("d1", parts)
    (file,) = tmp_path.rglob("*.tokens")
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :])
        found = TokenStore(tmp_path, width=4).get(chunks)
        assert len(found) < 3
        for key, value in found.items():
            assert np.array_equal(value, parts[int(key[-1])])
    file.write_bytes(whole)
    assert len(TokenStore(tmp_path, width=4).get(chunks)) == 3


def test_token_vectors_of_the_time_before_checksums_are_still_read(tmp_path: Path) -> None:
    store = TokenStore(tmp_path, width=4)
    store.put("d1", {0: np.arange(8, dtype=np.uint8).reshape(2, 4)})
    (file,) = tmp_path.rglob("*.tokens")
    head = b"QTOK1\0\0\0" + np.array([1, 4, 2], "<u4").tobytes()
    file.write_bytes(head + bytes(range(8)))
    (found,) = TokenStore(tmp_path, width=4).get([chunk("d1")]).values()
    assert found.tobytes() == bytes(range(8))
