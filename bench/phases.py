"""The three phases and what is measured in each; every one runs in a process of its own."""

from __future__ import annotations

import gc
import resource
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from bench.corpus import Question, load_corpus, load_questions, load_spans
from bench.measures import ndcg, percentile, recall
from bench.results import Figures
from bench.system import Found, Retrieve, Stages, System, Tools

LIMIT = 10
WARM_UP = 8
COLD_QUESTION = "what must be kept in mind when a heated model is built"
SLOW = 2.0
"""Queries per second with 8 clients below which 64 clients are not tried."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long the query phase measures: seconds alone, and seconds with concurrent clients."""

    alone_s: float
    together_s: float


def measure_build(system: System, *, data: Path, folder: Path, chunks: int | None) -> Figures:
    """Index ready chunks and vectors; imports and embedding are left out."""
    corpus = load_corpus(data, chunks=chunks)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    gc.collect()
    cpu, began = time.process_time(), time.perf_counter()
    system.build(corpus, folder=folder)
    took, used = time.perf_counter() - began, time.process_time() - cpu
    # quoth copies its index for searching behind the ingest; everything is found before that, too.
    finish = getattr(system, "finish", None)
    began = time.perf_counter()
    if finish is not None:
        finish(folder)
    finished = time.perf_counter() - began
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Figures(
        chunks_per_s=len(corpus.ids) / took,
        chunks_per_cpu_s=len(corpus.ids) / used,
        disk_mb=size / 2**20,
        finish_s=None if finish is None else finished,
    )


def measure_cold(system: System, *, model: Path, folder: Path, began: float) -> Figures:
    """Time from `began`, when the process was started, to the first context."""
    tools = Tools(model=model, stages=Stages())
    system.load(folder, tools=tools)(COLD_QUESTION, LIMIT)
    return Figures(cold_s=time.time() - began, cold_cpu_s=time.process_time())


def measure_queries(
    system: System, *, data: Path, chunks: int | None, model: Path, folder: Path, effort: Effort
) -> Figures:
    """Ask one by one, then from 8 and from 64 threads; no question is asked twice."""
    tools = Tools(model=model, stages=Stages())
    retrieve = system.load(folder, tools=tools)
    spans = load_spans(data)
    for span in spans[:WARM_UP]:
        retrieve(span, LIMIT)
    gc.collect()
    before = resident_mb()
    tools.stages.on = True
    alone = ask_alone(
        retrieve, questions=load_questions(data, chunks=chunks), seconds=effort.alone_s
    )
    tools.stages.on = False
    together: dict[str, float] = {}
    if effort.together_s:
        half = len(spans) // 2
        together |= ask_together(
            retrieve, spans=spans[WARM_UP:half], clients=8, seconds=effort.together_s
        )
        if together["qps_8"] >= SLOW:
            together |= ask_together(
                retrieve, spans=spans[half:], clients=64, seconds=effort.together_s
            )
    return Figures(
        **alone,
        **together,
        rss_mb=before,
        rss_after_mb=resident_mb() if together else None,
        stages_ms={
            name: round(1000 * median(times), 3) for name, times in tools.stages.seconds.items()
        },
    )


def ask_alone(
    retrieve: Retrieve, *, questions: Sequence[Question], seconds: float
) -> dict[str, float]:
    """Ask the judged questions one after the other until the time is up."""
    times: list[float] = []
    answers: list[tuple[Question, Found]] = []
    cpu, began = time.process_time(), time.perf_counter()
    for question in questions:
        asked = time.perf_counter()
        answer = retrieve(question.text, LIMIT)
        times.append(time.perf_counter() - asked)
        answers.append((question, answer))
        if time.perf_counter() - began > seconds:
            break
    used = time.process_time() - cpu
    return {
        "timed": len(times),
        "p50_ms": 1000 * percentile(times, 0.5),
        "p95_ms": 1000 * percentile(times, 0.95),
        "p99_ms": 1000 * percentile(times, 0.99),
        "cpu_ms": 1000 * used / len(times),
        "qps_1": 1 / fmean(times),
        **judge(answers),
    }


def judge(answers: Sequence[tuple[Question, Found]]) -> dict[str, float]:
    """Measure the ranking of the judged questions among those asked."""
    ranked = [
        ([hit.chunk_id for hit in found.hits], question.judged)
        for question, found in answers
        if question.judged
    ]
    if not ranked:
        return {}
    return {
        "judged": len(ranked),
        "ndcg_10": fmean(ndcg(ranking, judged) for ranking, judged in ranked),
        "recall_10": fmean(recall(ranking, judged) for ranking, judged in ranked),
    }


def ask_together(
    retrieve: Retrieve, *, spans: Sequence[str], clients: int, seconds: float
) -> dict[str, float]:
    """Let the clients ask as fast as they are answered, each its own share of the questions."""
    ready = threading.Barrier(clients + 1)

    def ask(questions: Sequence[str]) -> list[float]:
        mine: list[float] = []
        ready.wait()
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            asked = time.perf_counter()
            retrieve(questions[len(mine) % len(questions)], LIMIT)
            mine.append(time.perf_counter() - asked)
        return mine

    with ThreadPoolExecutor(clients) as pool:
        asking = [pool.submit(ask, spans[client::clients]) for client in range(clients)]
        ready.wait()
        began = time.perf_counter()
        times = [spent for client in asking for spent in client.result()]
    took = time.perf_counter() - began
    return {
        f"qps_{clients}": len(times) / took,
        f"p95_{clients}_ms": 1000 * percentile(times, 0.95),
    }


def resident_mb() -> float:
    """Return the resident memory of the process now; where the system does not say, its peak."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
