"""Killed with SIGKILL in the middle of an ingest; every step is in tests/soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.killed_process import kill_and_recover, write_files


@pytest.mark.parametrize("crash_at", [5, 17])
async def test_a_killed_add_loses_nothing(tmp_path: Path, crash_at: int) -> None:
    source = write_files(tmp_path / "files")
    assert await kill_and_recover(tmp_path / "home", source, crash_at=crash_at)
