"""Commands that go on until a signal: `quoth worker` and `quoth watch`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.upload_service import drained, open_quickly, send


async def test_a_process_takes_in_uploads_and_ends_when_told(tmp_path: Path) -> None:
    environment = {**os.environ, "QUOTH_HOME": str(tmp_path), "QUOTH_EMBEDDER": "fake"}
    async with open_quickly(tmp_path) as tenants:
        await send(tenants, "Bees make honey.", name="bees.txt", tenant="ada")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quoth", "worker", "--workers", "2"),
            env={**environment, "QUOTH_CHUNK_TOKENS": "64"},
            stderr=asyncio.subprocess.PIPE,
        )
        (task,) = await drained(tenants, tenant="ada", within_s=60)
        assert task.state == "ready"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            _out, said = await process.communicate()
        assert process.returncode == 0
        assert b"Stopped." in said
        (document,) = await tenants.engine("ada").documents()
        assert document.title == "bees"


@pytest.mark.parametrize("command", [("watch",), ("add", "--watch")])
async def test_a_folder_is_watched_until_a_signal(tmp_path: Path, command: tuple[str, ...]) -> None:
    pytest.importorskip("watchfiles")
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "bees.txt").write_text("Bees make honey.")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quoth", *command, str(folder)),
        env={**os.environ, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake"},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    async with asyncio.timeout(60):
        await _line(process.stderr, b"Watching.")
        (folder / "wasps.txt").write_text("Wasps make paper.")
        await _line(process.stderr, b"wasps")
        (folder / "bees.txt").unlink()
        await _line(process.stderr, b"removed    bees")
        process.send_signal(signal.SIGINT)
        assert b"Stopped." in await process.stderr.read()
        await process.wait()


async def _line(stream: asyncio.StreamReader, wanted: bytes) -> None:
    """Read up to a line that holds the words."""
    while wanted not in (line := await stream.readline()):
        assert line, f"The process ended before it said {wanted!r}."
