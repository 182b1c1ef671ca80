"""A thousand clients at once: what they are told, how long it takes, what it leaves behind.

    python -m bench.crowd HOME QUESTIONS.json [--clients 1000] [--wait 60]

HOME is the folder of a library, of which a copy is used; QUESTIONS is a JSON list of texts, of
which each client asks another one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import Orders, Report, from_outside, quantile
from bench.service import service

SETTLE_S = 10.0
"""Seconds after which memory must be back where it was."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A crowd's report, and the service's own resident memory in bytes before, at most and after.

    ``grown`` is the resident memory with pages of files, afterwards as a multiple of before.
    """

    report: Report
    before: int
    most: int
    after: int
    grown: float


def resident_bytes(pid: int, *, files: bool = False) -> int:
    """The resident memory of a process that is its own, or with pages of files, which go again."""
    name = "VmRSS:" if files else "RssAnon:"
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise RuntimeError("This system does not say how much memory a process has.")


async def weighed(pid: int, orders: Orders) -> Weighed:
    """Let a crowd ask, and watch the memory of the service meanwhile and afterwards."""
    before = most = resident_bytes(pid)
    whole = resident_bytes(pid, files=True)
    asking = asyncio.create_task(from_outside(orders))
    while not asking.done():
        await asyncio.wait([asking], timeout=0.2)
        most = max(most, resident_bytes(pid))
    await asyncio.sleep(SETTLE_S)
    grown = resident_bytes(pid, files=True) / whole
    return Weighed(asking.result(), before, most, resident_bytes(pid), grown)


def figures(found: Weighed) -> dict[str, Any]:
    """The figures that the bars are about; times in seconds, memory in megabytes."""
    report = found.report
    told = Counter(each.status for each in report.told)
    answered = [each.seconds for each in report.told if each.status == 200]
    shed = [each for each in report.told if each.status in (429, 503)]
    return {
        "told": dict(told),
        "seconds": round(report.seconds, 1),
        "a_second": round(told[200] / report.seconds, 1),
        "answered_p50": round(quantile(answered, 0.5), 2),
        "answered_p95": round(quantile(answered, 0.95), 2),
        "shed_slowest": round(max((each.seconds for each in shed), default=0.0), 2),
        "shed_without_retry_after": sum(not each.retry_after for each in shed),
        "healthz_p99": round(quantile(report.probes, 0.99), 3),
        "healthz_slowest": round(max(report.probes, default=0.0), 3),
        "mb_before": round(found.before / 1e6),
        "mb_most": round(found.most / 1e6),
        "mb_after": round(found.after / 1e6),
    }


async def measure(
    home: Path, questions: Sequence[str], *, clients: int, settings: Mapping[str, str]
) -> dict[str, Any]:
    """Warm the service with a smaller crowd, then let the whole one in."""
    async with service(home, "--workers", "0", settings=settings) as (port, pid):
        few = [{"query": each} for each in questions[clients : clients + 100]]
        await from_outside(Orders(port, few, 50))
        bodies = [{"query": each} for each in questions[:clients]]
        return figures(await weighed(pid, Orders(port, bodies, clients, probe=True)))


def main() -> None:
    """Read the command line and measure."""
    reads = argparse.ArgumentParser(description=__doc__)
    reads.add_argument("home", type=Path)
    reads.add_argument("questions_file", type=Path)
    reads.add_argument("--clients", type=int, default=1000)
    reads.add_argument("--wait", type=float, default=60)
    given = reads.parse_args()
    questions = json.loads(given.questions_file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        shutil.copytree(given.home, home)
        settings = {"QUOTH_WAIT_SECONDS": str(given.wait)}
        found = asyncio.run(measure(home, questions, clients=given.clients, settings=settings))
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
