"""Every sentence of the sample collection, cited and opened again."""

from __future__ import annotations

from pathlib import Path

from tests.support.cite_everything import cite_everything

ROOT = Path(__file__).parents[2]


async def test_every_citation_of_the_sample_resolves(tmp_path: Path) -> None:
    sources = [ROOT / "examples" / "hf-course", ROOT / "tests" / "fixtures"]
    total, broken = await cite_everything(tmp_path / "home", sources)
    assert not broken
    assert total > 1500
