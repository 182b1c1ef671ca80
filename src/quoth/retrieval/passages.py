"""Hits and passages from ranked chunks: text, locator and neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quoth.core.types import Candidate, Hit, Passage
from quoth.store.rows import ChunkContext
from quoth.text.locators import link

ChunkPosition = tuple[str, int]
"""A document id and the ordinal of one of its chunks."""

Span = tuple[str, int, int]
"""A document id, and the first and the last ordinal of consecutive chunks, both included."""


def build_hit(candidate: Candidate, *, rank: int, around: ChunkContext) -> Hit:
    """Return the hit of a ranked chunk: its text, locator and link."""
    chunk = around.chunks[candidate.chunk_id]
    document = around.documents[chunk.document_id]
    return Hit(
        rank=rank,
        chunk_id=candidate.chunk_id,
        document_id=chunk.document_id,
        document=document.title,
        collection=document.collection,
        text=chunk.text.strip(),
        locator=chunk.locator,
        link=link(
            chunk.locator, url=document.url, source=document.source, seconds=document.seconds
        ),
        score=candidate.score,
        score_kind=candidate.score_kind,
        legs=candidate.legs,
    )


def build_passages(
    ranking: Sequence[Candidate], *, around: ChunkContext, window: int
) -> tuple[Passage, ...]:
    """Widen ranked chunks by their neighbours and number the passages, best first.

    Hits with overlapping neighbourhoods become one passage with the best one's score.
    """
    known = {(chunk.document_id, chunk.ordinal): chunk for chunk in around.chunks.values()}
    hits = [around.chunks[candidate.chunk_id] for candidate in ranking]
    spans = widen(
        [(hit.document_id, hit.ordinal) for hit in hits],
        window=window,
        sections={place: (*each.section, each.segment) for place, each in known.items()},
    )
    scores = {candidate.chunk_id: candidate.score for candidate in ranking}
    passages = []
    for number, (document_id, first, last) in enumerate(spans, start=1):
        within = tuple(known[document_id, ordinal] for ordinal in range(first, last + 1))
        ids = tuple(each.chunk_id for each in within if each.chunk_id in scores)
        score = max(scores[key] for key in ids)
        passages.append(Passage(number, around.documents[document_id], within, ids, score))
    return tuple(passages)


def widen(
    hits: Sequence[ChunkPosition], *, window: int, sections: Mapping[ChunkPosition, tuple[str, ...]]
) -> list[Span]:
    """Add up to ``window`` chunks on either side of every hit, as a union of intervals.

    Intervals of one section that overlap or touch become one; none crosses into another section.
    ``sections`` gives the section of every chunk that exists around the hits; a missing ordinal
    counts as the end of the document. The spans are in the order of their best hits.
    """
    spans: list[tuple[Span, int]] = []
    reach = [(_window(hit, window, sections), rank) for rank, hit in enumerate(hits)]
    for span, rank in sorted(reach):
        if spans and _joins(spans[-1][0], span, sections):
            (document, first, last), best = spans[-1]
            spans[-1] = ((document, first, max(last, span[2])), min(best, rank))
        else:
            spans.append((span, rank))
    return [span for span, _rank in sorted(spans, key=lambda each: each[1])]


def _window(
    hit: ChunkPosition, window: int, sections: Mapping[ChunkPosition, tuple[str, ...]]
) -> Span:
    document, ordinal = hit
    section = sections.get(hit)
    first = last = ordinal
    while ordinal - first < window and _within(sections, (document, first - 1), section):
        first -= 1
    while last - ordinal < window and _within(sections, (document, last + 1), section):
        last += 1
    return document, first, last


def _within(
    sections: Mapping[ChunkPosition, tuple[str, ...]],
    place: ChunkPosition,
    section: tuple[str, ...] | None,
) -> bool:
    return place in sections and sections[place] == section


def _joins(left: Span, right: Span, sections: Mapping[ChunkPosition, tuple[str, ...]]) -> bool:
    if left[0] != right[0] or right[1] > left[2] + 1:
        return False
    return sections.get((left[0], left[2])) == sections.get((right[0], right[1]))
