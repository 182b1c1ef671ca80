"""Every regular expression on ten texts of 100 kB that are made to be slow for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.soak
KNOWN_LEAST = 400


def slow_patterns(*, characters: int, most_ms: int) -> tuple[list[dict[str, Any]], int]:
    """What is slower on texts of that length, and how many patterns were looked at."""
    said = subprocess.run(
        [sys.executable, "-m", "tests.support.patterns", str(characters), str(most_ms)],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=3600,
    )
    *slow, last = [json.loads(line) for line in said.stdout.splitlines()]
    return slow, last["patterns"]


def test_no_pattern_is_slow_on_a_hundred_thousand_characters() -> None:
    slow, patterns = slow_patterns(characters=100_000, most_ms=100)
    assert slow == []
    assert patterns >= KNOWN_LEAST
