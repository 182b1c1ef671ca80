"""Killed with SIGKILL in the middle of an ingest, and at every step of one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.killed_process import kill_and_recover, write_files

KILLS = 40


async def test_a_killed_add_loses_nothing(tmp_path: Path) -> None:
    source = write_files(tmp_path / "files")
    assert await kill_and_recover(tmp_path / "home", source, crash_at=17)


@pytest.mark.soak
async def test_forty_kills(tmp_path: Path) -> None:
    source = write_files(tmp_path / "files")
    done = 0
    round_ = 0
    while done < KILLS:
        round_ += 1
        for crash_at in range(1, 200):
            home = tmp_path / f"home{round_}-{crash_at}"
            if not await kill_and_recover(home, source, crash_at=crash_at):
                break
            done += 1
