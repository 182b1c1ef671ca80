"""Every regular expression on ten texts of 100 kB that are made to be slow for it."""

from __future__ import annotations

import pytest

from tests.test_patterns import slow_patterns

pytestmark = pytest.mark.soak


def test_no_pattern_is_slow_on_a_hundred_thousand_characters() -> None:
    slow, _patterns = slow_patterns(characters=100_000, most_ms=100)
    assert slow == []
