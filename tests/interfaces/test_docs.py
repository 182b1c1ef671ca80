"""What the documentation shows works: Python runs, and command lines parse.

A block below the comment ``<!-- not run -->`` is left out.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import quoth
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


def test_the_components_of_own_parts_work_as_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the page together, with its own entry points, answer a filtered question."""
    page = "docs/own-parts.md"
    points, *code = (found.values[0] for found in blocks("toml", "python") if page in str(found.id))
    groups = tomllib.loads(points)["project"]["entry-points"]
    about = tmp_path / "packages" / "my_parts-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-parts\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "\n".join(f"[{group}]\nmine = {names['mine']}" for group, names in groups.items())
    )
    parts = [each for each in code if "quoth.open" not in each]  # the trial is no part of it
    (about.parent / "my_parts.py").write_text("\n\n".join(parts))
    monkeypatch.syspath_prepend(about.parent)
    (tmp_path / "bees.md").write_text("In winter the colony stays warm by shivering.\n")
    (tmp_path / "abeilles.md").write_text("La colonie se réchauffe en frissonnant, en hiver.\n")
    names = dict.fromkeys(("embedder", "reranker", "store", "query_transformer"), "mine")
    with quoth.open(str(tmp_path / "home"), **names, generator="mine:large") as library:
        library.add(tmp_path / "bees.md", language="en")
        library.add(tmp_path / "abeilles.md", language="fr")
        english = quoth.Filter("language", "in", ("en",))
        question = "How does the colony stay warm?"
        answer = library.ask(question, filters=[english])
        asked = library.ask("What does the colony do in cold weather?")
        found = library.search(question, k=5, filters=[english], mode="semantic")
    assert (answer.provider, answer.model, answer.degraded) == ("mine", "large", ())
    assert [citation.document_name for citation in answer.citations] == ["bees"]
    assert [hit.document for hit in found] == ["bees"]
    assert asked.query.standalone == "What does the colony do in winter weather?"


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


@pytest.mark.parametrize("page", ["docs/explain.md", "docs/extending.md", "CONTRIBUTING.md"])
def test_the_files_and_folders_that_a_page_on_the_code_names_exist(page: str) -> None:
    """A path may begin at any folder; what is set in capitals stands for a name."""
    folders = ("docs", "eval", "rules", "scripts", "src", "tests")
    found = [*ROOT.glob("*"), *(path for each in folders for path in (ROOT / each).rglob("*"))]
    paths = {f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}" for path in found}
    text = (ROOT / page).read_text("utf-8").replace("LANGUAGE", "fr")
    named = set(re.findall(r"`([\w-]+(?:/[\w-]+)*(?:/|\.(?:py|toml|json|js|md)))`", text))
    assert len(named) > 5
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in paths)] == []


def test_records_of_decisions_have_at_most_400_words() -> None:
    records = (ROOT / "docs" / "decisions").glob("*.md")
    lengths = {
        record.name: sum(any(map(str.isalnum, word)) for word in record.read_text("utf-8").split())
        for record in records
    }
    assert {name: words for name, words in lengths.items() if words > 400} == {}


def test_the_page_of_commands_has_no_hidden_names() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert "## quoth worker\n" in page
    assert "## quoth work\n" not in page


@pytest.mark.parametrize("page", ["plan.md", "settings.md", "errors.md", "commands.md"])
def test_every_row_of_a_generated_page_says_what_it_is(page: str) -> None:
    rows = [
        line
        for line in (ROOT / "docs" / page).read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert rows
    assert [row for row in rows if not row.rstrip("|").rpartition("|")[2].strip()] == []
