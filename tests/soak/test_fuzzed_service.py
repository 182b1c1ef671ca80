"""The whole service under what schemathesis makes of its description, with all its checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fuzzing import fuzz

pytestmark = pytest.mark.soak


def test_nothing_that_is_sent_fails_a_check(tmp_path: Path) -> None:
    phases = "examples,coverage,fuzzing"
    report = fuzz(tmp_path, seed=1, examples=25, phases=phases, checks="all")
    assert not report, report
