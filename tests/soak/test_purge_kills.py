"""A purge that is killed at any store operation loses nothing, and the next one finishes it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.operations.test_purge import CANARY, OTHER, SECRET, _holding
from tests.support.cli import quoth_process

MOST = 60


@pytest.mark.soak
def test_a_killed_purge_loses_nothing_and_is_finished_by_the_next(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name, text in (("secret.md", SECRET), ("other.md", OTHER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    added = quoth_process(home, "add", str(tmp_path), "--json")
    assert added.code == 0, added.err
    (key,) = [each["document_id"] for each in added.json if "secret" in each["source"]]
    assert quoth_process(home, "ask", f"Who carved the {CANARY}?").code == 0
    assert quoth_process(home, "remove", key).code == 0
    killed = 0
    for step in range(1, MOST):
        done = quoth_process(home, "purge", QUOTH_CRASH_AT=str(step))
        if done.code == 0:
            break
        killed += done.code == -9
        said = quoth_process(home, "ask", "Who built the bridge of Bassano?", "--json")
        assert "Palladio" in said.json["text"], step
        _grow_old(home)
    assert killed >= 5
    assert quoth_process(home, "purge").code == 0
    assert _holding(home) == []
    assert quoth_process(home, "doctor").code == 0


def _grow_old(home: Path) -> None:
    """Let what the killed process left be older than an index that is being made."""
    hour_ago = time.time() - 3600
    for path in home.glob("index/*/*"):
        for each in (path, *path.rglob("*")):
            os.utime(each, (hour_ago, hour_ago))
