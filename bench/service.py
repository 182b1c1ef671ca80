"""The service beside the engine that it stands in front of: questions a second, in one run.

    python -m bench.service HOME QUESTIONS.json [--clients 64] [--rounds 3] [--questions 150]

HOME is the folder of a library, of which a copy is used; QUESTIONS is a JSON list of texts.
Engine and service take turns, each in a process of its own that is warm before it is measured, so
that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

from bench.load import Orders, from_outside, quantile
from quoth.bootstrap import open_engine
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings

QUOTH = ("-m", "quoth")


@dataclass(frozen=True, slots=True)
class Pace:
    """Questions a second by the clock, and milliseconds of processor time for each."""

    a_second: float
    cpu_ms: float


@asynccontextmanager
async def service(
    home: Path, *options: str, settings: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[int, int]]:
    """Run `quoth serve` on a free port; gives the port and the process id once it is ready."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *QUOTH,
        *("--home", str(home), "serve", "--port", "0", *options),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(settings or {})},
    )
    assert child.stderr is not None
    try:
        port, said = 0, b""
        while line := await child.stderr.readline():
            said += line
            if b" answers at http" in line:
                port = int(line.split()[-1].rsplit(b":", 1)[1])
                break
        if not port:
            raise RuntimeError(f"The service did not start: {said.decode()}")
        draining = asyncio.create_task(child.stderr.read())
        yield port, child.pid
        if child.returncode is None:
            child.terminate()
        if await child.wait():
            raise RuntimeError(f"The service did not end well: {(await draining).decode()}")
        await draining
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def engine_alone(home: Path, questions: Sequence[str], *, clients: int) -> Pace:
    """Ask the engine itself in a process of its own."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bench.service", str(home), "-", "--engine", "--clients", str(clients)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await child.communicate(json.dumps(list(questions)).encode())
    return Pace(*json.loads(out))


async def ask_engine(
    home: Path, questions: Sequence[str], *, clients: int, settings: Settings | None = None
) -> Pace:
    """Ask them with so many clients, in this process, after a few to warm up."""
    async with open_engine(settings or load_settings({"home": home})) as engine:
        await engine.answer_all(["What is this about?", "De quoi s'agit-il ?"])
        coming = iter(questions)

        async def client() -> None:
            for question in coming:
                await engine.answer(question)

        began, used = time.perf_counter(), cpu_seconds(os.getpid())
        await asyncio.gather(*(client() for _ in range(clients)))
        spent, used = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
        return Pace(len(questions) / spent, 1000 * used / len(questions))


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def compare(home: Path, questions: Sequence[str], given: argparse.Namespace) -> None:
    """Measure both in turns and say how they compare."""
    clock, processor = [], []
    for turn in range(given.rounds):
        start = turn * given.questions % max(1, len(questions) - given.questions)
        some = questions[start : start + given.questions]
        alone = await engine_alone(home, some, clients=given.clients)
        async with service(home, settings={"QUOTH_WAIT_SECONDS": "120"}) as (port, pid):
            orders = Orders(port, [{"query": each} for each in some], given.clients)
            used = cpu_seconds(pid)
            report = await from_outside(orders)
            used = cpu_seconds(pid) - used
        wrong = [each.status for each in report.told if each.status != 200]
        served = Pace(len(some) / report.seconds, 1000 * used / len(some))
        clock.append(served.a_second / alone.a_second)
        processor.append(alone.cpu_ms / served.cpu_ms)
        print(
            f"engine {alone.a_second:5.1f}/s {alone.cpu_ms:4.0f} ms of processor   "
            f"service {served.a_second:5.1f}/s {served.cpu_ms:4.0f} ms   "
            f"p50 {quantile([each.seconds for each in report.told], 0.5):.2f} s   "
            f"p95 {quantile([each.seconds for each in report.told], 0.95):.2f} s"
            + (f"   not answered: {len(wrong)}" if wrong else ""),
            flush=True,
        )
    print(
        f"the service gives {median(clock):.0%} of the engine's own by the clock and "
        f"{median(processor):.0%} by processor time, at {given.clients} clients"
    )


def main() -> None:
    """Read the command line and measure."""
    reads = argparse.ArgumentParser(description=__doc__)
    reads.add_argument("home", type=Path)
    reads.add_argument("questions_file")
    reads.add_argument("--clients", type=int, default=64)
    reads.add_argument("--rounds", type=int, default=3)
    reads.add_argument("--questions", type=int, default=150)
    reads.add_argument("--engine", action="store_true", help=argparse.SUPPRESS)
    given = reads.parse_args()
    if given.engine:
        questions = json.load(sys.stdin)
        print(
            json.dumps(
                astuple(asyncio.run(ask_engine(given.home, questions, clients=given.clients)))
            )
        )
        return
    questions = json.loads(Path(given.questions_file).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        shutil.copytree(given.home, home)
        asyncio.run(compare(home, questions, given))


if __name__ == "__main__":
    main()
