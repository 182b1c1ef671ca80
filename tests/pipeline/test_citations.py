"""Every sentence of a library, cited and opened again: talks and one file of each format.

The long run adds the whole sample collection, scans, and whatever real files are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from quoth.bootstrap import open_engine
from quoth.core.load_settings import load_settings
from quoth.core.types import Document, Passage
from quoth.ingest.readers import ocr
from quoth.store.catalogue import Catalogue
from tests.support.citation_checks import check_spans, cite_every_sentence

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
WANTED = 10_000
NEIGHBOURS = 3
"""Chunks in a passage, as an answer sees them."""


async def cite_everything(home: Path, sources: Sequence[Path]) -> tuple[int, list[str]]:
    """Add the sources, cite every sentence, and give their number and what does not resolve."""
    settings = load_settings({"home": home, "embedder": "fake"})
    async with open_engine(settings) as engine:
        steps = engine.add(sources)
        documents = [step async for step in steps if isinstance(step, Document)]
        catalogue = engine.parts.catalogue
        total, broken = 0, []
        for document in documents:
            if document.status == "ready":
                cited, faults = _cite(catalogue, document)
                total += cited
                broken += faults
    return total, broken


def _cite(catalogue: Catalogue, document: Document) -> tuple[int, list[str]]:
    chunks = catalogue.document_chunks(document.document_id)
    text = "".join(chunk.text for chunk in chunks)
    passages = [
        Passage(number, document, tuple(chunks[at : at + NEIGHBOURS]), (chunks[at].chunk_id,), 1.0)
        for number, at in enumerate(range(0, len(chunks), NEIGHBOURS), start=1)
    ]
    citations = cite_every_sentence(passages, created_at="2026-01-01T00:00:00+00:00")
    faults = check_spans(citations, lambda _id: text)
    linkless = [each for each in citations if each.link is None]
    return len(citations), [f"{document.title}: {fault}" for fault in [*faults, *linkless]]


async def test_every_citation_of_every_format_resolves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "PROGRAM", "no-such-program")
    sources = [ROOT / "examples" / "hf-course" / "talks", ROOT / "tests" / "fixtures"]
    total, broken = await cite_everything(tmp_path / "home", sources)
    assert not broken
    assert total > 700


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_ten_thousand_citations_resolve(tmp_path: Path) -> None:
    sources = [ROOT / "examples" / "hf-course", ROOT / "tests" / "fixtures"]
    more = [DATA / name for name in ("pdfs", "sicp-lectures", "practical-ai")]
    sources += [folder for folder in more if folder.is_dir()]
    total, broken = await cite_everything(tmp_path / "home", sources)
    assert not broken
    assert total >= (WANTED if len(sources) > 2 else 1500)
