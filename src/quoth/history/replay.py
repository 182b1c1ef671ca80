"""Ask a stored question again by the same plan, and compare."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from quoth.core.errors import Conflict
from quoth.core.plan import Plan
from quoth.core.types import Citation, Filter
from quoth.engine import Engine
from quoth.history.explain import ChunkExcerpt, filter_text, texts_of
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request
from quoth.store.catalogue import Catalogue
from quoth.text.json_codec import to_json
from quoth.text.locators import label

OWN = ("profile", "filters", "cache")
"""Fields of a plan that are not handed on: filters are read from the question again."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was otherwise."""

    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class RankChange:
    """A passage whose rank among the hits is another; None where it is not among them."""

    chunk_id: str
    at: ChunkExcerpt
    before: int | None
    now: int | None


@dataclass(frozen=True, slots=True)
class CollectionChanges:
    """What happened to a collection between the two answers.

    ``pinned`` says that nothing did: the same index version answered both times. ``gone`` counts
    the passages found then that are no longer there.
    """

    collection: str
    before: str
    now: str
    added: tuple[str, ...] = ()
    gone: int = 0

    @property
    def pinned(self) -> bool:
        """Whether both answers came from the same index version."""
        return self.before == self.now

    @property
    def rebuilt(self) -> bool:
        """Whether another index serves the collection."""
        return self.before.rpartition(":")[0] != self.now.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Counted:
    """How the candidates after fusion compare, in numbers."""

    same: int
    moved: int
    gained: int
    lost: int


@dataclass(frozen=True, slots=True)
class Replay:
    """A question asked again: what is the same, and what is not.

    ``same`` compares the results. Other models, another version or a changed index are listed
    and are no difference by themselves; neither are times.
    """

    query_id: str
    question: str
    same: bool
    since: tuple[CollectionChanges, ...]
    changes: tuple[Change, ...]
    makers: tuple[Change, ...]
    candidates: Counted | None
    hits: tuple[RankChange, ...]
    cited_before: tuple[str, ...]
    cited_now: tuple[str, ...]
    text_before: str
    text_now: str
    timings_ms: Mapping[str, tuple[float | None, float | None]]


async def replay(record: Record, engine: Engine) -> Replay:
    """Ask again on the library as it is now; the second answer is not stored.

    Raises Conflict where the question was not stored, and what `Engine.stream` raises.
    """
    records: list[Record] = []
    async for _event in engine.stream(request_again(record), keep=records.append):
        pass
    return await asyncio.to_thread(compare, record, records[-1], engine.parts.catalogue)


def request_again(record: Record) -> Request:
    """Make the request that leads to the same plan; the cache has no say in it."""
    if record.keeping == "hash":
        raise Conflict(
            "Only a hash of this question is stored, so it cannot be asked again. Set "
            "QUOTH_HISTORY=full to keep questions."
        )
    request = record.request
    choices = {
        each.name: getattr(record.plan, each.name) for each in fields(Plan) if each.name not in OWN
    }
    if len(record.searched) > 1 and request.choices.get("dense_weight") is None:
        del choices["dense_weight"]  # each collection has its own
    choices |= {"filters": request.choices.get("filters"), "cache": "none"}
    return replace(request, choices=choices)


def compare(before: Record, now: Record, catalogue: Catalogue) -> Replay:
    """Tell what is different between two records of one question."""
    changes = tuple(_changed(_described(before), _described(now)))
    hits = tuple(_moves(before, now, catalogue)) if before.searched else ()
    counted = _counted(before, now) if before.searched else None
    old, new = before.answer, now.answer
    cited = ([cited_words(each) for each in one.citations] for one in (old, new))
    lost, gained = _apart(*cited)
    even = counted is None or not (counted.moved or counted.gained or counted.lost)
    return Replay(
        query_id=before.query_id,
        question=before.request.question,
        same=not (changes or hits or lost or gained) and even and old.text == new.text,
        since=tuple(_since(before, now, catalogue)),
        changes=changes,
        makers=tuple(_changed(_maker_words(before), _maker_words(now))),
        candidates=counted,
        hits=hits,
        cited_before=lost,
        cited_now=gained,
        text_before=old.text,
        text_now=new.text,
        timings_ms={
            name: (old.timings_ms.get(name), new.timings_ms.get(name))
            for name in dict.fromkeys([*old.timings_ms, *new.timings_ms])
        },
    )


