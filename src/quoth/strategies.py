"""How passages are found in one collection, by the kind of question.

`rank` is the way of most questions: search → fuse → rerank → diversify. The others end in the
same `Ranked`: what was asked for by its place is looked up, a summary covers its document, and a
comparison ranks for each of its aspects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quoth.catalogue.rows import Collection
from quoth.parts import Parts
from quoth.plan import Plan
from quoth.protocols import Matrix
from quoth.retrieval.diversify import maximal_marginal_relevance
from quoth.retrieval.search import Legs, merge, search
from quoth.trace import Trace
from quoth.types import Candidate, Query, Variant

BOOST = 0.5
"""Say of what a guessed filter finds, beside the question's own 1."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One collection as a question finds it."""

    parts: Parts
    collection: Collection
    languages: Sequence[str]
    trace: Trace


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate after fusion, and the pool of them that goes on, in its final order."""

    collection: Collection
    legs: Legs
    fused: tuple[Candidate, ...]
    pool: tuple[Candidate, ...]


async def rank(scope: Scope, query: Query, plan: Plan) -> Ranked:
    """Search → fuse → diversify."""
    trace = scope.trace
    index = scope.parts.open_index(scope.collection.table)
    variants = _wordings(query)
    found = await search(
        variants,
        plan,
        embedder=scope.parts.embedder,
        index=index,
        chunks_of=scope.parts.catalogue.chunks,
        languages=scope.languages,
        trace=trace,
    )
    with trace.stage("fuse"):
        fused = merge(variants, found, plan)
    pool = fused[: plan.rerank_pool]
    if plan.mmr_lambda < 1:
        vectors = await trace.attempt(
            "diversify",
            lambda: index.vectors([each.chunk_id for each in pool]),
            otherwise=_no_vectors,
            fallback="fused order",
        )
        pool = maximal_marginal_relevance(
            pool, vectors=vectors, mmr_lambda=plan.mmr_lambda, limit=len(pool)
        )
    return Ranked(scope.collection, found[0], tuple(fused), tuple(pool))


def _wordings(query: Query) -> tuple[Variant, ...]:
    guesses = (
        Variant(query.standalone, weight=BOOST, name=f"{each.field} guessed", filters=(each,))
        for each in query.boosts
    )
    return (Variant(query.standalone), *guesses)


def _no_vectors() -> Mapping[str, Matrix]:
    """What diversity goes on with when the index cannot give vectors: no likeness is known."""
    return {}
