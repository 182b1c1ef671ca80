"""Extractive summaries of a document and its parts, built bottom-up.

A tree as in RAPTOR (Sarthi and others, 2024), but along the document's own chapters and with
sentences instead of written summaries, so that every summary is its own evidence. Sections select
from their central chunks, chapters from the sentences of their sections, the document from those of
its chapters. No sentence is embedded: the chunk vectors determine the central chunks, and the words
their central sentences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

import numpy as np

from quoth.core.outline import Heading, Summary, SummarySentence
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk
from quoth.ingest.enrich.chapters import is_front_or_back_matter, tops
from quoth.ingest.enrich.summary_sentences import (
    SummaryCandidate,
    candidates_of,
    document_frequency,
    drop_near_duplicates,
    lexical_centrality,
)

MIN_CHUNKS = 3
"""Chunks of a section that is summed up; a shorter one is soon read."""
FEW_CHUNKS = 3
"""A document without headings that has no more chunks is summed up from each of them."""
MAX_CHUNKS = 6
"""Chunks of a section, or of a chapter or document without any, that are looked at."""
SECTION_SENTENCES = (3, 6)
DOCUMENT_SENTENCES = (5, 8)
"""Fewest and most sentences of a summary, where the text has as many."""
SHARED = 0.5
"""Share of the words that two sentences may have in common."""

LEAD_QUALITY = 0.75
"""Least quality of a sentence that a part may be said to begin with."""

LEAD_SHARE = 0.5
"""Least lexical centrality of it, as a share of the mean."""

_FIRST = 0.1
_NEARNESS = 1.0
_WORDS = 0.5


@dataclass(slots=True)
class _Source:
    """Working state of a document: every chunk is split into sentences at most once."""

    chunks: Sequence[Chunk]
    vectors: Matrix
    cut: dict[int, tuple[SummaryCandidate, ...]] = field(default_factory=dict)

    def candidates(self, place: int) -> tuple[SummaryCandidate, ...]:
        if place not in self.cut:
            self.cut[place] = candidates_of(self.chunks[place], place=place)
        return self.cut[place]

    def lead(self, first: int, last: int) -> SummaryCandidate | None:
        """Return the first self-contained sentence of a part.

        None for what is spoken: a talk begins with greetings.
        """
        if self.chunks[first].kind == "transcript":
            return None
        opening = (each for place in range(first, last + 1)[:2] for each in self.candidates(place))
        return next((each for each in opening if each.quality >= LEAD_QUALITY), None)

    def nearness(self, first: int, last: int) -> Matrix:
        """Return the cosine of each chunk of a part with the centroid of the part."""
        part = self.vectors[first : last + 1]
        middle = part.mean(axis=0)
        length = float(np.linalg.norm(middle)) or 1.0
        found: Matrix = part @ (middle / length)
        return found


def make_summaries(
    chunks: Sequence[Chunk], *, headings: Sequence[Heading], vectors: Matrix
) -> tuple[Summary, ...]:
    """Return the summaries of a document, its chapters, longer sections and segments.

    ``vectors`` has one unit row per chunk. A part without a self-contained sentence, such as a
    table, has no summary.
    """
    if not chunks:
        return ()
    source = _Source(chunks, vectors)
    titled = [heading for heading in headings if heading.path]
    chapters = (
        [heading for heading in tops(titled) if not is_front_or_back_matter(heading)]
        if titled
        else []
    )
    if len(chapters) < 2:
        chapters = []
    found: list[Summary] = []
    groups: list[Sequence[SummaryCandidate]] = []
    leads: list[SummaryCandidate] = []
    places = {(each.path, each.first): at for at, each in enumerate(titled)}
    for chapter in chapters:
        sections = list(_below(chapter, titled, at=places[chapter.path, chapter.first]))
        below, chosen, lead = _chapter(source, chapter, sections)
        if chosen:
            found += [_summary(source, 1, chapter, chosen), *below]
            groups.append(chosen)
            leads += [lead] if lead else []
    last = len(chunks) - 1
    found += _heard(source, headings)
    if not groups:
        one_of = 2 if len(chunks) > FEW_CHUNKS else 1
        groups = _looked_at(source, 0, last, most=DOCUMENT_SENTENCES[1], one_of=one_of)
    chosen = _choose(source, groups, span=(0, last), size=DOCUMENT_SENTENCES, leads=leads)
    if chosen:
        whole = Heading(chunks[0].document_id, (), 0, last)
        found.insert(0, _summary(source, 0, whole, chosen))
    return tuple(found)


def _chapter(
    source: _Source, chapter: Heading, sections: Sequence[Heading]
) -> tuple[list[Summary], Sequence[SummaryCandidate], SummaryCandidate | None]:
    """Return the summaries of a chapter's sections, its own sentences, and its lead."""
    sections = [section for section in sections if not is_front_or_back_matter(section)]
    long = [section for section in sections if section.last - section.first + 1 >= MIN_CHUNKS]
    found: list[Summary] = []
    groups: list[Sequence[SummaryCandidate]] = []
    for each in long:
        within = _looked_at(source, each.first, each.last)
        span = (each.first, each.last)
        lead = _lead(source, within, span=span)
        chosen = _choose(source, within, span=span, size=SECTION_SENTENCES, lead=lead)
        if chosen:
            found.append(_summary(source, 2, each, chosen))
            groups.append(chosen)
    if not groups:
        groups = _looked_at(source, chapter.first, chapter.last)
    span = (chapter.first, chapter.last)
    lead = _lead(source, groups, span=span)
    return found, _choose(source, groups, span=span, size=SECTION_SENTENCES, lead=lead), lead


