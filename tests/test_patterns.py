"""No regular expression can be made to search for ever by a text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.conftest import ROOT

KNOWN_LEAST = 400


def slow_patterns(
    *, characters: int, most_ms: int, step: int = 1
) -> tuple[list[dict[str, Any]], int]:
    """What is slower on texts of that length, and how many patterns were looked at."""
    said = subprocess.run(
        [sys.executable, "-m", "tests.support.patterns", str(characters), str(most_ms), str(step)],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=500,
    )
    *slow, last = [json.loads(line) for line in said.stdout.splitlines()]
    return slow, last["patterns"]


def test_no_pattern_is_slow_on_four_thousand_characters() -> None:
    """Quadratic time would be ten times over this limit; `make soak` tries every text."""
    slow, patterns = slow_patterns(characters=4_000, most_ms=30, step=60)
    assert slow == []
    assert patterns >= KNOWN_LEAST
