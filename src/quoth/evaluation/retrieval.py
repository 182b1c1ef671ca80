"""Retrieval on judged questions: every leg, their fusion, and the profile's whole chain.

Beside them stand reciprocal rank fusion and an even mix of the same legs.

The corpus is indexed once, by the same path as any document, and kept under the hash of its
content and of everything that shapes an index.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
from ir_measures import RR, R, nDCG

from quoth.core.errors import InputError
from quoth.core.plan import Plan
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Scored
from quoth.engine import Engine
from quoth.evaluation.corpus import Progress, open_corpus
from quoth.evaluation.datasets import Judgments, RetrievalSet, load_retrieval_set
from quoth.evaluation.significance import latency_ms
from quoth.pipeline.rank import RankedList
from quoth.pipeline.retrieve import Request
from quoth.retrieval.fusion import reciprocal_rank_fusion

DEPTH = 100
"""Documents ranked per question; recall@100 needs as many."""
TIMED = 100
"""Questions asked again, with the plan as it is, for the latency."""
MEASURES = {
    "ndcg@10": nDCG @ 10,
    "recall@20": R @ 20,
    "recall@100": R @ 100,
    "mrr@10": RR @ 10,
}
"""nDCG has linear gains (the grade) and the logarithm to base 2 of rank + 1 as discount (Järvelin
and Kekäläinen, TOIS 2002); recall and reciprocal rank count every grade above 0 as relevant."""


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """The measures of each leg by name, and milliseconds per question.

    ``per_question`` gives the same measures for every question of every leg, as paired tests
    need them.
    """

    documents: int
    queries: int
    legs: Mapping[str, Mapping[str, float]]
    latency_ms: Mapping[str, float]
    per_question: Mapping[str, Mapping[str, Mapping[str, float]]]
    latencies_ms: Sequence[float]


async def evaluate_retrieval(
    folder: Path,
    *,
    queries: Path | None,
    settings: Settings,
    choices: Mapping[str, Any],
    progress: Progress,
) -> RetrievalReport:
    """Measure retrieval on a folder in the format of the contract; raises InputError."""
    data = load_retrieval_set(folder, queries=queries)
    async with open_corpus(data.corpus, settings=settings, progress=progress) as engine:
        runs = await _run(engine, data, choices=choices, progress=progress)
        spent = await _latency(engine, data, choices=choices)
    rows = {leg: per_question(run, judgments=data.judgments) for leg, run in runs.items()}
    legs = {leg: mean(each) for leg, each in rows.items()}
    latency = latency_ms(spent)
    return RetrievalReport(len(data.corpus), len(data.questions), legs, latency, rows, spent)


async def _run(
    engine: Engine,
    data: RetrievalSet,
    *,
    choices: Mapping[str, Any],
    progress: Progress,
) -> dict[str, dict[str, list[str]]]:
    """Ask every question; gives leg → question → documents, best first."""
    if taken := sorted({"final_k", "context_window"} & choices.keys()):
        raise InputError(f"'plan.{taken[0]}' is fixed here, so that {DEPTH} documents are ranked.")
    pool = int(choices.get("rerank_pool") or Plan().rerank_pool)
    # A copy of a relevant document is judged relevant too, so that none is taken out here.
    deep = {"candidates_per_leg": DEPTH, "duplicate_cosine": 1.0, **choices}
    deep |= {"final_k": pool, "context_window": 0}
    names = {document.document_id: document.source for document in await engine.documents()}
    runs: dict[str, dict[str, list[str]]] = {}
    for at, question in enumerate(data.questions):
        progress("Asking", at, len(data.questions))
        request = Request(question.text, deep, checked=False)
        (found,) = (await engine.retrieve(request, trace=Trace())).ranked
        owners = await _owners(engine, found)
        document_of = {key: names[owner] for key, owner in owners.items()}
        rankings: Mapping[str, Sequence[str]] = {
            "keyword": [key for key, _ in found.legs.keyword],
            "semantic": [key for key, _ in found.legs.semantic],
            "rrf": fuse_ranks(found.legs.keyword, found.legs.semantic),
            "mix": mix_evenly(found.legs.keyword, found.legs.semantic),
            "hybrid": [each.chunk_id for each in found.fused],
            # What the reranker did not see keeps its place behind what it saw.
            "full": [each.chunk_id for each in (*found.pool, *found.fused)],
        }
        for leg, ranking in rankings.items():
            run = runs.setdefault(leg, {})
            run[question.id] = document_ranking(ranking, document_of=document_of)
    return runs


def fuse_ranks(keyword: Sequence[Scored], semantic: Sequence[Scored]) -> list[str]:
    """Return ids by reciprocal rank fusion, k 60."""
    fused = reciprocal_rank_fusion({"keyword": keyword, "semantic": semantic})
    return [each.chunk_id for each in fused]


def mix_evenly(keyword: Sequence[Scored], semantic: Sequence[Scored]) -> list[str]:
    """Return ids by the sum of both scores: BM25 divided by its best, cosines scaled to 0 to 1."""
    sums: dict[str, float] = defaultdict(float)
    for ranking, low in ((keyword, 0.0), (semantic, min((s for _, s in semantic), default=0.0))):
        high = max((score for _key, score in ranking), default=0.0)
        for key, score in ranking:
            sums[key] += (score - low) / (high - low) if high > low else 1.0
    return sorted(sums, key=lambda key: (-sums[key], key))


async def _owners(engine: Engine, found: RankedList) -> dict[str, str]:
    ids = {key for key, _ in (*found.legs.keyword, *found.legs.semantic)}
    ids |= {each.chunk_id for each in (*found.fused, *found.pool)}
    chunks = await asyncio.to_thread(engine.parts.catalogue.chunks, sorted(ids))
    return {key: chunk.document_id for key, chunk in chunks.items()}


async def _latency(
    engine: Engine, data: RetrievalSet, *, choices: Mapping[str, Any]
) -> list[float]:
    spent = []
    for query in data.questions[:TIMED]:
        began = time.perf_counter()
        await engine.retrieve(Request(query.text, choices, checked=False), trace=Trace())
        spent.append(round((time.perf_counter() - began) * 1000, 2))
    return spent


# --- measures --------------------------------------------------------------------------------


def mean(rows: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Average every measure over the questions."""
    return {
        name: sum(row[name] for row in rows.values()) / len(rows) if rows else 0.0
        for name in MEASURES
    }


def per_question(
    runs: Mapping[str, Sequence[str]], *, judgments: Judgments
) -> dict[str, dict[str, float]]:
    """Return every measure for each judged question of the run.

    ``runs`` gives document ids, best first, per question; a question whose list is empty counts
    with 0, one without judgments does not count.
    """
    judged = {question: dict(judgments[question]) for question in runs if question in judgments}
    scored = {
        question: {each: float(-rank) for rank, each in enumerate(runs[question])}
        for question in judged
    }
    rows = {question: dict.fromkeys(MEASURES, 0.0) for question in judged}
    names = {each: name for name, each in MEASURES.items()}
    for value in ir_measures.iter_calc(list(names), judged, scored):
        rows[value.query_id][names[value.measure]] = float(value.value)
    return rows


def document_ranking(chunks: Sequence[str], *, document_of: Mapping[str, str]) -> list[str]:
    """Turn ranked chunk ids into ranked documents: a document stands where its best chunk does."""
    return list(dict.fromkeys(document_of[each] for each in chunks))
