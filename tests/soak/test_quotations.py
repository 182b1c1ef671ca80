"""Ten thousand quotations, printed in every manner, each proved by the sentence it quotes."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quoth.core.types import ParsedDocument
from tests.answering.test_span_invariant import readings
from tests.answering.test_verification import MANNERS, unproved

WANTED = 10_000


@pytest.mark.soak
def test_ten_thousand_quotations_are_proved() -> None:
    quoted = 0

    @settings(
        max_examples=1200,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(readings(), st.integers(1, 3))
    def quote(reading: ParsedDocument, width: int) -> None:
        nonlocal quoted
        for manner in sorted(MANNERS):
            wrong, number = asyncio.run(unproved(reading, manner, width=width))
            assert wrong == []
            quoted += number

    quote()
    assert quoted >= WANTED
