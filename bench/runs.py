"""Starts the phases, each in a process of its own, the systems taking turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.home import ROOT, Home
from bench.phases import Effort
from bench.results import Figures, Phase, Run, figures_from
from bench.systems import SYSTEMS

QUICK_PHASE_S = 30.0
"""Phases that took longer are not repeated in the later rounds."""
SURROUNDINGS = {
    # Two cores: threads inside numpy fight with the clients (seen: 5 queries/s instead of 50).
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANCE_LOG": "error",
    # Without compiled files a cold start would time the compiler.
    "PYTHONDONTWRITEBYTECODE": "",
}


@dataclass(frozen=True, slots=True)
class Task:
    """What one process is to do; `chunks` None stands for the whole corpus."""

    system: str
    corpus: str
    phase: Phase
    data: Path
    chunks: int | None
    effort: Effort
    round: int = 0

    @property
    def index(self) -> str:
        """The index that the task makes or needs."""
        return f"{SYSTEMS[self.system].index}-{self.corpus.replace(' ', '-')}"


def take_turns(
    *,
    corpus: str,
    data: Path,
    chunks: int | None,
    systems: Sequence[str],
    effort: Effort,
    rounds: int,
    cold: bool,
    grow: bool = False,
) -> list[Task]:
    """Order the tasks of one corpus: all builds, then queries and cold starts, round by round.

    Systems that share an index have it built once. ``grow`` adds to quoth's in the end.
    """
    builders = {SYSTEMS[name].index: name for name in reversed(systems)}
    builds = [name for name in systems if name in builders.values()]
    turns: list[tuple[Phase, int, Sequence[str]]] = [("build", 0, builds)]
    for number in range(rounds):
        turns.append(("query", number, systems))
        if cold:
            turns.append(("cold", number, systems))
    if grow:
        turns.append(("grow", 0, [name for name in systems if name == "quoth"]))
    return [
        Task(
            name,
            corpus=corpus,
            phase=phase,
            data=data,
            chunks=chunks,
            effort=effort,
            round=number,
        )
        for phase, number, names in turns
        for name in names
    ]


def run_all(
    tasks: Sequence[Task],
    *,
    home: Home,
    model: Path,
    timeout_s: float,
    note: Callable[[Run], None],
) -> list[Run]:
    """Run the tasks in order; what failed, was slow or cannot end in time is not tried again."""
    done: list[Run] = []
    unbuilt: set[str] = set()
    for task in tasks:
        if task.index in unbuilt or is_repeated_in_vain(task, done=done):
            continue
        hopeless = forecast(task, done=done, timeout_s=timeout_s)
        run = (
            _outcome(task, failed=hopeless)
            if hopeless
            else run_one(task, home=home, model=model, timeout_s=timeout_s)
        )
        if task.phase == "build" and run.failed:
            unbuilt.add(task.index)
        done.append(run)
        note(run)
    return done


def is_repeated_in_vain(task: Task, *, done: Sequence[Run]) -> bool:
    """Say whether an earlier round of the task failed or took too long to be worth another."""
    return any(
        run.failed or run.seconds > QUICK_PHASE_S
        for run in done
        if (run.system, run.corpus, run.phase) == (task.system, task.corpus, task.phase)
    )


def forecast(task: Task, *, done: Sequence[Run], timeout_s: float) -> str | None:
    """Say why a build cannot end in time, from what a smaller one took; None when it may."""
    if task.phase != "build" or task.chunks is None:
        return None
    for run in done:
        if (run.system, run.phase) != (task.system, "build"):
            continue
        if run.chunks is None or run.chunks >= task.chunks:
            continue
        if run.failed or run.seconds * task.chunks / run.chunks > timeout_s:
            took = run.failed or f"took {run.seconds:.0f} s"
            return f"not tried, since {run.corpus} {took} and {timeout_s:.0f} s are allowed"
    return None


def run_one(task: Task, *, home: Home, model: Path, timeout_s: float) -> Run:
    """Run one task and read its figures, or say why there are none."""
    load = os.getloadavg()[0]
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        command = _command(task, home=home, model=model, out=out)
        failed = _run(command, model=model, timeout_s=timeout_s)
        figures = Figures() if failed else figures_from(out.read_text(encoding="utf-8"))
    run = _outcome(task, failed=failed)
    return replace(run, seconds=round(time.time() - began, 1), load=load, figures=figures)


def _outcome(task: Task, *, failed: str | None) -> Run:
    return Run(
        system=task.system,
        corpus=task.corpus,
        chunks=task.chunks,
        phase=task.phase,
        round=task.round,
        seconds=0.0,
        load=0.0,
        figures=Figures(),
        failed=failed,
    )


def _command(task: Task, *, home: Home, model: Path, out: Path) -> list[str]:
    here = SYSTEMS[task.system].runs_in == "here"
    python = sys.executable if here else str(home.peers / "bin" / "python")
    command = [python, "-m", "bench.worker", "--system", task.system, "--phase", task.phase]
    command += ["--data", str(task.data), "--folder", str(home.indexes / task.index)]
    command += ["--model", str(model), "--out", str(out), "--began", repr(time.time())]
    command += ["--alone", str(task.effort.alone_s), "--together", str(task.effort.together_s)]
    return command + (["--chunks", str(task.chunks)] if task.chunks else [])


def _run(command: Sequence[str], *, model: Path, timeout_s: float) -> str | None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QUOTH_")}
    source = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environment = {**kept, **SURROUNDINGS, "PYTHONPATH": source, "QUOTH_EMBEDDER": str(model)}
    try:
        finished = subprocess.run(
            command,
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done within {timeout_s:.0f} s"
    if finished.returncode:
        last = (finished.stderr.strip() or "no message").splitlines()[-1]
        return f"exit status {finished.returncode}: {last}"
    return None
