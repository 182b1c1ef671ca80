"""A little of what tests/soak sends in great numbers: nothing of it makes the service fail."""

from __future__ import annotations

from pathlib import Path

from tests.support.fuzzing import fuzz


def test_nothing_that_is_sent_is_a_failure_of_the_service(tmp_path: Path) -> None:
    report = fuzz(tmp_path, seed=1, examples=2, phases="fuzzing", checks="not_a_server_error")
    assert not report, report
