"""Ten thousand odd requests of three tenants: no byte of one reaches another."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from tests.interfaces.http.test_canaries import log, play

__all__ = ["log"]


@pytest.mark.soak
async def test_three_tenants_and_ten_thousand_odd_requests(tmp_path: Path, log: StringIO) -> None:
    found = await play(tmp_path, log, rounds=10_000, seed=7)
    assert found[200] > 3_000
