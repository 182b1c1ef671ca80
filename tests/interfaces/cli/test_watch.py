"""`quoth watch` and `quoth add --watch`: what is read in a round, and what ends the command."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import DocumentError, MissingExtra
from quoth.core.settings import Settings
from quoth.ingest.sources.mirror import FetchedItem
from quoth.interfaces.cli import add
from quoth.interfaces.cli.session import CliSession, Screen
from quoth.pipeline import remote
from tests.support.cli import quoth

PAGE = "http://bees.example/"


def rounds(monkeypatch: pytest.MonkeyPatch, *are_due: bool) -> None:
    """Let the watcher have these rounds, and no more."""
    watch = pytest.importorskip("quoth.ingest.sources.watch")

    async def folder_changed(
        _folders: Sequence[Path], *, every: float | None = None
    ) -> AsyncGenerator[bool, None]:
        for is_due in are_due:
            yield is_due

    monkeypatch.setattr(watch, "folder_changed", folder_changed)


def test_the_options_of_an_addition_hold_while_its_folder_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds(monkeypatch, True, False)
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\nBees make honey.\n")
    (folder / "wasps.txt").write_text("Wasps make paper.\n")
    options = ("--include", "*.md", "--speaker", "Ann", "--meta", "team=x", "--watch")
    assert quoth(home, "add", str(folder), *options).code == 0
    (document,) = quoth(home, "--json", "list").json
    assert (document["title"], document["speaker"]) == ("Bees", "Ann")


def test_a_list_that_cannot_be_read_keeps_nothing_else_from_being_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch_items(
        _parts: Any, address: str, **_given: Any
    ) -> AsyncGenerator[FetchedItem, None]:
        if address == PAGE:
            raise DocumentError("unreadable", "The list cannot be read: no network.")
        yield FetchedItem(address, tmp_path / "wasps.md")

    monkeypatch.setattr(remote, "fetch_items", fetch_items)
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\nBees make honey.\n")
    (tmp_path / "wasps.md").write_text("# Wasps\n\nWasps make paper.\n")
    said = quoth(home, "sync", str(folder), PAGE, "http://wasps.example/")
    assert said.code == 1
    assert "no network" in said.out + said.err
    found = quoth(home, "--json", "list").json
    ready = {each["title"] for each in found if each["status"] == "ready"}
    assert ready == {"Bees", "Wasps"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The sources of each round; the fetching of addresses fails after the first."""
    made: list[list[str]] = []

    async def add_all(_session: Any, _engine: Any, sources: Sequence[str], **_given: Any) -> None:
        made.append(list(sources))
        if PAGE in sources and len(made) > 1:
            raise DocumentError("unreadable", "The list cannot be read: no network.")

    async def remove_gone(_session: Any, _engine: Any, sources: Sequence[str]) -> None:
        assert list(sources) == made[-1]

    monkeypatch.setattr(add, "add_all", add_all)
    monkeypatch.setattr(add, "remove_gone", remove_gone)
    return made


def opened(tmp_path: Path) -> CliSession:
    return CliSession(Settings(home=tmp_path), False, True, Screen(), Screen(stderr=True))


async def test_a_change_in_a_folder_fetches_no_address_and_a_failed_round_is_not_the_last(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    rounds(monkeypatch, True, False, True, False)
    engine: Any = None
    await add.keep_equal(opened(tmp_path), engine, [str(tmp_path), PAGE])
    both, folder = [str(tmp_path), PAGE], [str(tmp_path)]
    assert asked == [both, folder, both, folder]
    assert "no network" in capsys.readouterr().err


async def test_a_first_round_that_fails_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    rounds(monkeypatch, True, True)
    asked.append([])
    engine: Any = None
    with pytest.raises(DocumentError):
        await add.keep_equal(opened(tmp_path), engine, [PAGE])
    assert asked == [[], [PAGE]]


async def test_addresses_alone_are_watched_without_the_package_that_watches_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    monkeypatch.delitem(sys.modules, "quoth.ingest.sources.watch", raising=False)
    session = opened(tmp_path)
    engine: Any = None
    add.require_watchable(session, [PAGE])
    with pytest.raises(MissingExtra, match=r"quoth\[watch\]"):
        add.require_watchable(session, [str(tmp_path), PAGE])

    async def stopped(seconds: float) -> None:
        assert seconds == 5 * 60
        if len(asked) > 2:
            raise RuntimeError("enough")

    monkeypatch.setattr(asyncio, "sleep", stopped)
    with pytest.raises(RuntimeError, match="enough"):
        await add.keep_equal(session, engine, [PAGE], minutes=5)
    assert asked == [[PAGE], [PAGE], [PAGE]]
