"""The answer without a language model: the best verbatim sentences of the passages.

Three plain steps, so that the embedding between them can fail or be left out: `shortlist` by
words, the caller's vectors, `choose_statements`. `extract` does all three.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quoth.answering.quotable import locator_of, quotable_sentences
from quoth.answering.score import (
    WEIGHTS,
    Material,
    Scores,
    Weights,
    by_words,
    cosines_to,
    gather,
    with_vectors,
)
from quoth.answering.wording import NEGATION, fold
from quoth.places import stands_within
from quoth.protocols import Matrix
from quoth.types import Filter, Passage, Query, Sentence

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Gives one unit row per text, embedded as documents."""

SHORTLIST = 12
"""Sentences worth a vector where the question's words point the way: about 5 ms each on a core."""
FOREIGN_SHORTLIST = 24
"""Sentences worth a vector where no sentence holds half of the question, as in another language."""
MARGIN = 0.3
"""How far below the best sentence a second one may score (1 is every word of the question); the
n-th after the best has an n-th of it, so that an answer grows only while it stays to the point."""
WORDS_MARGIN = 0.15
"""The same without vectors, where scores lie closer together."""
READABLE = 0.8
"""The fitness a sentence needs to be brought along by the one that leans on it."""
LEANING = 0.05
"""What a sentence loses that must bring another along."""
HANGING = 0.2
"""What a sentence loses that leans on one which does not help."""
SAME = 0.7
"""Sentences that share this part of their words (Jaccard) say the same thing."""

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence chosen for the answer, with its exact span in the document's stored text.

    ``coverage`` is the part of the question's words it holds, weighed by their rarity, in [0, 1];
    ``cosine`` is its likeness to the question, None where no vectors were made. ``passage`` is
    the place of its passage in the list that was given.
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


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The sentences that words and places promise most, best first, and what they were chosen from.

    ``places`` are their places in ``material.sentences``; ``scores`` the scores by words.
    """

    material: Material
    places: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to embed, in the order of `places`, each led by the title it stands under."""
        return tuple(self.material.led_text(place) for place in self.places)


