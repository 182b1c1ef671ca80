"""Watched folders: a collection follows its folder, and nothing is lost with a missing one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from quoth.operations import watched as module
from quoth.operations.watched import WatchedFolder, run_watched_folders
from tests.support.service_client import House, served


@asynccontextmanager
async def watching(house: House) -> AsyncIterator[Callable[..., object]]:
    """Watch until the block ends; gives a function that waits for a state."""
    states: list[WatchedFolder] = []
    changed = asyncio.Event()

    def report(state: WatchedFolder) -> None:
        states.append(state)
        changed.set()

    async def until(expected: Callable[[WatchedFolder], bool]) -> WatchedFolder:
        async with asyncio.timeout(20):
            while not (states and expected(states[-1])):
                changed.clear()
                await changed.wait()
        return states[-1]

    task = asyncio.create_task(run_watched_folders(house.tenants, report=report))
    try:
        yield until
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_collection_follows_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.05)
    folder = tmp_path / "talks"
    async with served(tmp_path / "home", watched={"talks": folder}) as house:
        engine = house.tenants.engine("local")

        async def titles() -> list[str]:
            listed = await engine.documents(collection="talks")
            return sorted(each.title for each in listed if each.status == "ready")

        async with watching(house) as until:
            missing = await until(lambda state: state.state == "unavailable")
            assert str(folder) in str(missing.problem)
            folder.mkdir()
            (folder / "wasps.md").write_text("# Wasps\n\nWasps make paper.\n", encoding="utf-8")
            (folder / "bad.pdf").write_bytes(b"%PDF-1.4 this is none")
            first = await until(lambda state: state.state == "watching")
            assert (first.added, first.failed) == (1, 1)
            assert first.failures[0].source.endswith("bad.pdf")
            (folder / "ants.md").write_text("# Ants\n\nAnts farm fungi.\n", encoding="utf-8")
            (folder / "wasps.md").unlink()
            await until(lambda state: state.removed == 1 and state.state == "watching")
            assert await titles() == ["Ants"]
            (folder / "ants.md").rename(tmp_path / "ants.md")
            (folder / "bad.pdf").unlink()
            emptied = await until(lambda state: state.state == "unavailable")
            assert "Nothing was changed" in str(emptied.problem)
            assert await titles() == ["Ants"]
