"""Print the size and shape of the code: what `make shape` shows.

Lines of Python, modules at the top level, classes that share a name, test items, and how many
files and functions one `quoth ask` enters in a process of its own.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "quoth"
METAPHORS = ("Give ", "Gives ")


def python_files(folder: Path) -> list[Path]:
    """Return the Python files below a folder, sorted."""
    return sorted(folder.rglob("*.py"))


def count_lines(folder: Path) -> int:
    """Return the lines of all Python files below a folder."""
    return sum(len(file.read_text("utf-8").splitlines()) for file in python_files(folder))


def class_names() -> Counter[str]:
    """Return how often each class name is defined in the package."""
    trees = (ast.parse(file.read_text("utf-8")) for file in python_files(SOURCE))
    return Counter(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )


def docstring_openings() -> int:
    """Return how many docstrings begin with "Give" instead of "Return"."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    trees = (ast.parse(file.read_text("utf-8")) for file in python_files(SOURCE))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, kinds))
    return sum((ast.get_docstring(node) or "").startswith(METAPHORS) for node in nodes)


def test_items() -> int:
    """Return the number of collected tests; the long ones of `make soak` are not counted."""
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return sum(
        int(line.rpartition(":")[2]) for line in found.stdout.splitlines() if ".py: " in line
    )


def calls() -> dict[str, int]:
    """Return what `scripts/trace_calls.py` counts for one cold question."""
    script = ROOT / "scripts" / "trace_calls.py"
    found = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    counts: dict[str, int] = json.loads(found.stdout.splitlines()[-1])
    return counts


def report() -> Iterator[tuple[str, object, object]]:
    """Return rows of (what, measured, the most it may be)."""
    names = class_names()
    yield "lines in src/quoth", count_lines(SOURCE), 45_000
    yield "files in src/quoth", len(python_files(SOURCE)), ""
    yield "lines in tests", count_lines(ROOT / "tests"), 32_000
    yield "modules at the top level", len(list(SOURCE.glob("*.py"))), 10
    yield "class names used twice", sum(count > 1 for count in names.values()), 0
    yield 'docstrings that begin with "Give"', docstring_openings(), 0
    yield "test items", test_items(), ""
    counts = calls()
    yield "files entered by one question", counts["files"], 60
    yield "functions entered by one question", counts["functions"], 200
    yield "deepest stack of quoth frames", counts["depth"], 14


def main() -> None:
    """Print the rows; exit with 1 if one is over its limit."""
    over = False
    for name, measured, limit in report():
        is_over = isinstance(limit, int) and isinstance(measured, int) and measured > limit
        over |= is_over
        mark = " over" if is_over else ""
        print(f"{name:<36}{measured:>8}  {f'≤ {limit}' if limit != '' else ''}{mark}")
    raise SystemExit(over)


if __name__ == "__main__":
    main()
