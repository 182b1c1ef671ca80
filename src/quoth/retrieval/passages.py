"""From ranked chunks to what is shown and read: hits with text and place, numbered passages."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.types import Candidate, Hit, Passage
from quoth.retrieval.neighbours import widen
from quoth.store.rows import ChunkContext
from quoth.text.locators import link


def hit_of(each: Candidate, *, rank: int, around: ChunkContext) -> Hit:
    """Give a ranked chunk its text, its place and the link that opens it."""
    chunk = around.chunks[each.chunk_id]
    document = around.documents[chunk.document_id]
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
    ranking: Sequence[Candidate], *, around: ChunkContext, window: int
) -> tuple[Passage, ...]:
    """Widen ranked chunks by their neighbours and number what comes out, best first.

    Hits whose neighbourhoods overlap become one passage with the best one's score.
    """
    known = {(each.document_id, each.ordinal): each for each in around.chunks.values()}
    hits = [around.chunks[each.chunk_id] for each in ranking]
    spans = widen(
        [(hit.document_id, hit.ordinal) for hit in hits],
        window=window,
        sections={place: (*each.section, each.segment) for place, each in known.items()},
    )
    scores = {each.chunk_id: each.score for each in ranking}
    likely = bool(ranking) and all(each.score_kind == "probability" for each in ranking)
    passages = []
    for number, (document_id, first, last) in enumerate(spans, start=1):
        within = tuple(known[document_id, ordinal] for ordinal in range(first, last + 1))
        ids = tuple(each.chunk_id for each in within if each.chunk_id in scores)
        score = max(scores[key] for key in ids)
        document, chance = around.documents[document_id], score if likely else None
        passages.append(Passage(number, document, within, ids, score, chance))
    return tuple(passages)
