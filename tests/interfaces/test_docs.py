"""What the documentation shows works: Python runs, and command lines parse.

A block below the comment ``<!-- not run -->`` is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from quoth.interfaces.cli.app import app, globals_first
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?P<before>[^\n]*)\n+```(?P<language>\w+)\n(?P<code>.*?)\n```", re.DOTALL)
SKIPPED = "<!-- not run -->"


def blocks(*languages: str) -> Iterator[Any]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for number, found in enumerate(BLOCK.finditer("\n" + text), start=1):
            if found["language"] in languages and found["before"].strip() != SKIPPED:
                name = f"{page.relative_to(ROOT)}#{number}"
                yield pytest.param(found["code"], id=name)


def commands() -> Iterator[Any]:
    for block in blocks("sh", "console", "bash"):
        (code,) = block.values
        for line in code.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            while words and re.fullmatch(r"\w+=\S*", words[0]):
                del words[0]
            if words and Path(words[0]).name == "quoth":
                ends = [at for at, word in enumerate(words) if word in ("|", ">", "&&", ";", "<")]
                yield pytest.param(words[1 : min(ends, default=None)], id=f"{block.id}: {line}")


@pytest.mark.parametrize("code", [*blocks("python")])
def test_python_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own that has the samples, with the embedder that needs no model."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUOTH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("QUOTH_EMBEDDER", "fake")
    exec(compile(code, "documentation", "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize("words", [*commands()])
def test_a_command_line_parses(words: list[str]) -> None:
    group: Any = typer.main.get_command(app)
    parse(group, globals_first(words))


def parse(command: Any, words: list[str]) -> None:
    """Read the words as the command line would, down to the last command, and run nothing."""
    if "--help" in words or "--version" in words:
        return
    context = command.make_context("quoth", list(words), resilient_parsing=False)
    if not hasattr(command, "commands"):
        return
    rest = [*context._protected_args, *context.args]
    _name, below, after = command.resolve_command(context, rest)
    assert below is not None, f"there is no command {rest[:1]}"
    parse(below, after)


def test_the_documentation_is_found() -> None:
    assert list(blocks("python")), "the README shows no Python"
    assert len(list(commands())) >= 5


def test_links_between_pages_lead_somewhere() -> None:
    lost = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert lost == []


def test_records_of_decisions_have_at_most_400_words() -> None:
    records = (ROOT / "docs" / "decisions").glob("*.md")
    lengths = {
        record.name: sum(any(map(str.isalnum, word)) for word in record.read_text("utf-8").split())
        for record in records
    }
    assert {name: words for name, words in lengths.items() if words > 400} == {}
