"""Every regular expression on ten texts that are made to be slow for it: its time grows with the
length and no faster, on a machine of any speed."""

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
MOST_GROWTH = 8.0
"""Between four times, which is linear in a text four times as long, and sixteen, which is not."""


def slow_patterns(
    *, characters: int, most_ms: int, most_growth: float
) -> tuple[list[dict[str, Any]], int]:
    """What is slower than that on texts of that length and on a quarter of them, and how many
    patterns were looked at."""
    numbers = [str(characters), str(most_ms), str(most_growth)]
    said = subprocess.run(
        [sys.executable, "-m", "tests.support.patterns", *numbers],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=3600,
    )
    *slow, last = [json.loads(line) for line in said.stdout.splitlines()]
    return slow, last["patterns"]


def test_the_time_of_every_pattern_grows_with_the_length_of_a_text() -> None:
    slow, patterns = slow_patterns(characters=100_000, most_ms=100, most_growth=MOST_GROWTH)
    assert slow == []
    assert patterns >= KNOWN_LEAST
