"""What of a folder is added, and how its changes are noticed."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from quoth.ingest.readers.registry import read
from quoth.ingest.sources.files import (
    GENERATED,
    LINKED,
    SHOWN,
    find_files,
    fingerprint,
    look_through,
)


def folder(tmp_path: Path) -> Path:
    for name in (
        *("a.md", "b.srt", "drafts/c.md", "2023/deep/d.md", "e.xyz", "notes.tmp.md"),
        "node_modules/lib/f.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        ((), (), ["2023/deep/d.md", "a.md", "b.srt", "drafts/c.md", "notes.tmp.md"]),
        (("*.srt",), (), ["b.srt"]),
        ((), ("drafts",), ["2023/deep/d.md", "a.md", "b.srt", "notes.tmp.md"]),
        ((), ("drafts/*", "*.tmp.md"), ["2023/deep/d.md", "a.md", "b.srt"]),
        (("*.md",), ("2023/*", "drafts/"), ["a.md", "notes.tmp.md"]),
    ],
)
def test_patterns_choose_files(
    tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], names: list[str]
) -> None:
    root = folder(tmp_path)
    paths = look_through([root], include=include, exclude=exclude).files
    assert [path.relative_to(root).as_posix() for path in paths] == names


def test_a_file_in_the_folder_lists_what_is_never_added(tmp_path: Path) -> None:
    root = folder(tmp_path)
    (root / ".quothignore").write_text("# of no use\ndrafts\n*.xyz\n\n2023/deep/*\n")
    assert {path.name for path in find_files([root])} == {"a.md", "b.srt", "notes.tmp.md"}
    assert look_through([root]).left_out == {}


def test_the_lock_of_an_open_document_is_no_document(tmp_path: Path) -> None:
    for name in ("report.docx", "~$report.docx", ".~lock.report.docx#"):
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in find_files([tmp_path])] == ["report.docx"]
    assert not look_through([tmp_path]).left_out


def test_links_to_files_are_followed_and_those_to_folders_are_counted(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "notes.md").write_text("x")
    (root / "linked.md").symlink_to(outside / "notes.md")
    (root / "others").symlink_to(outside)
    (root / "round").symlink_to(root)
    (root / "deep").mkdir()
    (root / "deep" / "up").symlink_to("..")
    assert find_files([root]) == [outside / "notes.md"]
    assert look_through([root]).left_out == {LINKED: 1}


async def test_a_change_is_noticed_also_while_the_caller_works(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    from quoth.ingest.sources.watch import folder_changed

    async with asyncio.timeout(60), aclosing(folder_changed([tmp_path])) as rounds:
        assert await anext(rounds)
        await asyncio.to_thread((tmp_path / "a.md").write_text, "x")
        assert not await anext(rounds)
        await asyncio.to_thread((tmp_path / "b.md").write_text, "x")
        assert not await anext(rounds)


async def test_folders_are_looked_at_again_after_a_time(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    from quoth.ingest.sources.watch import folder_changed

    async with asyncio.timeout(60), aclosing(folder_changed([tmp_path], every=0.01)) as rounds:
        for _ in range(3):
            assert await anext(rounds)


async def test_changes_do_not_put_off_the_time_of_addresses(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    from quoth.ingest.sources.watch import folder_changed

    async with asyncio.timeout(60), aclosing(folder_changed([tmp_path], every=4)) as rounds:
        assert await anext(rounds)
        due: list[bool] = []
        while not any(due):
            await asyncio.to_thread((tmp_path / f"{len(due)}.md").write_text, "x")
            due.append(await anext(rounds))
        assert not due[0]


def test_a_table_of_talks_describes_the_files_of_its_folder(tmp_path: Path) -> None:
    talk, other = tmp_path / "talk.md", tmp_path / "other.md"
    talk.write_text("Bees dance.\n")
    other.write_text("Wasps do not.\n")
    before = [fingerprint(each, given=()) for each in (talk, other)]
    table = tmp_path / "talks.meta.csv"
    table.write_text(
        "\ufefffile,title,Author,date,stage\ntalk.md,The dance,Ada,7 May 2024,A\nlost.md\n,x,,,\n"
    )
    document = read(talk)
    assert (document.title, document.speaker, document.date) == ("The dance", "Ada", "2024-05-07")
    assert document.warnings == ("talks.meta.csv: not known and not used: 'stage'.",)
    (tmp_path / "talk.md.meta.json").write_text('{"title": "Dances"}')
    assert (read(talk).title, read(talk).speaker) == ("Dances", "Ada")
    assert read(other).title == "other"
    assert fingerprint(talk, given=()) != before[0]
    assert fingerprint(other, given=()) == before[1]
    assert find_files([tmp_path]) == [other, talk]
    assert look_through([tmp_path]).left_out == {}
    assert look_through([tmp_path, talk]).missing == {table: ["lost.md"]}


@pytest.mark.parametrize(
    ("content", "title", "warning"),
    [
        ("file;title\nthé.md;Le thé\n".encode("cp1252"), "Le thé", ""),
        ("file\ttitle\nthe\u0301.md\tLe thé\n".encode(), "Le thé", ""),
        ("file;title\rthé.md;Le thé\r".encode(), "Le thé", ""),
        (b"name,title\nx.md,Tea\n", "thé", "talks.meta.csv has no column 'file' and was not used."),
        (b"x" * (1 << 20) + b"\n", "thé", "talks.meta.csv is larger than 1 MB and was not used."),
    ],
)
def test_tables_of_talks_of_spreadsheets_and_other_systems(
    tmp_path: Path, content: bytes, title: str, warning: str
) -> None:
    talk = tmp_path / "thé.md"
    talk.write_text("Green or black.\n")
    (tmp_path / "talks.meta.csv").write_bytes(content)
    document = read(talk)
    assert document.title == title
    assert document.warnings == ((warning,) if warning else ())
    assert look_through([tmp_path]).missing == {}


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a.html", '<p><img alt="" src="img/My%20window.png"></p>'),
        ("a.html", "<img src='./img/My window.png'>"),
        ("a.htm", "<img src=img/My%20window.png>"),
        ("a.md", "![[img/My window.png]]"),
        ("a.md", "![The window](img/My%20window.png)"),
        ("deep/a.md", "![](<../img/My window.png>)"),
        ("a.rst", ".. image:: img/My window.png\n   :alt: window"),
        ("a.adoc", "image::img/My window.png[]"),
        ("a.org", "[[file:img/My window.png]]"),
        ("a.tex", r"\includegraphics[width=4cm]{img/My window.png}"),
    ],
)
def test_a_picture_that_a_page_shows_is_no_document(tmp_path: Path, page: str, text: str) -> None:
    for name, content in ((page, text), ("img/My window.png", "x"), ("scan.png", "x")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    assert [each.name for each in find_files([tmp_path])] == ["a" + Path(page).suffix, "scan.png"]
    assert look_through([tmp_path]).left_out == {SHOWN: 1}
    chosen = look_through([tmp_path], include=["*.png"]).files
    assert [each.name for each in chosen] == ["My window.png", "scan.png"]
    assert look_through([tmp_path], include=["*.png"]).left_out == {}


def test_what_a_site_is_built_with_is_no_document(tmp_path: Path) -> None:
    built = {
        *("sphinx/genindex.html", "sphinx/genindex-A.html", "sphinx/search.html"),
        *("sphinx/searchindex.js", "sphinx/_static/a.css", "sphinx/_sources/guide.rst.txt"),
        *("mkdocs/search/search_index.json", "mkdocs/assets/main.js", "doxy/search/all_0.html"),
        *("doxy/search/searchdata.js", "doxy/jquery.js"),
    }
    own = {
        *("sphinx/index.html", "sphinx/api/search.html", "sphinx/_static/manual.pdf"),
        *("sphinx/example.js", "mkdocs/search/index.html", "mkdocs/search/advanced/index.html"),
        *("doxy/search/thesis.md", "app/main.js", "_sources/minutes.txt", "doxy/index.html"),
    }
    for name in built | own | {"sphinx/objects.inv"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = {each.relative_to(tmp_path).as_posix() for each in find_files([tmp_path])}
    assert found == own
    assert look_through([tmp_path]).left_out == {GENERATED: len(built), ".inv": 1}
    chosen = look_through([tmp_path], include=["*.css"]).files
    assert [each.name for each in chosen] == ["a.css"]


def test_pictures_that_no_page_shows_are_documents(tmp_path: Path) -> None:
    words = "Scans: a.png, ![](b%00.png) <a href='a.png'>letter</a> (" + " " * 1_000_000
    (tmp_path / "page.md").write_text(words)
    (tmp_path / "a.png").write_text("x")
    os.mkfifo(tmp_path / "pipe.md")  # opening it would wait for a writer
    assert [each.name for each in look_through([tmp_path], exclude=["pipe.md"]).files] == [
        "a.png",
        "page.md",
    ]
    assert look_through([tmp_path]).left_out == {}
    (tmp_path / "page.md").write_text("![](a.png)")
    assert [each.name for each in look_through([tmp_path], exclude=["*.md"]).files] == ["a.png"]
