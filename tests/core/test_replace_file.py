"""Files that are written whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quoth.core.replace_file import replacing


def test_a_file_is_replaced_at_the_end_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "new" / ("n" * 250)
    with replacing(path) as draft:
        draft.write_text("one", "utf-8")
        assert not path.exists()
    assert path.read_text("utf-8") == "one"
    assert list(path.parent.iterdir()) == [path]


def test_after_an_error_the_file_is_as_before_without_a_draft(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("before", "utf-8")

    def fail() -> None:
        with replacing(path) as draft:
            draft.write_text("half", "utf-8")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert path.read_text("utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_threads_may_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "notes"

    def write(number: int) -> None:
        with replacing(path) as draft:
            draft.write_text(str(number) * 1000, "utf-8")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(200)))
    assert len(set(path.read_text("utf-8"))) <= 3
    assert list(tmp_path.iterdir()) == [path]
