"""The commands that messages name do what they say if they are run word by word."""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from quoth.interfaces.cli.session import Screen
from tests.support.cli import quoth
from tests.support.small_library import write_sources

SWARM = "When does a colony swarm?"


def remove(index: Path) -> None:
    shutil.rmtree(index)


def empty(index: Path) -> None:
    for file in index.rglob("*.keywords.sqlite"):
        file.unlink()


def damage(index: Path) -> None:
    """Flip the data of each table, and remove its segments, which are searched without it."""
    for file in index.rglob("data/*.lance"):
        file.write_bytes(bytes(each ^ 1 for each in file.read_bytes()))
    for file in index.rglob("*.scan.json"):
        file.unlink()


@pytest.mark.parametrize(
    ("options", "harm"),
    [
        ((), remove),
        ((), damage),
        (("--store", "sqlite-vec"), remove),
        (("--store", "sqlite-vec"), empty),
    ],
)
def test_the_command_that_rebuilds_an_index_rebuilds_that_one(
    tmp_path: Path, options: tuple[str, ...], harm: Callable[[Path], None]
) -> None:
    home, own = tmp_path / "home", ("--collection", "my own", *options)
    notes = write_sources(tmp_path / "sources") / "notes.md"
    assert quoth(home, *own, "add", str(notes)).code == 0
    harm(home / "index")
    said = quoth(home, *own, "ask", SWARM)
    assert said.code == 3
    found = re.search(r"[Bb]uild it with: quoth (.+reindex)$", " ".join(said.err.split()))
    assert found is not None, said.err
    assert quoth(home, *shlex.split(found[1])).code == 0
    assert quoth(home, *own, "ask", SWARM).code == 0


def test_hints_are_about_the_collection_of_the_call(tmp_path: Path) -> None:
    home, own = tmp_path / "home", ("--collection", "own")
    sources = write_sources(tmp_path / "sources")
    (tmp_path / "none").mkdir()
    assert quoth(home, "add", str(sources / "notes.md")).code == 0
    assert "with: quoth --collection own add PATH" in quoth(home, *own, "ask", SWARM).err
    assert quoth(home, *own, "add", str(sources / "notes.md")).code == 0
    for words, command in (
        (("remove", "none"), "quoth --collection own list"),
        (("sync", str(tmp_path / "none")), "quoth --collection own remove TITLE"),
    ):
        said = quoth(home, *own, *words)
        assert command in " ".join((said.err + said.out).split()), words
    assert quoth(home, *own, "remove", "notes.md").code == 0
    assert "quoth --collection own add PATH" in quoth(home, *own, "list").err
    assert "holds no documents" in (empty := " ".join(quoth(home, *own, "ask", SWARM).err.split()))
    assert empty.endswith("quoth --collection own add PATH")
    assert "quoth add PATH" in quoth(tmp_path / "new", "list").err


def test_commands_name_the_home_folder_of_the_call(tmp_path: Path) -> None:
    own, home = tmp_path / "elsewhere", tmp_path / "my home"
    here = ("--home", str(home), "--collection", "my own")
    notes = write_sources(tmp_path / "sources") / "notes.md"
    assert quoth(own, *here, "add", str(notes)).code == 0
    asked = quoth(own, *here, "ask", SWARM)
    found = re.search(r"· quoth (.+explain q_\w+)", asked.out)
    assert found is not None, asked.out
    assert quoth(own, *shlex.split(found[1])).code == 0
    remove(home / "index")
    lost = quoth(own, *here, "ask", SWARM)
    named = re.search(r"[Bb]uild it with: quoth (.+reindex)$", " ".join(lost.err.split()))
    assert named is not None, lost.err
    assert quoth(own, *shlex.split(named[1])).code == 0
    assert quoth(own, *here, "ask", SWARM).code == 0
    # Without the option the home is that of the environment, which the next call has, too.
    assert "--home" not in quoth(home, "ask", SWARM, "--collection", "my own").out


def in_home(message: str) -> str:
    screen = Screen()
    screen.home, screen.commands = "/my home", ("add", "list", "live", "reindex")
    return screen.in_home(message)


@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        ("The file 'a b.txt' isn't there. See: ", "quoth ", "list"),
        ("The folder's file isn't indexed. Build it with: ", "quoth ", "--store 'a b' reindex"),
        ("The 'collection' is empty. Add a talk with '", "quoth ", "add'."),
        ("Look with quoth-list, or (", "quoth ", "add 'my file'), of “quoth live recordings”."),
    ],
)
def test_a_command_in_a_message_names_the_home_folder(
    before: str, command: str, after: str
) -> None:
    assert in_home(before + command + after) == f"{before}quoth --home '/my home' {after}"


@pytest.mark.parametrize(
    "message",
    [
        "quoth add-ons.pdf is damaged.",
        "Nothing is about “the quoth live recordings”.",
        "Rien ne concerne « quoth live recordings ».",
        "There is no document 'quoth list of kings.txt' here.",
        'There is no document "quoth list of kings.txt" here.',
    ],
)
def test_a_name_in_a_message_is_shown_as_it_is(message: str) -> None:
    assert in_home(message) == message


@pytest.mark.parametrize(
    "part",
    ["--a '' ", "--a quoth ", "--a x'quoth ", "quoth --a x ", "quoth ", "“", "'", " '", "« ", '"'],
)
def test_a_long_message_is_shown_at_once(part: str) -> None:
    started = time.process_time()
    in_home("quoth " + part * 20_000 + "!")
    assert time.process_time() - started < 1


def test_what_the_doctor_found_names_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "my home"
    said = quoth(tmp_path / "elsewhere", "--home", str(home), "doctor")
    found = re.search(r"is empty\. Add to it with: quoth (.+) add PATH", " ".join(said.out.split()))
    assert found is not None, said.out
    assert shlex.split(found[1]) == ["--home", str(home)]
