"""The answer without a language model: the best verbatim sentences of the passages.

Plain steps, so that what reads models between them can fail or be left out: `shortlist` by words,
`read_closely` by late interaction, the caller's vectors, `choose_statements`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quoth.answering.extractive.candidates import locator_of, quotable_sentences
from quoth.answering.extractive.diversify import (
    BROAD,
    MARGIN,
    by_aspect,
    quality_penalty,
    reading_order,
    select_diverse,
    speaks_of,
    with_aspects,
)
from quoth.answering.extractive.score import (
    Features,
    QueryContext,
    Scores,
    collect_features,
    late_features,
    total_scores,
    word_features,
)
from quoth.answering.extractive.wording import asking_place
from quoth.answering.generative.sanitize import plain_quotation
from quoth.core.types import (
    Chunk,
    Filter,
    Passage,
    Query,
    Sentence,
)
from quoth.text.locators import is_within_filters

READ_SHORTLIST = 6
"""Sentences worth a vector where late interaction has read them all."""
SHORTLIST = 12
"""Sentences worth a vector where the question's words point the way: about 5 ms each on a core."""
FOREIGN_SHORTLIST = 24
"""Sentences worth a vector where no sentence holds half of the question, as in another language."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence chosen for the answer, with its exact span in the document's stored text.

    ``coverage`` is the part of the question's words it holds, weighed by their rarity, in [0, 1];
    ``cosine`` is its likeness to the question, None where no vectors were made. ``passage`` is
    the place of its passage in the list that was given. ``heading`` is what it stands under in
    the answer, such as the thing that it says something of; it is no part of the statement.
    """

    document_id: str
    chunk_id: str
    start: int
    end: int
    text: str
    passage: int
    score: float
    coverage: float
    cosine: float | None
    cut: bool = False
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The sentences that promise most, best first, and what they were chosen from.

    ``places`` are their places in ``material.sentences``, ``features`` those of all sentences.
    """

    query: Query
    material: QueryContext
    features: Features
    places: tuple[int, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to embed, in the order of `places`, each led by the title it stands under."""
        return tuple(self.material.led_text(place) for place in self.places)


