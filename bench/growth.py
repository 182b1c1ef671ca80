"""Questions to quoth's largest index: how exact, and how fast while another process adds chunks.

``python -m bench.growth`` is that other process.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from bench.corpus import Corpus, Matrix, load_corpus, load_questions
from bench.measures import percentile
from bench.phases import LIMIT, WARM_UP, resident_mb
from bench.results import Figures
from bench.system import Stages, Tools
from bench.systems.quoth_engine import add_chunks, ask
from quoth.bootstrap import open_engine
from quoth.core.load_settings import load_settings
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request

DEPTH = 20
QUIET = 60
"""Questions asked before anything is added."""
BLOCK = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its vector, the rows that were there before it, the nearest found, seconds."""

    vector: Matrix
    rows: int
    nearest: Sequence[int]
    seconds: float


def measure_growth(*, data: Path, folder: Path, model: Path, chunks: int, added: int) -> Figures:
    """Ask while ``added`` chunks are added to the ``chunks`` that are there."""
    return asyncio.run(_measure(data, folder=folder, model=model, chunks=chunks, added=added))


async def _measure(data: Path, *, folder: Path, model: Path, chunks: int, added: int) -> Figures:
    settings = load_settings({"home": folder, "token_vectors": False})
    texts = [question.text for question in load_questions(data, chunks=None)]
    tools = Tools(model=model, stages=Stages())
    async with open_engine(settings) as engine:
        for text in texts[:WARM_UP]:
            await _asked(engine, text=text, tools=tools)
        quiet = [await _asked(engine, text=text, tools=tools) for text in texts[:QUIET]]
        command = ["-m", "bench.growth", "--data", str(data), "--folder", str(folder)]
        command += ["--first", str(chunks), "--last", str(chunks + added)]
        began = time.perf_counter()
        adding = await asyncio.create_subprocess_exec(sys.executable, *command)
        busy: list[Asked] = []
        most = 0.0
        while adding.returncode is None:
            text = texts[len(busy) % len(texts)]
            busy.append(await _asked(engine, text=text, tools=tools))
            most = max(most, resident_mb())
            await asyncio.sleep(0)
        took = time.perf_counter() - began
        if adding.returncode:
            raise RuntimeError("the process that adds chunks failed")
    vectors = np.load(data / "vectors.npy", mmap_mode="r")
    return Figures(
        p50_ms=1000 * percentile([each.seconds for each in quiet], 0.5),
        recall_20=_recall(quiet, vectors=vectors),
        timed=len(busy),
        busy_p50_ms=1000 * percentile([each.seconds for each in busy], 0.5),
        busy_p95_ms=1000 * percentile([each.seconds for each in busy], 0.95),
        busy_recall_20=_recall(busy[:: max(1, len(busy) // QUIET)], vectors=vectors),
        busy_chunks_per_s=added / took,
        rss_after_mb=most,
    )


async def _asked(engine: Engine, *, text: str, tools: Tools) -> Asked:
    collection = engine.parts.settings.collection
    index = engine.parts.open_index(engine.parts.catalogue.collection(collection).table)
    (vector,) = await engine.parts.embedder.embed([text], role="query")
    rows = await index.count()
    nearest = await index.nearest(vector, limit=DEPTH)
    began = time.perf_counter()
    await ask(engine, request=Request(text, {"final_k": LIMIT}), tools=tools)
    seconds = time.perf_counter() - began
    return Asked(vector, rows, [int(chunk_id) for chunk_id, _ in nearest], seconds)


def _recall(asked: Sequence[Asked], *, vectors: Matrix) -> float:
    """Compare with every vector; rows that came after a question was asked are left out."""
    questions = np.stack([each.vector for each in asked])
    last = max(each.rows for each in asked)
    blocks = [vectors[at : min(last, at + BLOCK)] @ questions.T for at in range(0, last, BLOCK)]
    scores = np.concatenate(blocks)
    shares = []
    for number, each in enumerate(asked):
        found = {row for row in each.nearest if row < each.rows}
        best = np.argsort(-scores[: each.rows, number])[: len(found)]
        shares.append(len(found & set(best.tolist())) / max(1, len(found)))
    return fmean(shares)


def main() -> None:
    """Add some chunks of a corpus to an index."""
    parser = argparse.ArgumentParser()
    for name in ("data", "folder"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("first", "last"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    whole = load_corpus(options.data, chunks=options.last)
    later = Corpus(*(getattr(whole, name)[options.first :] for name in whole.__slots__))
    settings = load_settings({"home": options.folder, "token_vectors": False})
    asyncio.run(add_chunks(later, settings=settings))


if __name__ == "__main__":
    main()
