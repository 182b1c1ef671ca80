"""How an answer came about: the question as it was understood, the stages, every candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from quoth.answering.answerability import describe_degradation
from quoth.answering.verification import describe_reasons
from quoth.core.plan import Plan
from quoth.core.translations import restate
from quoth.core.types import Answer, Chunk, Document, Filter, LegScore, Locator, ScoreKind
from quoth.history.candidate_outcome import Fate, outcome_of
from quoth.pipeline.record import CandidateTrace, CollectionTrace, Record, Span
from quoth.query.filters.parse import describe_filter, format_day
from quoth.store.catalogue import Catalogue
from quoth.text.links import link
from quoth.text.locators import label

BEYOND = (3, 0)
"""The place, in the order of `how_far`, of what was no candidate."""
SAID = 160
"""Characters of a passage that an explanation shows."""


@dataclass(frozen=True, slots=True)
class SettingUsed:
    """A field of the plan that was not left at its default; ``asked`` if the request set it."""

    name: str
    chosen: str
    default: str
    asked: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the path: when it first began and last ended, and what was spent on it in all.

    Times are milliseconds since the question came; ``start`` and ``end`` are None where they were
    not noted. More is spent than lies between them where parts of the step ran at once. A moment
    that was reached has one time, and nothing is spent on it.
    """

    name: str
    spent_ms: float
    start_ms: float | None = None
    end_ms: float | None = None

    @property
    def is_moment(self) -> bool:
        """Whether it only says when something was reached."""
        return self.start_ms is not None and self.start_ms == self.end_ms and not self.spent_ms


@dataclass(frozen=True, slots=True)
class ChunkExcerpt:
    """Where a chunk stands and how it begins; ``document`` is empty if it is no longer there.

    ``start`` and ``end`` are its characters in the text of the document.
    """

    document: str = ""
    place: str = ""
    link: str | None = None
    text: str = ""
    document_id: str = ""
    start: int = 0
    end: int = 0
    locator: Locator | None = None

    @property
    def name(self) -> str:
        """The document and the place in it, empty if it is no longer there."""
        return " · ".join(each for each in (self.document, self.place) if each)


