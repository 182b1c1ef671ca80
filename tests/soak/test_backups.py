"""Backups, damage, full disks and upgrades in the numbers that take minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.test_backup import back_up_while_adding
from tests.store.test_damage import flip_bytes
from tests.store.test_full_disk import ROOMS, fill_up
from tests.store.test_migrations import ask_libraries
from tests.support.old_catalogues import VERSIONS

pytestmark = pytest.mark.soak


async def test_backups_while_a_thousand_documents_are_added(tmp_path: Path) -> None:
    counts = await back_up_while_adding(tmp_path, files=1000, backups=6)
    # Backups of what is not begun, or done, prove little.
    assert sum(0 < each < 1000 for each in counts) >= 3, counts


async def test_a_flipped_byte_in_each_of_thirty_files(tmp_path: Path) -> None:
    await flip_bytes(tmp_path, files=30)


@pytest.mark.parametrize("room", ROOMS)
async def test_a_disk_that_is_full_at_twenty_points(tmp_path: Path, room: int) -> None:
    await fill_up(tmp_path, room=room)


async def test_libraries_of_every_version_answer_alike(tmp_path: Path) -> None:
    await ask_libraries(tmp_path, versions=VERSIONS)
