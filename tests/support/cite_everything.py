"""Citing every sentence of a library, and opening every citation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quoth.bootstrap import open_engine
from quoth.core.load_settings import load_settings
from quoth.core.types import Document, Passage
from quoth.store.catalogue import Catalogue
from tests.support.citation_checks import check_spans, cite_every_sentence

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
