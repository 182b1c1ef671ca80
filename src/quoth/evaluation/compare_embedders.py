"""Compares the index of a new embedder with that of the one before, on the collection's questions.

The questions are those that `quoth.evaluation.tune` makes of the collection, asked of both indexes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quoth.core.plan import make_plan
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.evaluation.corpus import Progress
from quoth.evaluation.made_questions import MadeQuestion
from quoth.evaluation.probe import Bm25Index, Prober, ProbeResult
from quoth.evaluation.significance import compare_series
from quoth.evaluation.tune import WORD_CHUNKS, made_of, reciprocal_rank
from quoth.pipeline.components import components_of
from quoth.store.rows import Collection

MOST = 100
"""Questions that both are asked."""
FIRST = 10


@dataclass(frozen=True, slots=True)
class EmbedderScores:
    """How an embedder's index ranks the right passages: mean reciprocal ranks, and recall@10.

    ``semantic`` is by vectors alone; ``both`` and ``found`` are together with the keywords.
    """

    embedder: str
    semantic: float
    both: float
    found: float


@dataclass(frozen=True, slots=True)
class EmbedderComparison:
    """Both embedders on the same questions; ``overlap`` is the shared part of the first ten hits.

    ``p`` is the probability of a difference in ``both`` this large by chance.
    """

    questions: int
    overlap: float
    before: EmbedderScores
    now: EmbedderScores
    p: float


async def compare_embedders(engine: Engine, *, progress: Progress) -> EmbedderComparison | None:
    """Ask the index in use and the one that is kept; None without one, or without questions.

    Raises IndexMismatch where an embedder cannot be opened, and BackendError.
    """
    catalogue = engine.parts.catalogue
    name = engine.parts.settings.collection
    scope = await asyncio.to_thread(catalogue.collection, name)
    if scope.kept is None:
        return None
    documents, chunks, made = await made_of(engine, name, most=MOST)
    if not made:
        return None
    words = await asyncio.to_thread(Bm25Index.of, chunks[:WORD_CHUNKS])
    old = replace(
        scope, table=scope.kept.table, identity=scope.kept.identity, embedder=scope.kept.embedder
    )
    before = await _ask(engine, old, made, documents=documents, words=words, progress=progress)
    now = await _ask(engine, scope, made, documents=documents, words=words, progress=progress)
    weight = make_plan(engine.parts.settings.profile).dense_weight
    ranks = [[reciprocal_rank(each, weight) for each in asked] for asked in (now, before)]
    return EmbedderComparison(
        questions=len(made),
        overlap=_mean([_overlap(*pair, weight) for pair in zip(before, now, strict=True)]),
        before=_scores(scope.kept.identity.embedder, before, weight),
        now=_scores(scope.identity.embedder, now, weight),
        p=compare_series("", now=ranks[0], before=ranks[1]).p,
    )


async def _ask(
    engine: Engine,
    scope: Collection,
    made: Sequence[MadeQuestion],
    *,
    documents: Mapping[str, Document],
    words: Bm25Index,
    progress: Progress,
) -> list[ProbeResult]:
    plan = make_plan(engine.parts.settings.profile)
    prober = Prober(
        await asyncio.to_thread(components_of, engine.parts, scope),
        scope,
        documents=documents,
        words=words,
        dense_weight=plan.dense_weight,
        rerank_weight=plan.rerank_weight,
    )
    return await prober.ranked(made, progress=progress)


def _scores(embedder: str, asked: Sequence[ProbeResult], weight: float) -> EmbedderScores:
    found = [not each.accepted.isdisjoint(_first(each, weight)) for each in asked]
    return EmbedderScores(
        embedder,
        semantic=_mean([reciprocal_rank(each, 1.0) for each in asked]),
        both=_mean([reciprocal_rank(each, weight) for each in asked]),
        found=_mean(found),
    )


def _overlap(one: ProbeResult, other: ProbeResult, weight: float) -> float:
    first, second = _first(one, weight), _first(other, weight)
    return len(first & second) / max(1, len(first), len(second))


def _first(asked: ProbeResult, weight: float) -> set[str]:
    return {each.chunk_id for each in asked.fused(weight)[:FIRST]}


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / max(1, len(values)), 4)
