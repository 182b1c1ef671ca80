"""The house rules find what they are there to find, and nothing in the house breaks them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SEMGREP = ROOT / ".venv-lint" / "bin" / "semgrep"
EXAMPLES = ROOT / "rules" / "bad"
MARK = re.compile(r"\s*# ruleid: (.+)")

pytestmark = pytest.mark.skipif(not SEMGREP.exists(), reason="`make lint` sets semgrep up")


def found_by_rules(*where: Path) -> dict[str, set[tuple[str, int]]]:
    """The places that each rule finds: file name and line."""
    said = subprocess.run(
        [
            *(SEMGREP, "scan", "--config", ROOT / "rules", "--json", "--quiet", "--no-git-ignore"),
            *("--metrics=off", "--disable-version-check", *where),
        ],
        capture_output=True,
        check=True,
        cwd=ROOT,
        timeout=120,
    )
    answer = json.loads(said.stdout)
    assert answer["errors"] == []
    found: dict[str, set[tuple[str, int]]] = {}
    for each in answer["results"]:
        rule = each["check_id"].rpartition(".")[2]
        found.setdefault(rule, set()).add((Path(each["path"]).name, each["start"]["line"]))
    return found


def promised() -> Mapping[str, set[tuple[str, int]]]:
    """The places that the examples say are found: the line behind each mark."""
    marks: dict[str, set[tuple[str, int]]] = {}
    for file in sorted(EXAMPLES.glob("*.py")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            mark = MARK.fullmatch(line)
            for rule in mark[1].split(", ") if mark else ():
                marks.setdefault(rule, set()).add((file.name, number + 1))
    return marks


def test_each_rule_finds_its_bad_examples_and_nothing_else() -> None:
    assert found_by_rules(EXAMPLES) == promised()


def test_each_rule_has_a_bad_example() -> None:
    rules = "\n".join(file.read_text() for file in (ROOT / "rules").glob("*.yml"))
    assert set(re.findall(r"- id: (\S+)", rules)) == set(promised())
