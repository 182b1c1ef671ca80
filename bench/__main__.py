"""`python -m bench`: make what is missing, run every system, print the tables."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.data import SCALE_CHUNKS, make_cranfield, make_scale
from bench.home import Home, take_home
from bench.larger import make_larger
from bench.peers import SetUpError, make_environment
from bench.phases import Effort
from bench.results import Run, read_runs, write_run
from bench.runs import Task, run_all, take_turns
from bench.systems import SYSTEMS
from bench.table import report
from quoth.bootstrap import DEFAULT_EMBEDDER, open_embedder
from quoth.core.errors import QuothError
from quoth.core.load_settings import load_settings

EFFORT, QUICK_EFFORT = Effort(alone_s=15, together_s=3), Effort(alone_s=5, together_s=1)
# Every question of the small corpus counts for its quality columns, and none may be asked twice.
CRANFIELD_EFFORT = Effort(alone_s=90, together_s=0)
ROUNDS, QUICK_ROUNDS = 2, 1
TIMEOUT_S = 240.0
SIZES, QUICK_SIZES = (20_000, 100_000), (2_000,)
REAL, QUICK_REAL = 6400, 640
CAPTION = (
    "In brackets: how many times quoth's figure. Best of the rounds. One question = embedding, "
    "both legs with 50 candidates each (quoth: 100), fusion, texts, context; quoth's rows also "
    "understand the question, and the first one smooths, diversifies and adds neighbours. Ingest "
    "leaves embedding out. Vectors beyond the first real ones are mixes: the scale corpora measure "
    "speed, not quality."
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the options ask for."""

    home: Home
    model: Path
    systems: tuple[str, ...]
    sizes: tuple[int, ...]
    cranfield: bool
    real: int
    effort: Effort
    rounds: int
    timeout_s: float


def main() -> int:
    """Run the bench; 1 when something it needs is not there or quoth could not be measured."""
    options = _options()
    home = take_home(options.home)
    if options.table:
        sys.stdout.write(report(read_runs(max(home.runs.glob("*.jsonl")))) + "\n")
        return 0
    try:
        choice = _choice(options, home=home)
        if any(SYSTEMS[name].runs_in == "peers" for name in choice.systems):
            make_environment(home, say=say)
        tasks = _tasks(choice)
    except (SetUpError, QuothError) as failure:
        say(str(failure))
        return 1
    return _run(tasks, choice=choice)


def say(line: str) -> None:
    """Tell how far things are, apart from the tables."""
    sys.stderr.write(f"[{time.strftime('%H:%M:%S')}] {line}\n")
    sys.stderr.flush()


def _run(tasks: list[Task], *, choice: Choice) -> int:
    choice.home.runs.mkdir(parents=True, exist_ok=True)
    kept = choice.home.runs / f"{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
    say(f"{len(tasks)} runs; results in {kept}")

    def note(run: Run) -> None:
        write_run(kept, run)
        outcome = run.failed or "done"
        say(
            f"{run.corpus}, {run.system}, {run.phase}, round {run.round + 1}: {outcome} "
            f"in {run.seconds:.0f} s (load {run.load:.1f})"
        )

    runs = run_all(
        tasks, home=choice.home, model=choice.model, timeout_s=choice.timeout_s, note=note
    )
    text = f"{_machine(runs, home=choice.home)}\n\n{report(runs)}\n{CAPTION}\n"
    kept.with_suffix(".md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(run.failed for run in runs if run.system == "quoth") else 0


def _tasks(choice: Choice) -> list[Task]:
    tasks: list[Task] = []
    systems = choice.systems
    scale = make_scale(choice.home, model=choice.model, real=choice.real, say=say)
    for size in sorted(choice.sizes):
        large = size > SCALE_CHUNKS
        data = (
            make_larger(choice.home, scale=scale, chunks=size * 11 // 10, say=say)
            if large
            else scale
        )
        tasks += take_turns(
            corpus=f"{size:,} chunks",
            data=data,
            chunks=size,
            systems=systems,
            effort=choice.effort,
            rounds=choice.rounds,
            cold=True,
            grow=large,
        )
    if choice.cranfield and (folder := make_cranfield(choice.home, model=choice.model, say=say)):
        tasks += take_turns(
            corpus="Cranfield",
            data=folder,
            chunks=None,
            systems=systems,
            effort=CRANFIELD_EFFORT,
            rounds=1,
            cold=False,
        )
    return tasks


def _machine(runs: list[Run], *, home: Home) -> str:
    busiest = max((run.load for run in runs), default=0.0)
    source = (home.data / "scale" / "source.txt").read_text(encoding="utf-8").strip()
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python "
        f"{platform.python_version()}; load before a phase at most {busiest:.1f} (above 1.5 the "
        f"machine was busy: compare CPU ms).\nText: {source}."
    )


def _choice(options: argparse.Namespace, *, home: Home) -> Choice:
    unknown = [name for name in options.systems or () if name not in SYSTEMS]
    if unknown:
        raise SetUpError(f"There is no system '{unknown[0]}'; there are: {', '.join(SYSTEMS)}.")
    quick = options.quick
    return Choice(
        home=home,
        model=options.model or _default_model(),
        systems=tuple(options.systems or SYSTEMS),
        sizes=tuple(options.chunks or (QUICK_SIZES if quick else SIZES)),
        cranfield=options.cranfield and not quick,
        real=QUICK_REAL if quick else REAL,
        effort=QUICK_EFFORT if quick else EFFORT,
        rounds=options.rounds or (QUICK_ROUNDS if quick else ROUNDS),
        timeout_s=options.timeout or TIMEOUT_S,
    )


def _default_model() -> Path:
    settings = load_settings()
    open_embedder(settings, progress=say).close()
    return settings.models / DEFAULT_EMBEDDER


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "--chunks", type=int, action="append", help="size of the scale corpus; repeat it"
    )
    parser.add_argument(
        "--systems", type=lambda names: names.split(","), help="a,b,c; all by default"
    )
    parser.add_argument("--rounds", type=int, help="query and cold phases of fast systems; 2")
    parser.add_argument("--timeout", type=float, help="seconds a phase may take; 240")
    parser.add_argument("--quick", action="store_true", help="2,000 chunks, a few seconds each")
    parser.add_argument("--no-cranfield", dest="cranfield", action="store_false")
    parser.add_argument("--home", type=Path, help="where data, indexes and results are kept")
    parser.add_argument("--model", type=Path, help="folder with model.onnx and tokenizer.json")
    parser.add_argument("--table", action="store_true", help="only print the last run again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
