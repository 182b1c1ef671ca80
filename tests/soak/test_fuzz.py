"""A thousand damaged files of each format: no child dies, none hangs, the queue goes on."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from quoth.core.errors import DocumentCode
from tests.ingest.test_fuzz import read_all
from tests.support.mutants import FORMATS

pytestmark = pytest.mark.soak
COUNT = 1000


@pytest.mark.parametrize("suffix", FORMATS)
async def test_a_thousand_damaged_files(suffix: str, tmp_path: Path) -> None:
    tally = await read_all(suffix, count=COUNT, folder=tmp_path, workers=2)
    assert tally.read + sum(tally.codes.values()) == COUNT
    assert set(tally.codes) <= set(get_args(DocumentCode))
    assert tally.broken == []
    assert tally.slowest_s < 30
    assert tally.largest_mb < 1024
