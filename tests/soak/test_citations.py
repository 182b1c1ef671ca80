"""Ten thousand citations over the samples, the fixtures and whatever real files are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cite_everything import cite_everything

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
WANTED = 10_000


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_ten_thousand_citations_resolve(tmp_path: Path) -> None:
    sources = [ROOT / "examples" / "hf-course", ROOT / "tests" / "fixtures"]
    more = [DATA / name for name in ("pdfs", "sicp-lectures", "practical-ai")]
    sources += [folder for folder in more if folder.is_dir()]
    total, broken = await cite_everything(tmp_path / "home", sources)
    assert not broken
    assert total >= (WANTED if len(sources) > 2 else 1500)
