"""Query records, for explanation and replay.

Of the library a record holds ids, ranks and scores; the texts that were shown are in the answer
only. The retention level is a setting: everything, a hash of the query without texts, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from quoth.core.plan import Plan, plan_for_kind
from quoth.core.types import (
    Answer,
    LegScore,
    ScoreKind,
)
from quoth.pipeline.components import model_names
from quoth.pipeline.rank import RankedList
from quoth.pipeline.retrieve import Request, RequestContext, Retrieved
from quoth.retrieval.rerank import FUSED
from quoth.store.history import AnswerMeasures
from quoth.store.privacy_settings import HistoryLevel

Span = tuple[float, float]
"""Begin and end, in milliseconds since the request began."""

MAX_CANDIDATES = 300
"""Maximum candidates stored per query, in addition to those of the pools."""


@dataclass(frozen=True, slots=True)
class CandidateTrace:
    """A chunk that a search found, and how far it got.

    ``legs`` holds ranks and raw scores of the retrievers and the reranker; ``fused`` and ``pool``
    its rank and score after fusion and in the final pool, ``kind`` the kind of the last score;
    ``shown`` its rank among the hits. None where it did not get that far.
    """

    chunk_id: str
    legs: Mapping[str, LegScore]
    fused: LegScore
    kind: ScoreKind
    pool: LegScore | None = None
    shown: int | None = None


@dataclass(frozen=True, slots=True)
class CollectionTrace:
    """Search results of one collection, best first after fusion.

    ``version`` is the index version; ``found`` counts all candidates, of which the first and those
    of the pool are stored. ``whole`` means that all of them were requested.
    """

    collection: str
    version: str
    found: int
    candidates: tuple[CandidateTrace, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ModelVersions:
    """Names of the models that took part, empty where there was none, and quoth's version."""

    embedder: str = ""
    reranker: str = ""
    generator: str = ""
    judge: str = ""
    page_embedder: str = ""
    quoth: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A query with all that was chosen, found and answered.

    ``request`` names the collections that were searched, even if defaulted. ``passages`` holds the
    chunk ids of each passage, best first; ``copies`` maps each near-duplicate chunk to the one
    shown; ``spans_ms`` holds when each stage first began and last ended. ``searched`` is empty for
    a cached answer and for queries stored before records existed.
    """

    request: Request
    plan: Plan
    answer: Answer
    searched: tuple[CollectionTrace, ...] = ()
    passages: tuple[tuple[str, ...], ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    makers: ModelVersions = ModelVersions()
    spans_ms: Mapping[str, Span] = field(default_factory=dict)
    created_at: str = ""
    collection: str = ""
    keeping: HistoryLevel = "full"

    @property
    def query_id(self) -> str:
        """Return the query id."""
        return self.answer.query_id


@cache
def _release() -> str:
    try:
        return version("quoth")
    except PackageNotFoundError:  # a source tree that was not installed
        return ""


def build_record(context: RequestContext, *, answer: Answer, found: Retrieved | None) -> Record:
    """Return the record of an answered query; ``found`` is None for a cached answer."""
    parts, request = context.parts, context.request
    names = tuple(dict.fromkeys(request.collections)) or (parts.settings.collection,)
    record = Record(
        request=replace(request, collections=names),
        plan=plan_for_kind(context.plan, answer.query.kind, overrides=request.choices),
        answer=answer,
        makers=ModelVersions(*model_names(parts), quoth=_release()),
        spans_ms=context.trace.spans_ms(),
        collection=", ".join(names),
        keeping=parts.settings.history,
    )
    if found is None:
        return record
    shown = {hit.chunk_id: hit.rank for hit in found.hits}
    most = MAX_CANDIDATES // max(1, len(found.ranked))
    return replace(
        record,
        plan=found.plan,
        searched=tuple(
            _collection_trace(ranking, shown=shown, most=most) for ranking in found.ranked
        ),
        passages=tuple(tuple(c.chunk_id for c in passage.chunks) for passage in found.passages),
        copies=found.copies,
    )


def measure(record: Record) -> AnswerMeasures | None:
    """Return the measures of an answer; None for a cached one, measured when it was written.

    A check removes the citations of a sentence that it does not find supported, so that every
    sentence whose support was decided counts, with or without a citation.
    """
    answer = record.answer
    if answer.cached:
        return None
    decided = [each.support for each in answer.sentences if each.support != "unverified"]
    used = set(answer.used_chunks)
    cited = {citation.chunk_id for citation in answer.citations}
    in_context = [chunk_ids for chunk_ids in record.passages if not used.isdisjoint(chunk_ids)]
    return AnswerMeasures(
        sentences_checked=len(decided),
        sentences_supported=decided.count("supported"),
        passages_in_context=len(in_context),
        passages_cited=sum(not cited.isdisjoint(chunk_ids) for chunk_ids in in_context),
    )


def _collection_trace(
    ranked: RankedList, *, shown: Mapping[str, int], most: int
) -> CollectionTrace:
    pool = {
        candidate.chunk_id: (rank, candidate) for rank, candidate in enumerate(ranked.pool, start=1)
    }
    traces = []
    for rank, each in enumerate(ranked.fused, start=1):
        if rank > most and each.chunk_id not in pool:
            continue
        pool_rank, last = pool.get(each.chunk_id, (None, each))
        traces.append(
            CandidateTrace(
                each.chunk_id,
                {leg: score for leg, score in {**each.legs, **last.legs}.items() if leg != FUSED},
                LegScore(rank, each.score),
                last.score_kind,
                None if pool_rank is None else LegScore(pool_rank, last.score),
                shown.get(each.chunk_id),
            )
        )
    return CollectionTrace(
        collection=ranked.collection.name,
        version=ranked.collection.index_version,
        found=len(ranked.fused),
        candidates=tuple(traces),
        whole=ranked.whole,
    )