@dataclass(frozen=True, slots=True)
class CandidateExplanation:
    """A candidate's way through the stages: ranks and scores, and what became of it."""

    chunk_id: str
    at: ChunkExcerpt
    legs: Mapping[str, LegScore]
    fused: LegScore
    pool: LegScore | None
    kind: ScoreKind
    shown: int | None
    fate: Fate
    why: str


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """The search of one collection; ``now`` is its index version today, empty if it is gone."""

    collection: str
    version: str
    now: str
    found: int
    whole: bool
    ways: tuple[CandidateExplanation, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known about how an answer came about."""

    query_id: str
    created_at: str
    question: str
    understood: tuple[tuple[str, str], ...]
    choices: tuple[SettingUsed, ...]
    makers: tuple[tuple[str, str], ...]
    stages: tuple[Stage, ...]
    total_ms: float
    searched: tuple[SearchExplanation, ...]
    answer: Answer
    notes: tuple[str, ...]


def explain(record: Record, catalogue: Catalogue, *, language: str | None = None) -> Explanation:
    """Explain a question from its record; texts are those of the library today.

    With a ``language`` the filters are described in it; without one they are as they are written.
    """
    answer = record.answer
    timings = dict(answer.timings_ms)
    total = timings.pop("total", 0.0)
    return Explanation(
        query_id=record.query_id,
        created_at=record.created_at,
        question=record.request.question,
        understood=tuple(_understood(record, _documents(record, catalogue), language)),
        choices=tuple(_choices(record)),
        makers=(*_named(record.makers), *_written(answer)),
        stages=stages_of(timings, record.spans_ms),
        total_ms=total,
        searched=tuple(_explained(each, record, catalogue) for each in record.searched),
        answer=answer,
        notes=tuple(_notes(record)),
    )


def stages_of(timings: Mapping[str, float], spans_ms: Mapping[str, Span]) -> tuple[Stage, ...]:
    """Order the stages by their beginnings; without any spans they keep the order of their ends.

    A time without a span, where others have one, is a moment that was reached.
    """
    if not spans_ms:
        return tuple(Stage(name, spent) for name, spent in timings.items())
    found = [
        Stage(name, spent, *spans_ms[name]) if name in spans_ms else Stage(name, 0.0, spent, spent)
        for name, spent in timings.items()
    ]
    return tuple(sorted(found, key=lambda each: (each.start_ms or 0.0, each.end_ms or 0.0)))


def texts_of(
    catalogue: Catalogue, chunk_ids: Sequence[str], *, collection: str
) -> dict[str, ChunkExcerpt]:
    """Return where these chunks stand and how they begin, those that are there."""
    found = catalogue.find_collection(collection)
    if found is None:
        return {}
    chunks = catalogue.chunks(chunk_ids)
    owners = list(dict.fromkeys(each.document_id for each in chunks.values()))
    documents = catalogue.documents_by_id(found, owners)
    return {
        key: text_of(each, documents[each.document_id])
        for key, each in chunks.items()
        if each.document_id in documents
    }


def text_of(chunk: Chunk, document: Document) -> ChunkExcerpt:
    """Say where a chunk stands and how it begins."""
    address = link(chunk.locator, document)
    return ChunkExcerpt(
        document=document.title,
        place=label(chunk.locator),
        link=address,
        text=beginning(chunk.text),
        document_id=chunk.document_id,
        start=chunk.start,
        end=chunk.end,
        locator=chunk.locator,
    )


def beginning(text: str) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text.split())
    return line if len(line) <= SAID else line[:SAID].rsplit(" ", 1)[0] + " …"


def filter_text(each: Filter, titles: Mapping[str, str] | None = None) -> str:
    """Write a filter for people: ``speaker: Ada``, ``page: 12–14``.

    ``titles`` are those of documents by id.
    """
    if each.operator == "overlaps":
        show = format_day if each.field == "date" else "{:g}".format
        low, high = (show(value) for value in each.values if isinstance(value, int | float))
        return f"{each.field}: {low}" if low == high else f"{each.field}: {low}–{high}"
    known = titles or {}
    return f"{each.field}: {', '.join(known.get(str(value), str(value)) for value in each.values)}"


def _documents(record: Record, catalogue: Catalogue) -> dict[str, Document]:
    """Return the documents that filters name, by id."""
    query = record.answer.query
    filters = (*query.filters, *record.plan.filters, *query.boosts)
    ids = [str(value) for each in filters if each.field == "document" for value in each.values]
    collections = [catalogue.find_collection(name) for name in record.request.collections]
    return {
        key: document
        for found in collections
        if found is not None
        for key, document in catalogue.documents_by_id(found, ids).items()
    }


def _understood(
    record: Record, documents: Mapping[str, Document], language: str | None
) -> Iterator[tuple[str, str]]:
    query = record.answer.query
    titles = {key: each.title for key, each in documents.items()}

    def said(filters: Iterable[Filter]) -> list[str]:
        if language is None:
            return [filter_text(each, titles) for each in filters]
        return [describe_filter(each, documents=documents, language=language) for each in filters]

    yield "language", query.language
    yield "kind", query.kind + (", follows up" if query.is_followup else "")
    if query.standalone != record.request.question:
        yield "searched for", query.standalone
    if query.in_context:
        yield "searched for as well", query.in_context
    given = [each for each in record.plan.filters if each not in query.filters]
    for name, values in (
        ("read as filter", said(query.filters)),
        ("filter given", said(given)),
        ("guessed, lifts only", said(query.boosts)),
        ("compares", query.aspects),
        ("names", query.entities),
        ("note", [restate(each, language) for each in query.notes]),
    ):
        if text := "; ".join(values):
            yield name, text


def _choices(record: Record) -> Iterator[SettingUsed]:
    usual = Plan()
    for each in fields(Plan):
        chosen, default = getattr(record.plan, each.name), getattr(usual, each.name)
        if each.name != "filters" and chosen != default:
            asked = record.request.choices.get(each.name) is not None
            yield SettingUsed(each.name, _word(chosen), _word(default), asked)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _named(makers: Any) -> Iterator[tuple[str, str]]:
    for each in fields(makers):
        name = getattr(makers, each.name)
        if name:
            yield each.name, name


def _written(answer: Answer) -> Iterator[tuple[str, str]]:
    """What a language model did for the answer."""
    if answer.model:
        usage = answer.usage
        yield "written by", " ".join(each for each in (answer.provider, answer.model) if each)
        yield "prompt", answer.prompt or ""
        yield "tokens", f"{usage.input_tokens} read, {usage.output_tokens} written"
        yield "cost", f"{usage.usd:.6f} USD"
    for stage, spent in answer.usage.stages.items():
        tokens = f"{spent.input_tokens} read, {spent.output_tokens} written"
        yield f"of {stage}", f"{tokens}, {spent.usd:.6f} USD"


def _notes(record: Record) -> Iterator[str]:
    if record.keeping == "hash":
        yield "Only a hash of the question is stored, and no texts."
    elif record.answer.cached:
        yield "The answer was given again from the cache, so nothing was searched."
    elif not record.searched:
        yield "The candidates of this question are not stored."
    yield from record.answer.warnings
    for each in record.answer.rejected:
        reasons = describe_reasons(each.reasons, language=record.answer.query.language)
        yield f"The model wrote, without proof ({each.score:.2f}): “{each.text}” {reasons}".rstrip()
    yield from (
        f"Sources {each.first} and {each.second} differ about {each.about}."
        for each in record.answer.contradictions
    )
    if record.answer.counts.invented:
        yield f"Sources that the model named and never saw: {record.answer.counts.invented}."
    language = record.answer.query.language
    yield from (describe_degradation(each, language=language) for each in record.answer.degraded)


def _explained(each: CollectionTrace, record: Record, catalogue: Catalogue) -> SearchExplanation:
    found = catalogue.find_collection(each.collection)
    ids = [one.chunk_id for one in each.candidates]
    texts = texts_of(catalogue, ids, collection=each.collection)
    return SearchExplanation(
        each.collection,
        each.version,
        "" if found is None else found.index_version,
        each.found,
        each.whole,
        ways_of(each, record, texts=texts),
    )


def ways_of(
    each: CollectionTrace, record: Record, *, texts: Mapping[str, ChunkExcerpt]
) -> tuple[CandidateExplanation, ...]:
    """Return the way of every candidate of a search, in the order after fusion."""
    return tuple(_way(one, within=each, record=record, texts=texts) for one in each.candidates)


def _way(
    each: CandidateTrace,
    *,
    within: CollectionTrace,
    record: Record,
    texts: Mapping[str, ChunkExcerpt],
) -> CandidateExplanation:
    end = outcome_of(each, within=within, record=record)
    why = end.why
    if end.other is not None and end.other in texts:
        why = f"{why}: {texts[end.other].name}"
    return CandidateExplanation(
        each.chunk_id,
        texts.get(each.chunk_id, ChunkExcerpt()),
        each.legs,
        each.fused,
        each.pool,
        each.kind,
        each.shown,
        end.fate,
        why,
    )


def by_progress(ways: Sequence[CandidateExplanation]) -> list[CandidateExplanation]:
    """Order candidates by how far they came: the hits, the rest of the pool, the others."""
    return sorted(ways, key=how_far)


def counted(each: SearchExplanation) -> str:
    """Say how many candidates there were, and of which version of the collection."""
    what = "looked up" if each.whole else "found"
    said = f"{each.found} passages {what} · index {each.version}"
    if not each.now:
        return f"{said} · the collection is no longer there"
    return said if each.now == each.version else f"{said} · now it is {each.now}"


def scored(leg: LegScore | None) -> str:
    """Write a rank and a score: ``3 · 0.871``; nothing where there is none."""
    return "" if leg is None else f"{leg.rank} · {leg.score:.3g}"


def how_far(each: CandidateExplanation | CandidateTrace) -> tuple[int, int]:
    """Order candidates by how far they came; smaller is farther."""
    if each.shown is not None:
        return 0, each.shown
    return (2, each.fused.rank) if each.pool is None else (1, each.pool.rank)