def shortlist(
    query: Query,
    passages: Sequence[Passage],
    *,
    limit: int | None = None,
    filters: Sequence[Filter] = (),
) -> Shortlist:
    """Choose the sentences that are worth a vector, `limit` of them or as many as the case needs.

    Only those count that stand on the pages and in the seconds that ``filters`` name: a passage
    may begin a page before.

    At least half are the best by words, the rest are taken from each passage in turn: that keeps
    a question in another language alive, where no word is shared and only vectors can tell.
    """
    sentences = tuple(
        each
        for each in quotable_sentences(passages)
        if is_within_filters(locator_of(each, passages[each.passage]), filters)
    )
    material = collect_features(query, passages, sentences=sentences)
    features = word_features(query, material, passages=passages)
    ranked = _ranked(material, total_scores(features))
    if limit is None:
        limit = SHORTLIST if features["words"].max(initial=0.0) >= 0.5 else FOREIGN_SHORTLIST
    held = sum(1 for place in ranked[:limit] if features["words"][place] > 0)
    chosen = ranked[: max(limit // 2, held)]
    chosen += _in_turn(material, ranked, taken=set(chosen), limit=limit - len(chosen))
    rank = {place: at for at, place in enumerate(ranked)}
    return Shortlist(query, material, features, tuple(sorted(chosen, key=rank.__getitem__)))


def _ranked(material: QueryContext, scores: Scores) -> list[int]:
    fit = scores - np.array([quality_penalty(material, place) for place in range(len(scores))])
    return [int(place) for place in np.argsort(-fit, kind="stable")]


def spans_of(
    listed: Shortlist, passages: Sequence[Passage]
) -> tuple[tuple[Chunk, ...], tuple[tuple[int, int, int], ...]]:
    """Return the chunks of the passages, and where in their texts the sentences stand.

    A span is the place of its chunk and the characters of that chunk's text; what a sentence has
    beyond the end of its chunk is left out.
    """
    chunks = {chunk.chunk_id: chunk for each in passages for chunk in each.chunks}
    at = {key: place for place, key in enumerate(chunks)}
    spans = []
    for each in listed.material.sentences:
        chunk = chunks[each.chunk_id]
        end = min(each.end - chunk.start, len(chunk.text))
        spans.append((at[each.chunk_id], each.start - chunk.start, end))
    return tuple(chunks.values()), tuple(spans)


def read_closely(
    listed: Shortlist,
    scores: tuple[Sequence[float], Sequence[float]] | None,
    *,
    limit: int = READ_SHORTLIST,
) -> Shortlist:
    """Choose the shortlist anew by late interaction; as it was where there are no scores.

    ``scores`` are two for each sentence, in the order of `spans_of`: how near it comes to
    the whole question, and how near to what is asked for.
    """
    if scores is None or not listed.places:
        return listed
    whole, asked = scores
    # A claim asks for nothing, nor does "Qu'est-ce que …" have a word for the kind of thing.
    asks = asking_place(listed.query.standalone) is not None
    late = late_features(listed.material, whole=whole, asked=asked if asks else None)
    features = {**listed.features, **late}
    ranked = _ranked(listed.material, total_scores(features))
    return replace(listed, places=tuple(ranked[:limit]), features=features)


def _in_turn(
    material: QueryContext, ranked: Sequence[int], *, taken: set[int], limit: int
) -> list[int]:
    queues: dict[int, list[int]] = {}
    for place in ranked:
        if place not in taken:
            queues.setdefault(material.sentences[place].passage, []).append(place)
    rounds = [
        place
        for turn in range(max(map(len, queues.values()), default=0))
        for _, queue in sorted(queues.items())
        for place in queue[turn : turn + 1]
    ]
    return rounds[:limit]


def choose_statements(
    listed: Shortlist, *, max_sentences: int, cosines: Scores | None = None
) -> tuple[Statement, ...]:
    """Choose the best sentences of a shortlist, in the order in which they read best.

    ``cosines`` are those of the shortlist's texts with the question, None to go by words alone.
    The document of the best sentence comes first; within a document the sentences stand in its
    order. A sentence that leans on the one before it brings that one along. A comparison is
    arranged by the things that are compared.
    """
    material, places, query = listed.material, listed.places, listed.query
    if not places:
        return ()
    known: Scores | None = None
    if cosines is not None:
        known = np.full(len(material.sentences), np.nan)
        known[list(places)] = cosines
    scores = total_scores(listed.features, cosines=known)
    score_of = {place: float(scores[place]) - quality_penalty(material, place) for place in places}
    cosine_of = {} if cosines is None else dict(zip(places, map(float, cosines), strict=True))
    margin = BROAD if query.kind in ("exploratory", "summary") else MARGIN
    kept = select_diverse(material, score_of, most=max_sentences, margin=margin)
    if len(query.aspects) > 1:
        kept = with_aspects(
            material, kept, aspects=query.aspects, score_of=score_of, most=max_sentences
        )
        arranged = by_aspect(material, kept, aspects=query.aspects)
    else:
        arranged = [("", place) for place in reading_order(material, kept)]
    return tuple(
        replace(
            statement_at(
                material, place, score=score_of.get(place, 0.0), cosine=cosine_of.get(place)
            ),
            heading=heading,
        )
        for heading, place in arranged
    )


def aspects_without(listed: Shortlist, statements: Sequence[Statement]) -> tuple[str, ...]:
    """Return the things to be compared of which no statement speaks."""
    spans = {span_of(each) for each in statements}
    said = [
        place
        for place, each in enumerate(listed.material.sentences)
        if (each.document_id, each.start, each.end) in spans
    ]
    return tuple(
        aspect
        for aspect in listed.query.aspects
        if not any(speaks_of(listed.material, place, aspect) for place in said)
    )


def statement_at(
    material: QueryContext, place: int, *, score: float, cosine: float | None
) -> Statement:
    """Make a statement of the sentence at a place of the material."""
    each = material.sentences[place]
    return Statement(
        document_id=each.document_id,
        chunk_id=each.chunk_id,
        start=each.start,
        end=each.end,
        text=each.text,
        passage=each.passage,
        score=score,
        coverage=material.coverage(material.stems[place]),
        cosine=cosine,
        cut=each.cut,
    )


def write_answer(statements: Sequence[Statement]) -> tuple[str, tuple[Sentence, ...]]:
    """Join the statements to a text with their markers, and say where each sentence stands.

    Numbers follow the order of the text; the same span has the same number. White space inside
    a sentence becomes single spaces, and a piece of a longer sentence is shown between ellipses;
    nothing else differs from the source. Headings stand on lines of their own, in no sentence.
    """
    text = ""
    found: list[Sentence] = []
    numbers = number_spans(statements)
    heading = ""
    for statement in statements:
        if statement.heading != heading:
            heading = statement.heading
            text += ("\n\n" if text else "") + (f"{plain_quotation(heading)}:\n" if heading else "")
        elif text:
            text += " "
        shown = shown_text(statement)
        number = numbers[span_of(statement)]
        found.append(Sentence(len(text), len(text) + len(shown), (number,), "supported", 1.0))
        text += f"{shown} [{number}]"
    return text, tuple(found)


def span_of(statement: Statement) -> tuple[str, int, int]:
    """Return what makes two statements the same source: document, start and end."""
    return statement.document_id, statement.start, statement.end


def number_spans(statements: Sequence[Statement]) -> dict[tuple[str, int, int], int]:
    """Number the distinct spans from 1, in the order of the statements."""
    spans = dict.fromkeys(map(span_of, statements))
    return {span: number for number, span in enumerate(spans, start=1)}


def shown_text(statement: Statement) -> str:
    """Return the statement as an answer shows it: on one line, pieces marked by ellipses."""
    shown = plain_quotation(statement.text)
    if not statement.cut:
        return shown
    opening = "… " if shown[:1].islower() else ""
    closing = "" if shown[-1:] in ".!?…" else " …"
    return f"{opening}{shown}{closing}"
