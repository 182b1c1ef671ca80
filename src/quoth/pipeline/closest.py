"""The closest passages that an answer does not cite, each with what comes closest in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from quoth.answering.extractive.candidates import Quotable, is_sound
from quoth.answering.extractive.lookup import overlaps
from quoth.answering.extractive.score import CandidateSentences, Scores
from quoth.answering.extractive.select import Statement
from quoth.core.types import Chunk, Document, Hit
from quoth.pipeline.retrieve import Retrieved
from quoth.text.contents import is_contents, is_index
from quoth.text.locators import link, locate_in

MAX_CLOSEST = 3
"""Passages shown, uncited, below an answer or in place of one."""


def closest_passages(
    found: Retrieved,
    candidates: CandidateSentences,
    *,
    scores: Scores | None,
    skipped: int,
    quoted: Sequence[Statement],
    likely: Sequence[Statement] = (),
    seen: Collection[str] = (),
) -> tuple[Hit, ...]:
    """Return the first hits; with ``scores``, the likeliest sentence of each is marked.

    Before them come those of ``likely``, the statements of an answer that is not sure, which are
    marked; ``seen`` are the chunks that earlier ones quote. Contents and indexes come last.
    ``skipped`` is how many earlier answers showed passages; ``quoted`` is what the answer cites:
    its passages are left out, and there are none below a place or a summary, which is whole. The
    ranks go on behind those, without gaps.
    """
    if quoted and scores is None:
        return ()
    known = {
        chunk.chunk_id: (chunk, passage.document)
        for passage in found.passages
        for chunk in passage.chunks
    }
    before = len(quoted) or MAX_CLOSEST * skipped
    hits = [
        hit
        for hit in found.hits
        if hit.chunk_id not in seen
        and (hit.chunk_id not in known or not overlaps(known[hit.chunk_id][0], quoted))
    ]
    hits.sort(key=lambda hit: is_contents(hit.text) or is_index(hit.text))
    first = _hits_of(likely, hits, known)
    hits = [*first.values(), *(hit for hit in hits if hit.chunk_id not in first)]
    closest: list[Hit] = []
    begin = 0 if seen else MAX_CLOSEST * skipped
    for hit in hits[begin : begin + MAX_CLOSEST]:
        is_open = hit.chunk_id in known and hit.chunk_id not in first
        best = _likeliest(candidates, scores, hit.chunk_id) if is_open else None
        if best is not None:
            if any(best.text in each.text[slice(*each.marked)] for each in closest if each.marked):
                continue
            hit = _marked(hit, best.start, best.end, *known[hit.chunk_id])
        closest.append(replace(hit, rank=before + len(closest) + 1))
    return tuple(closest)


def _likeliest(
    candidates: CandidateSentences, scores: Scores | None, chunk_id: str
) -> Quotable | None:
    """Return the likeliest sentence of a chunk, None without scores or sentences."""
    places = [at for at, each in enumerate(candidates.sentences) if each.chunk_id == chunk_id]
    places = [at for at in places if is_sound(candidates.sentences[at])] or places
    if not places or scores is None:
        return None
    return candidates.sentences[max(places, key=scores.__getitem__)]


def _hits_of(
    statements: Sequence[Statement],
    hits: Sequence[Hit],
    known: Mapping[str, tuple[Chunk, Document]],
) -> dict[str, Hit]:
    """Return the hit of the best sentence of each statement, with what it holds of that marked."""
    by_chunk = {hit.chunk_id: hit for hit in hits if hit.chunk_id in known}
    marked: dict[str, Hit] = {}
    for statement in statements:
        best = statement.marked[0] if statement.marked else statement.start
        for chunk_id, hit in by_chunk.items():
            chunk, document = known[chunk_id]
            if chunk.document_id == statement.document_id and chunk.start <= best < chunk.end:
                found = _marked(hit, statement.start, statement.end, chunk, document)
                marked.setdefault(chunk_id, found)
    return marked


def _marked(hit: Hit, start: int, end: int, chunk: Chunk, document: Document) -> Hit:
    """Return a hit with a part marked, which its link opens; what is outside of it is left out."""
    start, end = max(start, chunk.start), min(end, chunk.end)
    place = locate_in([chunk], start, end)
    marked = start - chunk.start, end - chunk.start
    opens = link(place, document, text=hit.text[slice(*marked)])
    return replace(hit, marked=marked, locator=place, link=opens)
