"""Two thousand texts that nobody would ask, asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.settings import Settings
from tests.pipeline.test_hostile_filters import ask_all

pytestmark = pytest.mark.soak


async def test_two_thousand_texts_are_questions_or_refused(sample_home: Path) -> None:
    assert await ask_all(Settings(home=sample_home, embedder="fake"), count=2000) >= 500
