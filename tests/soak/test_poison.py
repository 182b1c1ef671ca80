"""The same lie five times over, about twenty things."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.test_quality_gate import needs_model
from tests.ingest.test_poison import SUBJECTS, lies_found

pytestmark = pytest.mark.soak


@needs_model
async def test_five_copies_of_twenty_lies_take_one_place_of_five_each(tmp_path: Path) -> None:
    assert len(SUBJECTS) == 20
    assert max(await lies_found(tmp_path, subjects=SUBJECTS)) <= 1