def shortlist(
    query: Query,
    passages: Sequence[Passage],
    *,
    limit: int | None = None,
    document_frequency: Callable[[str], int] | None = None,
    documents: int = 0,
    weights: Weights = WEIGHTS,
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
        if stands_within(locator_of(each, passages[each.passage]), filters)
    )
    material = gather(
        query,
        passages,
        sentences=sentences,
        document_frequency=document_frequency,
        documents=documents,
    )
    scores = by_words(query, material, passages=passages, weights=weights)
    fit = scores * np.array([each.fitness for each in sentences])
    ranked = [int(place) for place in np.argsort(-fit, kind="stable")]
    coverages = [material.coverage(stems) for stems in material.stems]
    if limit is None:
        limit = SHORTLIST if max(coverages, default=0.0) >= 0.5 else FOREIGN_SHORTLIST
    held = sum(1 for place in ranked[:limit] if coverages[place] > 0)
    chosen = ranked[: max(limit // 2, held)]
    chosen += _in_turn(material, ranked, taken=set(chosen), limit=limit - len(chosen))
    chosen.sort(key=lambda place: -fit[place])
    return Shortlist(material, tuple(chosen), tuple(float(scores[place]) for place in chosen))


def _in_turn(
    material: Material, ranked: Sequence[int], *, taken: set[int], limit: int
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
    chosen_from: Shortlist,
    *,
    max_sentences: int,
    cosines: Scores | None = None,
    weights: Weights = WEIGHTS,
) -> tuple[Statement, ...]:
    """Choose the best sentences of a shortlist, in the order in which they read best.

    ``cosines`` are those of the shortlist's texts with the question, None to go by words alone.
    The document of the best sentence comes first; within a document the sentences stand in its
    order. A sentence that leans on the one before it brings that one along.
    """
    material, places = chosen_from.material, chosen_from.places
    if not places:
        return ()
    scores = np.array(chosen_from.scores)
    if cosines is not None:
        scores = with_vectors(scores, cosines=cosines, weights=weights)
    scores = scores - np.array([_flaw(material, place) for place in places])
    score_of = dict(zip(places, map(float, scores), strict=True))
    cosine_of = {} if cosines is None else dict(zip(places, map(float, cosines), strict=True))
    ranked = sorted(places, key=lambda place: -score_of[place])
    kept = _pick(
        material,
        ranked,
        score_of=score_of,
        margin=WORDS_MARGIN if cosines is None else MARGIN,
        max_sentences=max_sentences,
    )
    return tuple(
        statement_at(material, place, score=score_of.get(place, 0.0), cosine=cosine_of.get(place))
        for place in reading_order(material, kept)
    )


def _pick(
    material: Material,
    ranked: Sequence[int],
    *,
    score_of: Mapping[int, float],
    margin: float,
    max_sentences: int,
) -> list[int]:
    """Take sentences best first while they are near the best one and say something new."""
    plain = [place for place in ranked if not material.sentences[place].question] or list(ranked)
    kept: list[int] = []
    for place in plain:
        below = score_of[plain[0]] - score_of[place]
        if len(kept) >= max_sentences or below * max(1, len(kept)) > margin:
            break
        if any(alike(material, place, other) for other in kept):
            continue
        support = _leaned_on(material, place)
        if support is None or support in kept:
            kept.append(place)
        elif len(kept) + 2 <= max_sentences:
            kept += [place, support]
        elif not kept:
            kept.append(place)
    return kept


def _flaw(material: Material, place: int) -> float:
    each = material.sentences[place]
    leaning = 0.0
    if each.leaning:
        leaning = HANGING if _leaned_on(material, place) is None else LEANING
    return 1 - each.fitness + leaning


def alike(material: Material, place: int, other: int) -> bool:
    """Tell near-doubles: most words shared, or one sentence all but contained in the other.

    Sentences that differ in a number or in a "not" contradict one another, and both are kept.
    """
    one, two = material.stems[place], material.stems[other]
    texts = (material.sentences[place].text, material.sentences[other].text)
    if not one or not two or _figures(texts[0]) != _figures(texts[1]):
        return False
    if bool(NEGATION.search(fold(texts[0]))) != bool(NEGATION.search(fold(texts[1]))):
        return False
    shared = len(one & two)
    smaller = min(len(one), len(two))
    return shared >= SAME * len(one | two) or (smaller >= 4 and shared >= 0.9 * smaller)


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def _leaned_on(material: Material, place: int) -> int | None:
    """Give the sentence before one that opens with "It …" or "Cette …", if it reads well."""
    here = material.sentences[place]
    if place == 0 or not (here.leaning and here.joined):
        return None
    before = material.sentences[place - 1]
    if before.passage != here.passage or before.leaning or before.fitness < READABLE:
        return None
    return place - 1


def reading_order(material: Material, kept: Sequence[int]) -> list[int]:
    """Documents in the order of their best sentence, sentences in the order of their document."""
    first: dict[str, int] = {}
    for rank, place in enumerate(kept):
        first.setdefault(material.sentences[place].document_id, rank)
    return sorted(
        kept,
        key=lambda place: (
            first[material.sentences[place].document_id],
            material.sentences[place].start,
        ),
    )


def statement_at(
    material: Material, place: int, *, score: float, cosine: float | None
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


async def extract(
    query: Query,
    passages: Sequence[Passage],
    *,
    max_sentences: int,
    question_vector: Matrix | None = None,
    embed: Embed | None = None,
    document_frequency: Callable[[str], int] | None = None,
    documents: int = 0,
) -> tuple[Statement, ...]:
    """Answer from the passages: shortlist, embed the shortlist if there is a way, choose.

    ``question_vector`` is the one the search used. Raises EmbeddingError from ``embed``.
    """
    chosen_from = shortlist(
        query, passages, document_frequency=document_frequency, documents=documents
    )
    cosines = None
    if embed is not None and question_vector is not None and chosen_from.places:
        cosines = cosines_to(question_vector, await embed(chosen_from.texts))
    return choose_statements(chosen_from, max_sentences=max_sentences, cosines=cosines)


def write_answer(statements: Sequence[Statement]) -> tuple[str, tuple[Sentence, ...]]:
    """Join the statements to a text with their markers, and say where each sentence stands.

    Numbers follow the order of the text; the same span has the same number. White space inside
    a sentence becomes single spaces, and a piece of a longer sentence is shown between ellipses;
    nothing else differs from the source.
    """
    parts: list[str] = []
    found: list[Sentence] = []
    numbers = number_spans(statements)
    at = 0
    for statement in statements:
        shown = shown_text(statement)
        number = numbers[span_of(statement)]
        marked = f"{shown} [{number}]"
        found.append(Sentence(at, at + len(shown), (number,), "supported"))
        parts.append(marked)
        at += len(marked) + 1
    return " ".join(parts), tuple(found)


def span_of(statement: Statement) -> tuple[str, int, int]:
    """Give what makes two statements the same source: document, start and end."""
    return statement.document_id, statement.start, statement.end


def number_spans(statements: Sequence[Statement]) -> dict[tuple[str, int, int], int]:
    """Number the distinct spans from 1, in the order of the statements."""
    spans = dict.fromkeys(map(span_of, statements))
    return {span: number for number, span in enumerate(spans, start=1)}


def shown_text(statement: Statement) -> str:
    """Give the statement as an answer shows it: on one line, pieces marked by ellipses."""
    shown = " ".join(statement.text.split())
    if not statement.cut:
        return shown
    opening = "… " if shown[:1].islower() else ""
    closing = "" if shown[-1:] in ".!?…" else " …"
    return f"{opening}{shown}{closing}"
