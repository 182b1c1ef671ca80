"""Killed with SIGKILL in the middle of an ingest; every step is in tests/soak."""

from __future__ import annotations

from pathlib import Path

from tests.support.killed_process import kill_and_recover, write_files


async def test_a_killed_add_loses_nothing(tmp_path: Path) -> None:
    source = write_files(tmp_path / "files")
    assert await kill_and_recover(tmp_path / "home", source, crash_at=17)
