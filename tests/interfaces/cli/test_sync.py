"""`quoth sync`, `quoth set` and what `quoth add` says of files that it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.ingest.readers.ocr import missing_for_pictures
from quoth.ingest.sources import site
from quoth.ingest.sources.http import Internet
from quoth.interfaces.cli.add import add_all, of_owner, remove_gone
from quoth.interfaces.cli.session import CliSession, Screen
from tests.ingest.test_outbound import open_world, page
from tests.support.cli import quoth
from tests.support.small_library import NOTES, open_tour, write_sources

WASPS = "# Wasps\n\nWasps make paper from wood.\n"


def titles(home: Path) -> list[str]:
    return sorted(each["title"] for each in quoth(home, "--json", "list").json)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "sources")


@pytest.fixture
def home(sources: Path, tmp_path: Path) -> Path:
    """A library of these sources, which a test may change."""
    assert quoth(tmp_path / "home", "add", str(sources)).code == 0
    return tmp_path / "home"


def test_sync_adds_updates_and_removes_what_came_from_the_folder(
    home: Path, sources: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text("# Elsewhere\n\nAnts farm fungi.\n")
    quoth(home, "add", str(elsewhere))
    elsewhere.unlink()
    before = titles(home)
    (sources / "wasps.md").write_text(WASPS)
    (sources / "notes.md").write_text(NOTES + "\nA hive has one entrance.\n")
    (sources / "miel.md").unlink()
    foreseen = quoth(home, "--json", "sync", str(sources), "--dry-run").json
    assert [Path(each).name for each in foreseen["add"]] == ["wasps.md"]
    assert [Path(each).name for each in foreseen["update"]] == ["notes.md"]
    assert [Path(each).name for each in foreseen["remove"]] == ["miel.md"]
    assert titles(home) == before
    done = quoth(home, "--json", "sync", str(sources)).json
    assert len(done["removed"]) == 1
    assert sorted(each["status"] for each in done["documents"]) == [
        *["ready"] * 2,
        *["unchanged"] * 2,
    ]
    assert titles(home) == sorted({*before, "Wasps"} - {"Le miel"})
    again = quoth(home, "--json", "sync", str(sources)).json
    assert (again["removed"], {each["status"] for each in again["documents"]}) == (
        [],
        {"unchanged"},
    )


def test_sync_says_which_files_were_renamed(home: Path, sources: Path) -> None:
    before = {each["title"]: each["document_id"] for each in quoth(home, "--json", "list").json}
    (sources / "notes.md").rename(sources / "bees.md")
    done = quoth(home, "--json", "sync", str(sources))
    counted = {key: done.json[key] for key in ("added", "updated", "moved", "unchanged")}
    assert counted == {"added": 0, "updated": 0, "moved": 1, "unchanged": 3}
    assert done.json["removed"] == []
    assert "moved      1\n" in done.err
    after = {each["title"]: each["document_id"] for each in quoth(home, "--json", "list").json}
    assert after == before


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_sync_refuses_a_folder_that_is_missing_or_empty(
    home: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    before = titles(home)
    said = quoth(home, "sync", str(tmp_path / name))
    assert (said.code, "Nothing was changed" in said.err) == (2, True)
    assert titles(home) == before


async def test_a_page_is_fetched_without_a_setting_and_replaced_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Settings(home=tmp_path / "home", chunk_tokens=32)
    session = CliSession(chosen, True, True, Screen(), Screen(stderr=True))
    allowed = of_owner(session)
    refusing = replace(session, settings=Settings(home=tmp_path, allow_urls=False))
    assert (allowed.settings.allow_urls, of_owner(refusing).settings.allow_urls) == (True, False)
    async with (
        open_world() as world,
        open_tour(tmp_path / "home", settings=allowed.settings) as engine,
    ):
        ways = Internet(world.resolve, world.connect)
        monkeypatch.setattr(site, "Internet", lambda: ways)
        added: list[Document] = []
        for text in (b"<title>Bees</title><p>One queen.", b"<title>Bees</title><p>Two queens."):
            world.pages["/"] = page(text)
            report = await add_all(allowed, engine, ["http://bees.example/"])
            added = list(report.documents)
            await remove_gone(allowed, engine, ["http://bees.example/"])
        assert [each.document_id for each in await engine.documents()] == [added[0].document_id]


def test_files_that_are_left_out_are_counted_by_type_with_a_way(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "wasps.md").write_text(WASPS)
    (folder / "wasps.md.meta.json").write_text("{}")
    for name in ("a.doc", "b.doc", "c.AVI", "d.gif", "e.weird", ".hidden.doc"):
        (folder / name).write_bytes(b"x")
    said = quoth(home, "add", str(folder)).err
    assert "left out   5" in said
    for line in (
        "2 .doc: save them as PDF, DOCX",
        "1 .avi: add their captions",
        "1 .gif:",
        "1 .weird:",
    ):
        assert line in said


def test_rows_of_a_table_without_a_file_are_named(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "wasps.md").write_text(WASPS)
    (folder / "talks.meta.csv").write_text("file,speaker\nwasps.md,Eve\nlost.md,Ada\n")
    said = quoth(home, "add", str(folder)).err
    assert f"{folder / 'talks.meta.csv'} names files that are not there: lost.md\n" in said
    assert "are not there" not in quoth(home, "add", str(folder / "wasps.md")).err


@pytest.mark.skipif(missing_for_pictures() is not None, reason="needs OCR")
def test_a_picture_without_text_is_left_out_and_fails_where_it_is_named(
    tmp_path: Path, home: Path
) -> None:
    from PIL import Image

    folder = tmp_path / "mixed"
    folder.mkdir()
    logo = folder / "logo.png"
    Image.new("RGB", (32, 32), "white").save(logo)
    Image.new("1", (1, 1)).save(folder / "dot.tif")
    (folder / "wasps.md").write_text(WASPS)
    added = quoth(home, "add", str(folder))
    assert "1 .png, 1 .tif: no text was found in them: dot.tif, logo.png" in added.err
    assert (added.code, "failed" in added.err) == (0, False)
    by_name = quoth(home, "add", str(folder), str(logo))
    assert (by_name.code, "OCR finds no text there" in by_name.err) == (1, True)


def test_set_changes_what_is_known_and_adding_again_keeps_it(home: Path, sources: Path) -> None:
    words = ("title=My hive", "speaker=", "date=2024-05-01")
    (changed,) = quoth(home, "--json", "set", "Inside the hive", *words).json
    assert (changed["title"], changed["speaker"], changed["date"]) == (
        "My hive",
        None,
        "2024-05-01",
    )
    assert changed["url"].endswith("aaaaaaaaaaa")
    assert json.loads((sources / "hive.srt.meta.json").read_text())["title"] == "My hive"
    quoth(home, "add", str(sources), "--meta", "team=bees", "--meta", "room=12")
    assert "My hive" in titles(home)
    assert "Inside the hive" not in titles(home)
    (own,) = quoth(home, "--json", "set", "My hive", "meta.room=", "meta.topic=honey").json
    assert own["document_id"] == changed["document_id"]
    assert own["metadata"] == {"team": "bees", "topic": "honey"}
    assert "team=bees" in quoth(home, "list").out
    asked = quoth(home, "--json", "search", "bees", "--filter", "meta.topic=honey").json
    assert {each["document_id"] for each in asked} == {own["document_id"]}


@pytest.mark.parametrize("words", [("colour=red",), ("title",), ("date=soon",)])
def test_a_change_that_makes_no_sense_is_wrong_usage(home: Path, words: tuple[str, ...]) -> None:
    assert quoth(home, "set", "Inside the hive", *words).code == 2
