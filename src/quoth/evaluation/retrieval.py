"""Retrieval on judged questions: every leg, their fusion, and the profile's whole chain.

The corpus is indexed once, by the same path as any document, and kept under the hash of its
content and of everything that shapes an index.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from quoth.add import PIPELINE, make_entry, write_batch
from quoth.analyse import ANALYSER
from quoth.catalogue.rows import Entry, digest
from quoth.engine import Engine
from quoth.errors import InputError
from quoth.evaluation.datasets import RetrievalSet, Source, load_retrieval_set
from quoth.evaluation.measures import document_ranking, mean, per_question
from quoth.parts import identity_of
from quoth.plan import Plan
from quoth.retrieve import Request
from quoth.settings import Settings
from quoth.strategies import Ranked
from quoth.trace import Trace
from quoth.types import Chars, Place, Reading
from quoth.wiring import open_engine

COLLECTION = "eval"
BATCH_DOCUMENTS = 128
DEPTH = 100
"""Documents ranked per question; recall@100 needs as many."""
TIMED = 100
"""Questions asked again, with the plan as it is, for the latency."""


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
    progress: Callable[[str, int, int], None],
) -> RetrievalReport:
    """Measure retrieval on a folder in the format of the contract; raises InputError."""
    data = load_retrieval_set(folder, queries=queries)
    key = sha256(
        f"{data.corpus_hash} {ANALYSER} {PIPELINE} {settings.chunk_tokens} "
        f"{settings.embedder or settings.profile}".encode()
    ).hexdigest()[:16]
    kept = settings.model_copy(
        update={"home": settings.home / "eval" / key, "collection": COLLECTION}
    )
    async with open_engine(kept) as engine:
        await index_corpus(engine, data.corpus, progress=progress)
        runs = await _run(engine, data, choices=choices, progress=progress)
        spent = await _latency(engine, data, choices=choices)
    rows = {leg: per_question(run, judgments=data.judgments) for leg, run in runs.items()}
    legs = {leg: mean(each) for leg, each in rows.items()}
    p50, p95 = np.percentile(spent, [50, 95])
    latency = {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}
    return RetrievalReport(len(data.corpus), len(data.questions), legs, latency, rows, spent)


async def index_corpus(
    engine: Engine, corpus: Sequence[Source], *, progress: Callable[[str, int, int], None]
) -> None:
    """Add every row of a corpus as a document of its own, unless it is there already."""
    parts = engine.parts
    collection = await asyncio.to_thread(
        parts.catalogue.make_collection, COLLECTION, identity=identity_of(parts.embedder)
    )
    ready = await asyncio.to_thread(parts.catalogue.ready_ids, collection)
    rows = [(digest(collection.id, row.id), row) for row in corpus]
    missing = [(key, row) for key, row in rows if key not in ready]
    for at in range(0, len(missing), BATCH_DOCUMENTS):
        progress("Indexing", at, len(missing))
        batch: list[Entry] = []
        for key, row in missing[at : at + BATCH_DOCUMENTS]:
            text = row.text if row.text.strip() else row.title or row.id
            reading = Reading(
                kind="text",
                title=row.title,
                text=text,
                places=(Place(0, len(text), Chars(0, len(text))),),
            )
            batch.append(
                await asyncio.to_thread(
                    make_entry,
                    parts,
                    collection,
                    reading=reading,
                    source=row.id,
                    sha=key,
                    key=key,
                )
            )
        async for _ in write_batch(parts, collection, batch=batch):
            pass
    if missing:
        await parts.open_index(collection.table).optimize()
    await engine.settle()


async def _run(
    engine: Engine,
    data: RetrievalSet,
    *,
    choices: Mapping[str, Any],
    progress: Callable[[str, int, int], None],
) -> dict[str, dict[str, list[str]]]:
    """Ask every question; gives leg → question → documents, best first."""
    if taken := sorted({"final_k", "context_window"} & choices.keys()):
        raise InputError(f"'plan.{taken[0]}' is fixed here, so that {DEPTH} documents are ranked.")
    pool = int(choices.get("rerank_pool") or Plan().rerank_pool)
    deep = {"candidates_per_leg": DEPTH, **choices, "final_k": pool, "context_window": 0}
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
            "hybrid": [each.chunk_id for each in found.fused],
            # What the reranker did not see keeps its place behind what it saw.
            "full": [each.chunk_id for each in (*found.pool, *found.fused)],
        }
        for leg, ranking in rankings.items():
            run = runs.setdefault(leg, {})
            run[question.id] = document_ranking(ranking, document_of=document_of)
    return runs


async def _owners(engine: Engine, found: Ranked) -> dict[str, str]:
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