def _lead(
    source: _Source, groups: Sequence[Sequence[SummaryCandidate]], *, span: tuple[int, int]
) -> SummaryCandidate | None:
    """Return the sentence that a part begins with, unless it is unlike the others."""
    lead = source.lead(*span)
    every = [each for group in groups for each in group]
    if lead is None or not every:
        return None
    common = document_frequency(every)
    mean = fmean(lexical_centrality(each, common) for each in every)
    # Such as a copyright.
    return lead if lexical_centrality(lead, common) >= LEAD_SHARE * mean else None


def _heard(source: _Source, headings: Sequence[Heading]) -> Iterator[Summary]:
    """Return the summaries of the segments of a talk, which have no title."""
    for heading in headings:
        if heading.path or heading.last - heading.first + 1 == len(source.chunks):
            continue
        within = _looked_at(source, heading.first, heading.last)
        chosen = _choose(source, within, span=(heading.first, heading.last), size=SECTION_SENTENCES)
        if chosen:
            yield _summary(source, 2, heading, chosen)


def _below(chapter: Heading, headings: Sequence[Heading], *, at: int) -> Iterator[Heading]:
    """Return the direct subheadings of the heading at this position."""
    for place in range(at + 1, len(headings)):
        each = headings[place]
        if each.first > chapter.last or len(each.path) <= len(chapter.path):
            return
        if len(each.path) == len(chapter.path) + 1:
            yield each


def _looked_at(
    source: _Source, first: int, last: int, *, most: int = MAX_CHUNKS, one_of: int = 3
) -> list[Sequence[SummaryCandidate]]:
    """Divide a part evenly; return the sentences of the most central chunk of each share.

    Only one chunk per share is used: splitting all of them into sentences would dominate the cost.
    """
    nearness = source.nearness(first, last)
    count = min(most, max(1, -(-len(nearness) // one_of)))
    borders = [len(nearness) * step // count for step in range(count + 1)]
    found: list[Sequence[SummaryCandidate]] = []
    for low, high in pairwise(borders):
        for offset in np.argsort(-nearness[low:high], kind="stable")[:2]:
            sentences = source.candidates(first + low + int(offset))
            if sentences:
                found.append(sentences)
                break
    return found


def _choose(
    source: _Source,
    groups: Sequence[Sequence[SummaryCandidate]],
    *,
    span: tuple[int, int],
    size: tuple[int, int],
    lead: SummaryCandidate | None = None,
    leads: Collection[SummaryCandidate] = (),
) -> list[SummaryCandidate]:
    """Select sentences: the lead, then the best of every group, then the best of the rest.

    ``leads`` are the best of their groups.
    """
    every = [each for group in groups for each in group]
    if not every:
        return []
    common = document_frequency(every)
    nearness = source.nearness(*span)
    words = {each.start: lexical_centrality(each, common) for each in every}
    most_words = max(words.values()) or 1.0

    def score(each: SummaryCandidate) -> float:
        near = float(nearness[each.place - span[0]])
        return each.quality * (
            _NEARNESS * near + _WORDS * words[each.start] / most_words + _FIRST * each.first
        )

    ranked = [
        sorted(group, key=lambda each: (each not in leads, -score(each), each.start))
        for group in groups
    ]
    heads = sorted((group[0] for group in ranked), key=lambda each: (-score(each), each.start))
    # A context-dependent sentence is used only where there are too few others.
    rest = sorted(
        (each for group in ranked for each in group[1:]),
        key=lambda each: (-score(each), each.start),
    )
    least, most = size
    if lead is not None:
        heads = [lead, *(each for each in heads if each != lead)]
    chosen = list(drop_near_duplicates(heads, most=most, shared=SHARED))
    if len(chosen) < least:
        chosen = list(drop_near_duplicates([*chosen, *rest], most=least, shared=SHARED))
    return sorted(chosen, key=lambda each: each.start)


def _summary(
    source: _Source, level: int, part: Heading, chosen: Sequence[SummaryCandidate]
) -> Summary:
    chunks = source.chunks
    made = tuple(
        SummarySentence(chunks[each.place].chunk_id, each.start, each.end) for each in chosen
    )
    return Summary(part.document_id, level, part.path, part.first, part.last, made)
