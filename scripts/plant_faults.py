"""Plant faults in a copy of the source, one at a time, and report which of them the tests catch.

    python scripts/plant_faults.py                  all faults of scripts/faults.toml
    python scripts/plant_faults.py --list           their names and the promises that they break
    python scripts/plant_faults.py --only NAME      one of them; may be given several times

Every fault is a small mistake that breaks something quoth promises. The script copies the
repository into a temporary folder, puts the faulty code in place of the right one, runs the tests
that are named for it and, if these pass, the wider suite. A test that fails counts only if it
passes without the fault. The exit code is 0 if at least 95 % of the faults were caught, 1 if fewer
were, and 2 if a fault no longer fits the source or something went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from shutil import copytree, ignore_patterns
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
LEAST = 0.95
"""The share of faults that the tests must catch."""
NOT_COPIED = (
    ".git",
    ".venv*",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    ".coverage*",
    "htmlcov",
    ".demo",
)
MOST_ALWAYS_FAILING = 5
"""Tests that fail without a fault, too, and are passed over before a run is given up."""

Status = Literal["caught", "survived", "timed out", "stale", "error"]

_PLUGIN = """\
import json

def _note(kind, report):
    if report.failed:
        with open({report!r}, "a", encoding="ascii") as file:
            file.write(json.dumps([kind, report.nodeid]) + "\\n")

def pytest_runtest_logreport(report):
    _note("test", report)

def pytest_collectreport(report):
    _note("collection", report)
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake: ``new`` takes the place of ``old``, which occurs once in ``file``.

    ``promise`` says what it breaks, ``tests`` are the files and folders that are run first.
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All faults, and what the wider suite is: its paths and what is left out of them."""

    faults: tuple[Fault, ...]
    wide: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a fault; ``by`` is the test that caught it, or says what is wrong."""

    name: str
    promise: str
    status: Status
    by: str = ""
    stage: Literal["targeted", "wide", ""] = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of pytest ended; ``failed`` are the ids of what failed, in order."""

    outcome: Literal["passed", "failed", "timed out", "error"]
    failed: tuple[str, ...] = ()
    output: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How tests are run: the interpreter, and the most seconds that each stage may take."""

    python: str
    timeout: float
    wide_timeout: float


def read_table(path: Path) -> Table:
    """Read the faults from a TOML file; raises ValueError where a row is not complete."""
    with path.open("rb") as file:
        given = tomllib.load(file)
    faults = tuple(_fault(row) for row in given.get("fault", ()))
    names = [fault.name for fault in faults]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"These names are given twice: {', '.join(twice)}.")
    return Table(faults, tuple(given.get("wide", ())), tuple(given.get("left_out", ())))


