"""The first half of the path: from a question to numbered passages.

understand → search both legs → fuse → diversify → fetch → neighbours
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from quoth import strategies
from quoth.catalogue.rows import Around, Collection
from quoth.catalogue.store import Catalogue
from quoth.parts import Parts, require_same_identity
from quoth.plan import Plan, make_plan
from quoth.retrieval.diversify import cap_per_document
from quoth.retrieval.filters import parse_filters
from quoth.retrieval.passages import hit_of, passages_of
from quoth.retrieval.search import Legs
from quoth.retrieval.understand import understand, validate
from quoth.trace import Trace
from quoth.types import Candidate, Hit, Passage, Query

Choices = Mapping[str, Any]
"""Fields of `Plan` by name, as the caller wants them; None means "not given"."""

RELAXED: Mapping[str, str] = {
    "en": "Nothing was found at the place that the question names, so the search left it out.",
    "fr": "Rien n'a été trouvé à l'endroit que nomme la question\u202f; la recherche s'en est "
    "passée.",
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate after fusion, and the pool of them that goes on, in its final order."""

    query: Query
    plan: Plan
    scope: Collection
    legs: Legs
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the first half of the path found; `candidates` went through the whole chain."""

    query: Query
    plan: Plan
    scope: Collection
    legs: Legs
    fused: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()


async def retrieve(
    parts: Parts,
    question: str,
    *,
    collection: str,
    choices: Choices,
    filters: Sequence[str],
    checked: bool,
    trace: Trace,
) -> Retrieved:
    """Find the passages for a question.

    Filters that were read out of the question, and leave nothing, are let go with a warning;
    those that were given stay. ``checked`` false takes questions of any length.
    """
    with trace.stage("understand"):
        scope, languages = await asyncio.to_thread(parts.catalogue.scope, collection)
        require_same_identity(scope, parts.embedder)
        query = understand(validate(question) if checked else question, languages=languages)
        given = parse_filters(filters)
    rank_for = partial(rank, parts, scope, languages=languages, choices=choices, trace=trace)
    ranked = await rank_for(query=replace(query, filters=(*query.filters, *given)))
    if ranked.fused or not query.filters:
        return await gather(parts, ranked, trace=trace)
    ranked = await rank_for(query=replace(query, filters=given))
    said = RELAXED.get(query.language, RELAXED["en"])
    return replace(await gather(parts, ranked, trace=trace), warnings=(said,))


async def rank(
    parts: Parts,
    scope: Collection,
    *,
    query: Query,
    languages: Sequence[str],
    choices: Choices,
    trace: Trace,
) -> Ranked:
    """Search → fuse → diversify."""
    overrides = {**choices, "filters": (*query.filters, *(choices.get("filters") or ()))}
    plan = make_plan(parts.settings.profile, query.kind, overrides=overrides)
    found = await strategies.rank(strategies.Scope(parts, scope, languages, trace), query, plan)
    return Ranked(query, plan, scope, found.legs, found.fused, found.pool)


async def gather(parts: Parts, ranked: Ranked, *, trace: Trace) -> Retrieved:
    """Cap → fetch with neighbours: from chunk ids to texts, places and passages."""
    plan = ranked.plan
    with trace.stage("fetch"):
        final, around = await asyncio.to_thread(_fetch, parts.catalogue, ranked)
    with trace.stage("neighbours"):
        passages = passages_of(final, around=around, window=plan.context_window)
        hits = tuple(
            hit_of(each, rank=rank, around=around) for rank, each in enumerate(final, start=1)
        )
    return Retrieved(
        ranked.query,
        plan,
        ranked.scope,
        ranked.legs,
        ranked.fused,
        tuple(final),
        hits,
        passages,
    )


def _fetch(catalogue: Catalogue, ranked: Ranked) -> tuple[list[Candidate], Around]:
    """Fetch the final candidates and the chunks around them, in one go where nothing is amiss."""
    plan, pool = ranked.plan, list(ranked.pool)
    if plan.max_per_document is not None:
        owners = catalogue.owners([each.chunk_id for each in pool])
        pool = cap_per_document(
            [each for each in pool if each.chunk_id in owners],
            document_of=owners.__getitem__,
            most=plan.max_per_document,
        )
    final = pool[: plan.final_k]
    ids = [each.chunk_id for each in final]
    around = catalogue.around(ranked.scope, ids, window=plan.context_window)
    if not around.chunks.keys() >= set(ids):
        # Rows whose document is not committed, or is gone, lead nowhere: others take their place.
        owners = catalogue.owners([each.chunk_id for each in pool])
        final = [each for each in pool if each.chunk_id in owners][: plan.final_k]
        ids = [each.chunk_id for each in final]
        around = catalogue.around(ranked.scope, ids, window=plan.context_window)
    return [each for each in final if each.chunk_id in around.chunks], around
