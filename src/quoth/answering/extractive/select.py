"""Sentence selection for extractive answers.

Plain steps, so that model-based ones can fail or be skipped: `shortlist` by words, `read_closely`
by late interaction, the caller's vectors, `choose_statements`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quoth.answering.extractive.candidates import quotable_sentences, sentence_locator
from quoth.answering.extractive.diversify import (
    BROAD_MARGIN,
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
from quoth.answering.extractive.wording import question_word_offset
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
"""Sentences to embed where late interaction has scored them all."""
SHORTLIST = 12
"""Sentences to embed where the query's words occur: about 5 ms each on a core."""
FOREIGN_SHORTLIST = 24
"""Sentences to embed where none contains half of the query, as across languages."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence chosen for the answer, with its exact span in the document's stored text.

    ``coverage`` is its share of the query's words, weighted by their rarity, in [0, 1]; ``cosine``
    is its similarity to the query, None without vectors. ``passage`` is the index of its passage.
    ``heading`` is its heading in the answer, such as the aspect it is about; it is not part of the
    statement.
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
    """The most promising sentences, best first, and the material they come from.

    ``places`` are their indexes in ``material.sentences``, ``features`` those of all sentences.
    """

    query: Query
    material: QueryContext
    features: Features
    places: tuple[int, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts to embed, in the order of `places`, each after its title."""
        return tuple(self.material.titled_text(place) for place in self.places)


def shortlist(
    query: Query,
    passages: Sequence[Passage],
    *,
    limit: int | None = None,
    filters: Sequence[Filter] = (),
) -> Shortlist:
    """Select up to `limit` sentences worth embedding, or more where needed.

    Only sentences on the pages and in the seconds that ``filters`` name count: a passage may begin
    a page before.

    At least half are the best by words, the rest are taken round-robin from the passages, for
    cross-lingual queries, where no word is shared and only vectors can match.
    """
    sentences = tuple(
        sentence
        for sentence in quotable_sentences(passages)
        if is_within_filters(sentence_locator(sentence, passages[sentence.passage]), filters)
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


def sentence_spans(
    listed: Shortlist, passages: Sequence[Passage]
) -> tuple[tuple[Chunk, ...], tuple[tuple[int, int, int], ...]]:
    """Return the passages' chunks, and the sentences as spans of their texts.

    A span is the index of its chunk and the characters of that chunk's text; the part of a sentence
    after the end of its chunk is left out.
    """
    chunks = {chunk.chunk_id: chunk for passage in passages for chunk in passage.chunks}
    at = {key: place for place, key in enumerate(chunks)}
    spans = []
    for sentence in listed.material.sentences:
        chunk = chunks[sentence.chunk_id]
        end = min(sentence.end - chunk.start, len(chunk.text))
        spans.append((at[sentence.chunk_id], sentence.start - chunk.start, end))
    return tuple(chunks.values()), tuple(spans)


def read_closely(
    listed: Shortlist,
    scores: tuple[Sequence[float], Sequence[float]] | None,
    *,
    limit: int = READ_SHORTLIST,
) -> Shortlist:
    """Reselect the shortlist by late interaction; unchanged without scores.

    ``scores`` are two for each sentence, in the order of `sentence_spans`: similarity to the whole
    query, and to its question word.
    """
    if scores is None or not listed.places:
        return listed
    whole, asked = scores
    # Claims have no question word, nor has "Qu'est-ce que …" one for the kind of thing.
    asks = question_word_offset(listed.query.standalone) is not None
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
    """Choose the best sentences of a shortlist, in reading order.

    ``cosines`` are those of the shortlist's texts with the query, None to use words alone. The
    document of the best sentence comes first; within a document the sentences keep its order. An
    anaphoric sentence adds its antecedent. A comparison is arranged by aspect.
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
    margin = BROAD_MARGIN if query.kind in ("exploratory", "summary") else MARGIN
    kept = select_diverse(material, score_of, limit=max_sentences, margin=margin)
    if len(query.aspects) > 1:
        kept = with_aspects(
            material, kept, aspects=query.aspects, score_of=score_of, limit=max_sentences
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
    """Return the aspects that no statement covers."""
    spans = {statement_span(statement) for statement in statements}
    places = [
        place
        for place, sentence in enumerate(listed.material.sentences)
        if (sentence.document_id, sentence.start, sentence.end) in spans
    ]
    return tuple(
        aspect
        for aspect in listed.query.aspects
        if not any(speaks_of(listed.material, place, aspect) for place in places)
    )


def statement_at(
    material: QueryContext, place: int, *, score: float, cosine: float | None
) -> Statement:
    """Make a statement of the sentence at an index of the material."""
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
    """Join the statements to a text with citation markers, and locate each sentence in it.

    Numbers follow the order of the text; the same span has the same number. White space inside a
    sentence becomes single spaces, and a piece of a longer sentence is shown between ellipses;
    nothing else differs from the source. Headings are on lines of their own, in no sentence.
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
        number = numbers[statement_span(statement)]
        found.append(Sentence(len(text), len(text) + len(shown), (number,), "supported", 1.0))
        text += f"{shown} [{number}]"
    return text, tuple(found)


def statement_span(statement: Statement) -> tuple[str, int, int]:
    """Return the span that identifies a source: document, start and end."""
    return statement.document_id, statement.start, statement.end


def number_spans(statements: Sequence[Statement]) -> dict[tuple[str, int, int], int]:
    """Number the distinct spans from 1, in the order of the statements."""
    spans = dict.fromkeys(map(statement_span, statements))
    return {span: number for number, span in enumerate(spans, start=1)}


def shown_text(statement: Statement) -> str:
    """Return the statement as displayed: on one line, pieces marked by ellipses."""
    shown = plain_quotation(statement.text)
    if not statement.cut:
        return shown
    opening = "… " if shown[:1].islower() else ""
    closing = "" if shown[-1:] in ".!?…" else " …"
    return f"{opening}{shown}{closing}"