def _fault(row: Mapping[str, Any]) -> Fault:
    try:
        return Fault(**{**row, "tests": tuple(row["tests"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"The fault {row.get('name', '?')!r} is not complete: {error}.") from error


def stale_reason(fault: Fault, root: Path) -> str:
    """Say why a fault does not fit the source any more; "" where it does."""
    path = root / fault.file
    if not path.is_file():
        return f"there is no file {fault.file}"
    text = path.read_text(encoding="utf-8")
    count = text.count(fault.old)
    if count != 1:
        return f"its old code occurs {count} times in {fault.file}"
    try:
        compile(text.replace(fault.old, fault.new), fault.file, "exec")
    except SyntaxError as error:
        return f"its new code is no Python: {error}"
    absent = [each for each in fault.tests if not (root / each).exists()]
    return f"there are no tests {', '.join(absent)}" if absent else ""


@dataclass(slots=True)
class Workplace:
    """A copy of the repository in which faults are planted and tests are run."""

    folder: Path
    options: Options
    always_failing: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The copied repository."""
        return self.folder / "copy"

    def prepare(self, root: Path) -> None:
        """Copy the repository, and make sure that the copy is what tests import."""
        copytree(root, self.root, ignore=ignore_patterns(*NOT_COPIED), symlinks=True)
        plugin = _PLUGIN.format(report=str(self._report))
        (self.folder / "planted_report.py").write_text(plugin, encoding="utf-8")
        package = next(path.parent.name for path in (self.root / "src").glob("*/__init__.py"))
        code = f"import {package}; print({package}.__file__)"
        found = subprocess.run(
            [self.options.python, "-c", code],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        if not Path(found.stdout.strip()).is_relative_to(self.root):
            raise RuntimeError(f"Tests would import {found.stdout.strip()}, which is not the copy.")

    def measure(self, fault: Fault, *, table: Table, wide: bool) -> Result:
        """Plant a fault and say what becomes of it."""
        began = time.monotonic()

        def ended(status: Status, by: str = "", stage: Any = "") -> Result:
            seconds = round(time.monotonic() - began, 1)
            return Result(fault.name, fault.promise, status, by, stage, seconds)

        reason = stale_reason(fault, self.root)
        if reason:
            return ended("stale", reason)
        stages = [("targeted", [*fault.tests], self.options.timeout)]
        if wide and table.wide:
            left_out = [f"--ignore={each}" for each in (*table.left_out, *fault.tests)]
            stages.append(("wide", [*table.wide, *left_out], self.options.wide_timeout))
        for stage, arguments, timeout in stages:
            run = self._catch(fault, arguments, timeout=timeout)
            if run.outcome == "failed":
                return ended("caught", run.failed[0], stage)
            if run.outcome == "timed out":
                return ended("timed out", f"the {stage} tests took more than {timeout:g} s", stage)
            if run.outcome == "error":
                return ended("error", run.output[-2000:], stage)
        return ended("survived")

    def _catch(self, fault: Fault, arguments: Sequence[str], *, timeout: float) -> Run:
        """Run tests with the fault until one fails that passes without it."""
        for _ in range(MOST_ALWAYS_FAILING + 1):
            deselected = [f"--deselect={each}" for each in self.always_failing]
            with self._planted(fault):
                run = self._pytest([*arguments, *deselected], timeout=timeout)
            if run.outcome != "failed":
                return run
            if self._passes(run.failed[0], timeout=timeout):
                return run
            self.always_failing.append(run.failed[0])
        return Run("error", output=f"these fail without a fault: {', '.join(self.always_failing)}")

    def _passes(self, test: str, *, timeout: float) -> bool:
        run = self._pytest([test], timeout=timeout)
        if run.outcome == "error":  # pytest does not find every id that it gives
            run = self._pytest([test.partition("[")[0]], timeout=timeout)
        return run.outcome == "passed"

    @contextmanager
    def _planted(self, fault: Fault) -> Iterator[None]:
        path = self.root / fault.file
        right = path.read_bytes()
        faulty = right.decode().replace(fault.old, fault.new)
        try:
            self._write(path, faulty.encode())
            yield
        finally:
            self._write(path, right)

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        path.write_bytes(content)
        # Compiled files are told apart by second and size, which a fault may leave as they were.
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()

    def _pytest(self, arguments: Sequence[str], *, timeout: float) -> Run:
        self._report.unlink(missing_ok=True)
        command = [self.options.python, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line"]
        command += ["-p", "no:cacheprovider", "-p", "planted_report", *arguments]
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return Run("timed out")
        finally:
            _end(process)
        failed = self._failed()
        if process.returncode == 0:
            return Run("passed", output=output)
        return Run("failed" if failed else "error", failed, output)

    def _failed(self) -> tuple[str, ...]:
        if not self._report.exists():
            return ()
        lines = self._report.read_text(encoding="ascii").splitlines()
        return tuple(dict.fromkeys(json.loads(line)[1] for line in lines))

    @property
    def _report(self) -> Path:
        return self.folder / "failed.jsonl"

    def _environment(self) -> dict[str, str]:
        # What stands in PYTHONPATH comes before an editable installation of the same package.
        paths = (str(self.root / "src"), str(self.folder))
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _end(process: subprocess.Popen[str]) -> None:
    """End a run and all processes that its tests have left behind."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def measure_all(
    table: Table, faults: Sequence[Fault], *, root: Path, options: Options, jobs: int, wide: bool
) -> list[Result]:
    """Measure faults, so many at once, each process in a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        free: SimpleQueue[Workplace] = SimpleQueue()
        for number in range(jobs):
            place = Workplace(Path(folder, str(number)), options)
            place.folder.mkdir()
            place.prepare(root)
            free.put(place)

        def work(fault: Fault) -> Result:
            place = free.get()
            try:
                result = place.measure(fault, table=table, wide=wide)
            finally:
                free.put(place)
            say(line_of(result))
            return result

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(work, faults))


def line_of(result: Result) -> str:
    """Give a result as a line of the table."""
    by = result.by.strip().splitlines()[-1] if result.by.strip() else ""
    return f"{result.name:<36} {result.status:<10} {result.seconds:>6.1f} s  {by}".rstrip()


def summary_of(results: Sequence[Result]) -> str:
    """Say how many faults were caught, and name the others with the promises they break."""
    caught = sum(result.status == "caught" for result in results)
    lines = [f"{caught} of {len(results)} faults caught ({caught / max(1, len(results)):.1%})"]
    lines += [
        f"  {result.name} ({result.status}): {result.promise}"
        for result in results
        if result.status != "caught"
    ]
    return "\n".join(lines)


def exit_code(results: Sequence[Result]) -> int:
    """Give 0 where enough was caught, 1 where not, 2 where something could not be measured."""
    if any(result.status in ("stale", "error") for result in results):
        return 2
    caught = sum(result.status == "caught" for result in results)
    return 0 if caught >= LEAST * len(results) else 1


def say(text: str) -> None:
    """Write a line at once, as people watch it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--list", action="store_true", help="name the faults and run nothing")
    parser.add_argument("--only", action="append", metavar="NAME", help="this fault; repeatable")
    parser.add_argument("--faults", type=Path, default=ROOT / "scripts" / "faults.toml")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to measure")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with pytest")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of targeted tests")
    parser.add_argument("--wide-timeout", type=float, default=600, help="seconds of wider tests")
    parser.add_argument("--no-wide", action="store_true", help="run the targeted tests only")
    parser.add_argument("--jobs", type=int, default=1, help="faults measured at once")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results as JSON")
    return parser.parse_args()


def main() -> int:
    """Do what the command line says; gives the exit code."""
    given = _arguments()
    try:
        table = read_table(given.faults)
    except (OSError, ValueError) as error:
        say(f"{given.faults} cannot be read: {error}")
        return 2
    names = {fault.name for fault in table.faults}
    unknown = [name for name in given.only or () if name not in names]
    if unknown:
        say(f"There is no fault {', '.join(unknown)}. See them with --list.")
        return 2
    faults = [fault for fault in table.faults if not given.only or fault.name in given.only]
    root = given.root.resolve()
    if given.list:
        for fault in faults:
            reason = stale_reason(fault, root)
            say(f"{fault.name:<36} {fault.promise}{f'  [stale: {reason}]' if reason else ''}")
        return 0
    results = measure_all(
        table,
        faults,
        root=root,
        options=Options(given.python, given.timeout, given.wide_timeout),
        jobs=max(1, given.jobs),
        wide=not given.no_wide,
    )
    say(f"\n{summary_of(results)}")
    if given.results:
        found = [asdict(result) for result in results]
        given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return exit_code(results)


if __name__ == "__main__":
    sys.exit(main())