def cited_words(each: Citation) -> str:
    """Name what a citation quotes: the document, the place and the exact words."""
    return f"{each.document_name} · {label(each.locator)} · “{' '.join(each.snippet.split())}”"


def _apart(before: Iterable[str], now: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    one, two = dict.fromkeys(before), dict.fromkeys(now)
    return tuple(each for each in one if each not in two), tuple(
        each for each in two if each not in one
    )


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *now]):
        one, two = before.get(name, ""), now.get(name, "")
        if one != two:
            yield Change(name, one, two)


def _described(record: Record) -> dict[str, str]:
    """Describe how a query was read, planned and answered, by name."""
    query, plan, answer = record.answer.query, record.plan, record.answer
    return {
        "language": query.language,
        "kind": query.kind,
        "standalone question": query.standalone,
        "in the conversation": query.in_context,
        "filters read": _filters(query.filters),
        "guesses": _filters(query.boosts),
        "aspects": "; ".join(query.aspects),
        **{f"plan.{each.name}": str(getattr(plan, each.name)) for each in fields(Plan)},
        "plan.filters": _filters(plan.filters),
        "plan.cache": "",  # a replay never reads the cache
        "status": answer.status,
        "degraded": "; ".join(answer.degraded),
        "prompt": answer.prompt or "",
        "model": answer.model or "",
    }


def _maker_words(record: Record) -> dict[str, str]:
    if not record.makers.embedder:  # stored by an older version without them
        return {}
    return {each.name: getattr(record.makers, each.name) for each in fields(record.makers)}


def _filters(filters: Sequence[Filter]) -> str:
    return "; ".join(filter_text(each) for each in filters)


def _moves(before: Record, now: Record, catalogue: Catalogue) -> Iterator[RankChange]:
    old, new = _hits(before), _hits(now)
    moved = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    texts: dict[str, ChunkExcerpt] = {}
    for each in now.searched:
        texts |= texts_of(catalogue, moved, collection=each.collection)
    for key in moved:
        yield RankChange(key, texts.get(key, ChunkExcerpt()), old.get(key), new.get(key))


def _hits(record: Record) -> dict[str, int]:
    found = {
        each.chunk_id: each.shown
        for one in record.searched
        for each in one.candidates
        if each.shown is not None
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def _counted(before: Record, now: Record) -> Counted:
    old, new = _fused(before), _fused(now)
    both = old.keys() & new.keys()
    moved = sum(old[key] != new[key] for key in both)
    return Counted(len(both) - moved, moved, len(new.keys() - both), len(old.keys() - both))


def _fused(record: Record) -> dict[tuple[str, str], tuple[int, int | None]]:
    """The places of every candidate: after fusion and in the pool."""
    return {
        (one.collection, each.chunk_id): (
            each.fused.rank,
            None if each.pool is None else each.pool.rank,
        )
        for one in record.searched
        for each in one.candidates
    }


def _since(before: Record, now: Record, catalogue: Catalogue) -> Iterator[CollectionChanges]:
    versions = {each.collection: each.version for each in before.searched}
    if not versions:
        versions = {before.collection: before.answer.index_version}
    today = {each.collection: each.version for each in now.searched}
    for name, version in versions.items():
        found = catalogue.find_collection(name)
        at = today.get(name, "")
        if found is None or version == at:
            yield CollectionChanges(name, version, at)
            continue
        ids = [
            each.chunk_id
            for one in before.searched
            for each in one.candidates
            if one.collection == name
        ]
        yield CollectionChanges(
            name,
            version,
            at,
            tuple(catalogue.added_since(found, before.created_at)),
            len(ids) - len(catalogue.owners(ids)),
        )


def to_text(value: Replay) -> dict[str, Any]:
    """The replay as plain data, with what follows from it."""
    found: dict[str, Any] = to_json(value)
    for each, one in zip(found["since"], value.since, strict=True):
        each.update(pinned=one.pinned, rebuilt=one.rebuilt)
    return {**found, "text_same": value.text_before == value.text_now}
