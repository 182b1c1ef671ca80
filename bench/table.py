"""Turns runs into Markdown tables: every figure with its ratio to the row of quoth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results import Figures, Phase, Run
from bench.systems import SYSTEMS

BASE = "quoth"


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a phase, its heading, and whether more or less of it is better."""

    heading: str
    figure: str
    phase: Phase = "query"
    better: Literal["less", "more"] = "less"
    kind: Literal["ratio", "plain", "quality"] = "ratio"


SPEED = (
    Column("p50 ms", "p50_ms"),
    Column("p95 ms", "p95_ms"),
    Column("CPU ms", "cpu_ms"),
    Column("q/s, 1 client", "qps_1", better="more"),
    Column("q/s, 8", "qps_8", better="more"),
    Column("q/s, 64", "qps_64", better="more"),
    Column("p95 ms at 8", "p95_8_ms"),
    Column("p95 ms at 64", "p95_64_ms"),
)
FOOTPRINT = (
    Column("ingest chunks/s", "chunks_per_s", "build", "more"),
    Column("chunks/CPU-s", "chunks_per_cpu_s", "build", "more"),
    Column("behind it, s", "finish_s", "build"),
    Column("disk MB", "disk_mb", "build"),
    Column("memory MB", "rss_mb"),
    Column("memory after clients", "rss_after_mb"),
    Column("cold start s", "cold_s", "cold"),
    Column("cold CPU s", "cold_cpu_s", "cold"),
    Column("nDCG@10", "ndcg_10", better="more", kind="quality"),
    Column("R@10", "recall_10", better="more", kind="quality"),
    Column("judged", "judged", better="more", kind="plain"),
    Column("timed", "timed", better="more", kind="plain"),
)
GROWING = (
    Column("recall@20", "recall_20", "grow", "more", "plain"),
    Column("p50 ms while adding", "busy_p50_ms", "grow"),
    Column("p95 ms", "busy_p95_ms", "grow"),
    Column("recall@20 while adding", "busy_recall_20", "grow", "more", "plain"),
    Column("chunks/s added", "busy_chunks_per_s", "grow", "more"),
    Column("memory MB", "rss_after_mb", "grow"),
)


def report(runs: Sequence[Run]) -> str:
    """Return the tables of every corpus, the stages and the failures."""
    corpora = list(dict.fromkeys(run.corpus for run in runs))
    return "\n".join(
        _corpus(corpus, [run for run in runs if run.corpus == corpus]) for corpus in corpora
    )


def best(runs: Iterable[Run], *, system: str, column: Column) -> float | None:
    """Return the best value over the rounds; systems that share an index share its build.

    A ranking that was judged on fewer questions than another system's cannot be set beside it
    and has no value.
    """
    runs = list(runs)
    questions = max((run.figures.judged or 0 for run in runs), default=0)
    values = [
        value
        for run in runs
        if run.phase == column.phase and _same_row(run, system=system, phase=column.phase)
        if column.kind != "quality" or run.figures.judged == questions
        if (value := getattr(run.figures, column.figure)) is not None
    ]
    if not values:
        return None
    return float(min(values) if column.better == "less" else max(values))


def cell(value: float | None, *, base: float | None) -> str:
    """Write a value and how many times the base value it is."""
    if value is None:
        return "–"
    return number(value) + (f" ({number(value / base)}×)" if base else "")


def number(value: float) -> str:
    """Write three digits that count."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def _corpus(corpus: str, runs: Sequence[Run]) -> str:
    names = [name for name in SYSTEMS if any(run.system == name for run in runs)]
    lines = [f"### {corpus}", ""]
    for columns in (SPEED, FOOTPRINT, GROWING):
        shown = [
            each
            for each in columns
            if any(best(runs, system=name, column=each) is not None for name in names)
        ]
        lines += _table(names, columns=shown, runs=runs) if shown else []
    return "\n".join([*lines, *_stages(names, runs=runs), *_failures(runs)])


def _table(names: Sequence[str], *, columns: Sequence[Column], runs: Sequence[Run]) -> list[str]:
    bases = {
        each.figure: best(runs, system=BASE, column=each) if each.kind == "ratio" else None
        for each in columns
    }
    rows = []
    for name in names:
        cells = [
            cell(
                best(runs, system=name, column=each),
                base=None if name == BASE else bases[each.figure],
            )
            for each in columns
        ]
        rows.append(f"| {SYSTEMS[name].title} | " + " | ".join(cells) + " |")
    heading = "| system | " + " | ".join(each.heading for each in columns) + " |"
    return [heading, "|---" * (len(columns) + 1) + "|", *rows, ""]


def _stages(names: Sequence[str], *, runs: Sequence[Run]) -> list[str]:
    lines = []
    for name in names:
        asked = [run for run in runs if run.system == name and run.figures.stages_ms]
        if asked:
            fastest = min(asked, key=lambda run: run.figures.p50_ms or 0.0)
            lines.append(f"- {name}: {_stage_list(fastest.figures)}")
    return ["Stages, median ms:", "", *lines, ""] if lines else []


def _stage_list(figures: Figures) -> str:
    return ", ".join(f"{stage} {number(spent)}" for stage, spent in figures.stages_ms.items())


def _failures(runs: Sequence[Run]) -> list[str]:
    failed = [f"- {run.system}, {run.phase}: {run.failed}" for run in runs if run.failed]
    return ["Not measured:", "", *failed, ""] if failed else []


def _same_row(run: Run, *, system: str, phase: Phase) -> bool:
    if phase == "build":
        return SYSTEMS[run.system].index == SYSTEMS[system].index
    return run.system == system
