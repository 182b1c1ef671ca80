"""Passages of one chunk each, whose stored text is given."""

from __future__ import annotations

from itertools import pairwise

from quoth.core.types import Chars, Chunk, Document, Passage, SpanLocator


def document_at(source: str, *, url: str | None = None, seconds: float | None = None) -> Document:
    """Make a document whose content does not matter."""
    return Document("d", "Source", "text", "ready", source=source, url=url, seconds=seconds)


def passage(
    text: str,
    *,
    number: int = 1,
    title: str = "",
    language: str = "en",
    score: float = 1.0,
    start: int = 0,
    cues: bool = False,
) -> Passage:
    """Return a passage of document ``d{number}``; with ``cues`` every line has its own locator."""
    document = Document(f"d{number}", title or f"Source {number}", "text", "ready")
    edges = [0, len(text)]
    if cues:
        edges = [0, *(at + 1 for at, each in enumerate(text) if each == "\n"), len(text)]
    places = tuple(
        SpanLocator(start + a, start + b, Chars(start + a, start + b))
        for a, b in pairwise(edges)
        if b > a
    )
    chunk = Chunk(
        chunk_id=f"c{number}",
        document_id=document.document_id,
        ordinal=0,
        start=start,
        end=start + len(text),
        text=text,
        locator=Chars(start, start + len(text)),
        kind="text",
        places=places,
        language=language,
    )
    return Passage(number, document, (chunk,), (chunk.chunk_id,), score)
