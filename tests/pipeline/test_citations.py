"""Every sentence of talks and of one file of each format, cited and opened again.

The whole sample collection, and scans, are in tests/soak.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.ingest.readers import ocr
from tests.support.cite_everything import cite_everything

ROOT = Path(__file__).parents[2]


async def test_every_citation_of_every_format_resolves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "PROGRAM", "no-such-program")
    sources = [ROOT / "examples" / "hf-course" / "talks", ROOT / "tests" / "fixtures"]
    total, broken = await cite_everything(tmp_path / "home", sources)
    assert not broken
    assert total > 700
