"""Hits and passages from ranked chunks: text, locator and neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from quoth.core.protocols import Matrix
from quoth.core.types import Candidate, Filter, Hit, Passage
from quoth.query.keywords import names_place
from quoth.store.rows import ChunkContext
from quoth.text.links import link
from quoth.text.locators import is_within_filters

ChunkPosition = tuple[str, int]
"""A document id and the ordinal of one of its chunks."""

Span = tuple[str, int, int]
"""A document id, and the first and the last ordinal of consecutive chunks, both included."""


def build_hit(
    candidate: Candidate, *, rank: int, around: ChunkContext, filters: Sequence[Filter] = ()
) -> Hit:
    """Return the hit of a ranked chunk: its text, locator and link.

    The link opens the first page or second of it that ``filters`` name.
    """
    chunk = around.chunks[candidate.chunk_id]
    document = around.documents[chunk.document_id]
    places = (place.locator for place in chunk.places) if names_place(filters) else ()
    asked = next((each for each in places if is_within_filters(each, filters)), chunk.locator)
    return Hit(
        rank=rank,
        chunk_id=candidate.chunk_id,
        document_id=chunk.document_id,
        document=document.title,
        collection=document.collection,
        text=chunk.text.rstrip(),  # marks count from where the chunk begins
        locator=chunk.locator,
        link=link(asked, document),
        score=candidate.score,
        score_kind=candidate.score_kind,
        legs=candidate.legs,
        start=chunk.start,
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
        (document, first, last), best = spans[-1] if spans else (("", 0, -2), 0)
        touches = document == span[0] and span[1] <= last + 1
        if touches and sections.get((document, last)) == sections.get((span[0], span[1])):
            spans[-1] = ((document, first, max(last, span[2])), min(best, rank))
        else:
            spans.append((span, rank))
    return [span for span, _rank in sorted(spans, key=itemgetter(1))]


def _window(
    hit: ChunkPosition, window: int, sections: Mapping[ChunkPosition, tuple[str, ...]]
) -> Span:
    document, ordinal = hit
    first = last = ordinal
    if hit not in sections:
        return document, first, last
    section = sections[hit]
    while ordinal - first < window and sections.get((document, first - 1)) == section:
        first -= 1
    while last - ordinal < window and sections.get((document, last + 1)) == section:
        last += 1
    return document, first, last


Numbers = npt.NDArray[np.float64]

SHINGLE_WORDS = 4
"""Words per shingle."""
COPY = 0.8
"""Share of a text's shingles contained in another one that makes it a duplicate."""
REWORKED = 0.5
"""The same with similar vectors: a duplicate with another beginning or end."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def collapse_duplicates(
    candidates: Sequence[Candidate],
    *,
    cosine: float,
    vectors: Mapping[str, Matrix],
    texts: Mapping[str, str],
    limit: int | None = None,
) -> tuple[list[Candidate], dict[str, str]]:
    """Keep the best of every group of near-duplicates, in order, up to ``limit``.

    Returns also the kept chunk of each that is left out. A candidate duplicates a better one where
    `COPY` of its word shingles are in the other (containment, Broder 1997), or `REWORKED` of them
    and the cosine of their vectors is at least ``cosine``; one with a number that the other lacks
    differs in content and is no duplicate. 1 disables it. Candidates after the last kept one are
    not compared.
    """
    if cosine >= 1:
        return list(candidates[:limit]), {}
    kept: list[int] = []
    copies: dict[str, str] = {}

    @cache
    def likeness() -> Numbers:
        return _cosines(candidates, vectors)

    @cache
    def bag(chunk_id: str) -> frozenset[str]:
        return frozenset(texts[chunk_id].casefold().split())

    @cache
    def shape(chunk_id: str) -> tuple[frozenset[int], frozenset[str]]:
        text = texts[chunk_id].casefold()
        return _shingles(text), frozenset(_NUMBER.findall(text))

    def same(place: int, other: int) -> bool:
        one, two = candidates[place].chunk_id, candidates[other].chunk_id
        mine = bag(one)
        if len(mine & bag(two)) < REWORKED * len(mine):
            return False  # shared shingles are possible only where the words are shared
        (words, numbers), (others, other_numbers) = shape(one), shape(two)
        if not words or not numbers <= other_numbers:
            return False
        alike = likeness()[place, other] >= cosine
        return len(words & others) >= (REWORKED if alike else COPY) * len(words)

    for place, each in enumerate(candidates):
        if len(kept) == limit:
            break
        twin = next((other for other in kept if same(place, other)), None)
        if twin is None:
            kept.append(place)
        else:
            copies[each.chunk_id] = candidates[twin].chunk_id
    return [candidates[place] for place in kept], copies


def maximal_marginal_relevance(
    candidates: Sequence[Candidate],
    *,
    vectors: Mapping[str, Matrix],
    mmr_lambda: float,
) -> list[Candidate]:
    """Reorder by ``λ · relevance − (1 − λ) · similarity to selected`` (Carbonell, SIGIR 1998).

    λ is the weight of relevance: 1 keeps the order. Relevance is the candidates' score, normalized
    to 0 to 1; similarity is the greatest cosine to a selected one, normalized to 0 to 1 as well,
    since a model's cosines may fill only a narrow band. ``vectors`` are unit rows by chunk id; a
    candidate without one is similar to nothing. Scores stay unchanged.
    """
    if len(candidates) < 2:
        return list(candidates)
    relevance = _spread(np.array([candidate.score for candidate in candidates], dtype=np.float64))
    likeness = _similarity(candidates, vectors)
    nearest = np.zeros(len(candidates))
    open_ = np.ones(len(candidates), dtype=bool)
    picked: list[Candidate] = []
    while len(picked) < len(candidates):
        gains = mmr_lambda * relevance - (1 - mmr_lambda) * nearest
        place = int(np.argmax(np.where(open_, gains, -np.inf)))
        open_[place] = False
        picked.append(candidates[place])
        nearest = np.maximum(nearest, likeness[place])
    return picked


def cap_per_document(
    candidates: Sequence[Candidate], *, document_of: Callable[[str], str], limit: int
) -> list[Candidate]:
    """Keep the first ``limit`` candidates of every document, in order."""
    seen: Counter[str] = Counter()
    kept = []
    for candidate in candidates:
        document = document_of(candidate.chunk_id)
        seen[document] += 1
        if seen[document] <= limit:
            kept.append(candidate)
    return kept


def _cosines(candidates: Sequence[Candidate], vectors: Mapping[str, Matrix]) -> Numbers:
    width = next((row.shape[-1] for row in vectors.values()), 1)
    blank = np.zeros(width, dtype=np.float32)
    rows = [vectors.get(candidate.chunk_id, blank) for candidate in candidates]
    stacked = np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)
    return (stacked @ stacked.T).astype(np.float64)


def _shingles(text: str) -> frozenset[int]:
    """Return the hashes of the four-word shingles; a shorter text is one shingle."""
    words = _WORD.findall(text)
    if len(words) < SHINGLE_WORDS:
        return frozenset([hash(tuple(words))] if words else [])
    runs = zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)
    return frozenset(hash(run) for run in runs)


def _similarity(candidates: Sequence[Candidate], vectors: Mapping[str, Matrix]) -> Numbers:
    known = np.array([candidate.chunk_id in vectors for candidate in candidates])
    pairs = np.outer(known, known) & ~np.eye(len(candidates), dtype=bool)
    cosines = _cosines(candidates, vectors)
    spread = np.zeros_like(cosines)
    if pairs.any():
        spread[pairs] = _spread(cosines[pairs])
    return spread


def _spread(values: Numbers) -> Numbers:
    low, high = values.min(), values.max()
    return np.ones_like(values) if high <= low else (values - low) / (high - low)
