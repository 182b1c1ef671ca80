"""The values that runs leave behind, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

Phase = Literal["build", "query", "cold", "grow"]


@dataclass(frozen=True, slots=True)
class Figures:
    """What one phase measured; None for what it does not measure.

    ``chunks_per_s`` leaves embedding out; ``finish_s`` is what goes on behind the ingest.
    ``cpu_ms`` counts all threads of the process per query. ``rss_mb`` is resident memory before,
    ``rss_after_mb`` after the concurrent clients. ``cold_s`` is from the start of the process to
    the first context. ``recall_20`` compares the nearest twenty with every vector; ``busy_…`` is
    measured while another process adds chunks.
    """

    chunks_per_s: float | None = None
    chunks_per_cpu_s: float | None = None
    disk_mb: float | None = None
    finish_s: float | None = None
    timed: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    cpu_ms: float | None = None
    qps_1: float | None = None
    qps_8: float | None = None
    p95_8_ms: float | None = None
    qps_64: float | None = None
    p95_64_ms: float | None = None
    judged: float | None = None
    ndcg_10: float | None = None
    recall_10: float | None = None
    rss_mb: float | None = None
    rss_after_mb: float | None = None
    cold_s: float | None = None
    cold_cpu_s: float | None = None
    recall_20: float | None = None
    busy_p50_ms: float | None = None
    busy_p95_ms: float | None = None
    busy_recall_20: float | None = None
    busy_chunks_per_s: float | None = None
    stages_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One phase of one system in one process, or why it failed; `chunks` None: all there are."""

    system: str
    corpus: str
    chunks: int | None
    phase: Phase
    round: int
    seconds: float
    load: float
    figures: Figures
    failed: str | None = None


def figures_from(line: str) -> Figures:
    """Read what a worker wrote."""
    return Figures(**json.loads(line))


def write_run(path: Path, run: Run) -> None:
    """Add a run to the file."""
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")


def read_runs(path: Path) -> list[Run]:
    """Read a file of runs."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Run(**{**row, "figures": Figures(**row["figures"])}) for row in rows]
