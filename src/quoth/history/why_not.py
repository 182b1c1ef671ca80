"""Why a passage was not cited: the first step of the path at which it fell behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from quoth.core.errors import Conflict, InputError
from quoth.core.plan import BOUNDS
from quoth.core.types import Chunk, Filter, LegScore, Scored
from quoth.history.candidate_outcome import Fate, beside, ended_in_context, numbers_of
from quoth.history.explain import (
    BEYOND,
    CandidateExplanation,
    ChunkExcerpt,
    filter_text,
    how_far,
    texts_of,
    ways_of,
)
from quoth.pipeline.components import Components, components_of
from quoth.pipeline.record import CollectionTrace, Record
from quoth.query.filters.parse import FIELDS
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection
from quoth.text.analyzer import normalize_name

LIKELY = 50
"""Passages that the keyword index names first, among which a quoted text nearly always is."""
SLACK = 200
"""Characters searched for a text, added to twice its length, so that more white space fits."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """The chunks that hold a text, up to `LIKELY`.

    ``exact`` is false if none does and these only share the most words with it.
    """

    chunks: tuple[Chunk, ...]
    exact: bool


async def holding(text: str, *, parts: Components, collection: Collection) -> TextMatch:
    """Find the chunks that hold a text, case, accents and white space aside.

    A text that runs over the end of a chunk is held by both. Where none holds it, those that
    the keyword index ranks best for it are given. All texts are read when the index does not
    point there, which takes half a second for nine thousand chunks.
    """
    needle = normalize_name(text)
    catalogue = parts.catalogue
    outline = await asyncio.to_thread(catalogue.collection_outline, collection)
    index = parts.open_index(collection.table)
    ranked = await index.match(text, languages=outline.languages, limit=LIKELY)
    there = await asyncio.to_thread(catalogue.chunks, [key for key, _score in ranked])
    likely = [there[key] for key, _score in ranked if key in there]
    found = [each for each in likely if needle in normalize_name(each.text)]
    if not found:
        found = await asyncio.to_thread(_scan, needle, catalogue, collection)
    return TextMatch(tuple(found), exact=True) if found else TextMatch(tuple(likely), False)


def _scan(needle: str, catalogue: Catalogue, collection: Collection) -> list[Chunk]:
    """Read all texts in order, until `LIKELY` chunks hold the needle, alone or with the next."""
    found: dict[str, None] = {}
    reach = 2 * len(needle) + SLACK
    last, end, held = ("", ""), "", False
    for chunk_id, document_id, text in catalogue.texts(collection):
        held_before, held = held, needle in normalize_name(text)
        if held:
            found[chunk_id] = None
        elif (
            last[1] == document_id
            and not held_before
            and needle in normalize_name(end + text[:reach])
        ):
            found |= {last[0]: None, chunk_id: None}
        last, end = (chunk_id, document_id), text[-reach:]
        if len(found) >= LIKELY:
            break
    there = catalogue.chunks(list(found))
    return [there[key] for key in found if key in there]


BY = {"keyword": "words", "semantic": "vectors"}
DEEP = 1000
"""How deep both legs are searched for a passage that was not among the candidates."""
WHOLE = 1_000_000
"""Chunks that no document has."""
MOST = 5
"""Passages that are explained."""

Reason = Fate | Literal["filtered", "not_found", "too_deep", "changed"]


@dataclass(frozen=True, slots=True)
class MissedPassage:
    """A passage and why it was not cited.

    ``advice`` is the setting with which it would be read, where there is one. ``legs`` are its
    places in each leg: those of then, or, where it was no candidate, those of a deeper search now.
    """

    chunk_id: str
    at: ChunkExcerpt
    reason: Reason
    why: str
    advice: str = ""
    legs: Mapping[str, LegScore] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The passages that hold a text; ``exact`` false if none does and these come closest."""

    text: str
    exact: bool
    passages: tuple[MissedPassage, ...]
    notes: tuple[str, ...] = ()


async def why_not(text: str, record: Record, *, parts: Components) -> WhyNot:
    """Say of each passage that holds the text why it was not cited; raises InputError."""
    if not text.strip():
        raise InputError("Write some words of the passage: quoth explain QUERY_ID --why-not TEXT")
    if not record.searched or record.keeping == "hash":
        raise Conflict(
            "The candidates of this question are not stored. Ask it again, and explain that."
        )
    exact: list[MissedPassage] = []
    close: list[MissedPassage] = []
    notes: list[str] = []
    for each in record.searched:
        collection = await asyncio.to_thread(parts.catalogue.find_collection, each.collection)
        if collection is None:
            notes.append(f"The collection '{each.collection}' is no longer there.")
            continue
        if collection.index_version != each.version:
            notes.append(f"The collection '{each.collection}' has changed since the question.")
        parts = await asyncio.to_thread(components_of, parts, collection)
        held = await holding(text, parts=parts, collection=collection)
        chunks = nearest(held.chunks, within=each)
        found = await _passed(chunks, collection, within=each, record=record, parts=parts)
        if held.exact:
            exact += (_unless_quoted(one, text, record) for one in found)
        else:
            close += found
    if not exact:
        said = "No passage holds these words." + (" The closest ones are shown." if close else "")
        notes.insert(0, said)
    return WhyNot(text, bool(exact), tuple((exact or close)[:MOST]), tuple(notes))


def nearest(chunks: Sequence[Chunk], *, within: CollectionTrace) -> list[Chunk]:
    """Return those of the chunks that came farthest, and of the others those named first."""
    far = {each.chunk_id: how_far(each) for each in within.candidates}
    return sorted(chunks, key=lambda each: far.get(each.chunk_id, BEYOND))[:MOST]


