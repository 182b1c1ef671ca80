"""Answers to structural queries: the content of a page, the summary of a chapter.

Nothing is ranked against the query here, because it names a place. Summaries are made at ingestion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from quoth.answering.answerability import AnswerEvidence
from quoth.answering.extractive.candidates import Quotable
from quoth.answering.extractive.diversify import is_duplicate, reading_order
from quoth.answering.extractive.score import QueryContext
from quoth.answering.extractive.select import Shortlist, Statement, statement_at
from quoth.core.outline import SummarySentence
from quoth.core.plan import Plan
from quoth.core.types import Passage, Query
from quoth.query.subject import only_asks_for_a_place

CERTAIN = AnswerEvidence(coverage=1.0, gap=None, cross_lingual=False)
"""The evidence for an answer by structural lookup: it is at the requested place."""
MIN_STANDALONE_SCORE = 0.8
"""Minimum fitness of a sentence that represents a page."""


def lookup_statements(
    query: Query,
    passages: Sequence[Passage],
    chosen_from: Shortlist,
    *,
    leaves: Sequence[SummarySentence],
    looked_up: bool,
    plan: Plan,
) -> tuple[Statement, ...]:
    """Answer a structural query; return no statements for any other query.

    ``leaves`` are the sentences of the requested summary; ``looked_up`` means that the passages are
    all the content of the place, and little else: a chunk may begin a page before.
    """
    if leaves:
        return summary_statements(leaves, passages)
    if not looked_up or not only_asks_for_a_place(query):
        return ()
    asked = any(filter_.field == "segment" and "qa" in filter_.values for filter_ in plan.filters)
    return centroid_sentences(
        chosen_from.material, max_sentences=plan.max_sentences, questions=asked
    )


def summary_statements(
    leaves: Sequence[SummarySentence], passages: Sequence[Passage]
) -> tuple[Statement, ...]:
    """Make statements of a summary's sentences whose chunks are in the passages.

    Those of several parts get the title of their part as heading.
    """
    held = {
        chunk.chunk_id: (place, chunk)
        for place, passage in enumerate(passages)
        for chunk in passage.chunks
    }
    found = []
    paths = []
    for leaf in leaves:
        if leaf.chunk_id not in held:
            continue
        place, chunk = held[leaf.chunk_id]
        paths.append((passages[place].document.title, *chunk.section))
        text = chunk.text[leaf.start - chunk.start : leaf.end - chunk.start]
        found.append(
            Statement(
                document_id=chunk.document_id,
                chunk_id=chunk.chunk_id,
                start=leaf.start,
                end=leaf.end,
                text=text,
                passage=place,
                score=1.0,
                coverage=1.0,
                cosine=None,
            )
        )
    titles = part_titles(paths)
    return tuple(replace(each, heading=title) for each, title in zip(found, titles, strict=True))


def part_titles(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return for each path the title at which the paths differ; empty if any lacks one.

    Paths come in the order of the source. Titles that recur after others would fragment the text,
    so that no headings are used then.
    """
    depth = 0
    while paths and all(len(path) > depth for path in paths) and len({p[depth] for p in paths}) < 2:
        depth += 1
    titles = [path[depth] if len(path) > depth else "" for path in paths]
    runs = [title for title, _ in groupby(titles)]
    torn = len(runs) != len(set(runs))
    return tuple("" if torn or not all(titles) else title for title in titles)


def centroid_sentences(
    material: QueryContext, *, max_sentences: int, questions: bool = False
) -> tuple[Statement, ...]:
    """Select the most central sentences, in their own order.

    ``questions`` means that questions are requested. A sentence's weight is the mean frequency of
    its words over the sentences of the place (as in SumBasic, Nenkova and Vanderwende 2005), times
    its fitness.
    """
    counts = Counter(stem for stems in material.stems for stem in stems)
    whole = max(1, len(material.stems))

    def weight(place: int) -> float:
        stems = material.stems[place]
        if not stems:
            return 0.0
        mean = sum(counts[stem] for stem in stems) / (len(stems) * whole)
        return mean * material.sentences[place].standalone_score

    places = range(len(material.sentences))
    fit = [place for place in places if _stands_alone(material.sentences[place])]
    if questions:
        fit = [place for place in places if material.sentences[place].question]
    kept: list[int] = []
    for place in sorted(fit or places, key=lambda one: -weight(one)):
        if len(kept) == max_sentences:
            break
        if not any(is_duplicate(material, place, other) for other in kept):
            kept.append(place)
    return tuple(
        statement_at(material, place, score=weight(place), cosine=None)
        for place in reading_order(material, kept)
    )


def _stands_alone(sentence: Quotable) -> bool:
    return (
        not sentence.question
        and not sentence.anaphoric
        and sentence.standalone_score >= MIN_STANDALONE_SCORE
    )
