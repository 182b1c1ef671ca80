"""From ranked chunks to what is shown and read: hits with text and place, numbered passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quoth.catalogue.store import Catalogue
from quoth.places import link
from quoth.retrieval.neighbours import widen
from quoth.types import Candidate, Chunk, Document, Hit, Passage


def hit_of(each: Candidate, *, rank: int, chunk: Chunk, document: Document) -> Hit:
    """Give a ranked chunk its text, its place and the link that opens it."""
    return Hit(
        rank=rank,
        chunk_id=each.chunk_id,
        document_id=chunk.document_id,
        document=document.title,
        collection=document.collection,
        text=chunk.text.strip(),
        locator=chunk.locator,
        link=link(
            chunk.locator, url=document.url, source=document.source, seconds=document.seconds
        ),
        score=each.score,
        score_kind=each.score_kind,
        legs=each.legs,
    )


def passages_of(
    ranking: Sequence[Candidate],
    *,
    chunks: Mapping[str, Chunk],
    documents: Mapping[str, Document],
    catalogue: Catalogue,
    window: int,
) -> tuple[Passage, ...]:
    """Widen ranked chunks by their neighbours and number what comes out, best first.

    Hits whose neighbourhoods overlap become one passage with the best one's score.
    """
    hits = [chunks[each.chunk_id] for each in ranking]
    around = dict.fromkeys(
        (hit.document_id, max(0, hit.ordinal - window), hit.ordinal + window) for hit in hits
    )
    known = {(hit.document_id, hit.ordinal): hit for hit in hits}
    if window:
        found = catalogue.chunk_ranges(list(around))
        known.update(((each.document_id, each.ordinal), each) for each in found)
    spans = widen(
        [(hit.document_id, hit.ordinal) for hit in hits],
        window=window,
        sections={place: each.section for place, each in known.items()},
    )
    scores = {each.chunk_id: each.score for each in ranking}
    passages = []
    for number, (document_id, first, last) in enumerate(spans, start=1):
        within = tuple(known[document_id, ordinal] for ordinal in range(first, last + 1))
        ids = tuple(each.chunk_id for each in within if each.chunk_id in scores)
        score = max(scores[key] for key in ids)
        passages.append(Passage(number, documents[document_id], within, ids, score))
    return tuple(passages)