async def _passed(
    chunks: Sequence[Chunk],
    collection: Collection,
    *,
    within: CollectionTrace,
    record: Record,
    parts: Components,
) -> list[MissedPassage]:
    """Explain each chunk: by the record where it was a candidate, else by looking again."""
    ids = [each.chunk_id for each in chunks]
    texts = await asyncio.to_thread(texts_of, parts.catalogue, ids, collection=collection.name)
    known = {each.chunk_id: each for each in ways_of(within, record, texts=texts)}
    deeper: dict[str, dict[str, LegScore]] = {}
    found = []
    for each in chunks:
        key = each.chunk_id
        at = texts.get(key, ChunkExcerpt())
        read = ended_in_context(key, record)
        if key in known:
            way = known[key]
            advice = _advice(way, record)
            found.append(MissedPassage(key, way.at, way.fate, way.why, advice, way.legs))
        elif read is not None:
            found.append(MissedPassage(key, at, read.fate, read.why))
        elif (outside := await _outside(each, collection, record=record, parts=parts)) is not None:
            found.append(_filtered(each, at, outside, record=record))
        else:
            deeper = deeper or await _deeper(record, collection, parts)
            legs = deeper.get(key, {})
            found.append(_missed(each, at, legs, within=within, record=record, now=collection))
    return found


def _unless_quoted(missed: MissedPassage, text: str, record: Record) -> MissedPassage:
    """Return a cited passage as one beside the quotations that do not hold the text."""
    if missed.reason != "cited":
        return missed
    needle = normalize_name(text)
    quoted = [each for each in record.answer.citations if each.chunk_id == missed.chunk_id]
    if any(each.cut or needle in normalize_name(each.snippet) for each in quoted):
        return missed
    found = beside(numbers_of(record, [missed.chunk_id]))
    return replace(missed, reason=found.fate, why=found.why)


def _advice(way: CandidateExplanation, record: Record) -> str:
    plan = record.plan
    match way.fate:
        case "over_budget":
            return _more("max_context_tokens", 2 * plan.max_context_tokens)
        case "below_final" if way.pool is not None:
            return _more("final_k", way.pool.rank)
        case "beyond_pool":
            return _more("rerank_pool", way.fused.rank)
        case "passed_over" if plan.max_per_document is not None:
            return _more("max_per_document", 2 * plan.max_per_document)
        case _:
            return ""


def _more(name: str, value: int) -> str:
    return f"ask with --set plan.{name}={value}" if value <= BOUNDS[name][1] else ""


async def _outside(
    chunk: Chunk, collection: Collection, *, record: Record, parts: Components
) -> Filter | None:
    """Return the first filter of the plan that the chunk does not pass."""
    own = Filter("document", "in", (chunk.document_id,))
    for each in record.plan.filters:
        passing = await asyncio.to_thread(
            parts.catalogue.look_up, collection, filters=[each, own], limit=WHOLE
        )
        if all(one.chunk_id != chunk.chunk_id for one in passing):
            return each
    return None


def _filtered(chunk: Chunk, at: ChunkExcerpt, outside: Filter, *, record: Record) -> MissedPassage:
    read = outside in record.answer.query.filters
    where = "was read out of the question" if read else "was given"
    key = next((key for key, found in FIELDS.items() if outside.field in found), outside.field)
    return MissedPassage(
        chunk.chunk_id,
        at,
        "filtered",
        f"does not pass the filter '{filter_text(outside)}', which {where}",
        f"add the filter {key}=any" if read else f"leave out the filter {key}=…",
    )


def _missed(
    chunk: Chunk,
    at: ChunkExcerpt,
    legs: Mapping[str, LegScore],
    *,
    within: CollectionTrace,
    record: Record,
    now: Collection,
) -> MissedPassage:
    """Explain a chunk that passed the filters and was no candidate, by its places now."""
    looked = record.plan.candidates_per_leg
    places = " and ".join(f"place {one.rank} by {BY[leg]}" for leg, one in legs.items())
    if not legs:
        why = f"not among the first {DEEP} by words or by vectors"
        return MissedPassage(chunk.chunk_id, at, "not_found", why)
    best = min(one.rank for one in legs.values())
    if best > looked:
        why = f"{places}; the first {looked} of each list were looked at"
        advice = _more("candidates_per_leg", best)
        return MissedPassage(chunk.chunk_id, at, "too_deep", why, advice, legs)
    if now.index_version != within.version:
        why = f"{places} today; the collection was another when the question was asked"
        return MissedPassage(chunk.chunk_id, at, "changed", why, legs=legs)
    why = f"{places}, and behind the first {len(within.candidates)} of {within.found} after fusion"
    return MissedPassage(chunk.chunk_id, at, "beyond_pool", why, legs=legs)


async def _deeper(
    record: Record, collection: Collection, parts: Components
) -> dict[str, dict[str, LegScore]]:
    """Search both legs deeply, as the plan would; gives the places of every chunk found."""
    plan, question = record.plan, record.answer.query.standalone
    index = parts.open_index(collection.table)
    rankings: dict[str, list[Scored]] = {}
    if plan.mode != "semantic":
        outline = await asyncio.to_thread(parts.catalogue.collection_outline, collection)
        rankings["keyword"] = await index.match(
            question, languages=outline.languages, limit=DEEP, filters=plan.filters
        )
    if plan.mode != "keyword":
        vectors = await parts.embedder.embed([question], role="query")
        rankings["semantic"] = await index.nearest(vectors[0], limit=DEEP, filters=plan.filters)
    found: dict[str, dict[str, LegScore]] = {}
    for leg, ranking in rankings.items():
        for rank, (key, score) in enumerate(ranking, start=1):
            found.setdefault(key, {})[leg] = LegScore(rank, score)
    return found
