"""Files that cannot be read: each costs one sentence with a code, and the others go on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.ingest.sources.files import find_files
from tests.conftest import FIXTURES
from tests.support.small_library import NOTES, TALK, add, open_tour

Write = Callable[[Path], None]


def pdf(name: str) -> Write:
    return lambda path: shutil.copy(FIXTURES / "pdf" / name, path) and None


def text(content: str | bytes) -> Write:
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data) and None


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2_000_001)  # without a byte on the disk


def torn(path: Path) -> None:
    whole = (FIXTURES / "pdf" / "book.pdf").read_bytes()
    path.write_bytes(whole[:400])


BAD: dict[str, tuple[Write, str, str]] = {
    "nothing.txt": (text(""), "empty", "nothing.txt"),
    "spaces.md": (text(" \n\t\n"), "empty", "spaces.md"),
    "nothing.pdf": (text(b""), "empty", "nothing.pdf"),
    "blank.pdf": (pdf("blank.pdf"), "empty", "no text"),
    "huge.txt": (huge, "too_large", "the limit is 2 MB"),
    "locked.pdf": (pdf("locked.pdf"), "encrypted", "password"),
    "torn.pdf": (torn, "damaged", "repair"),
    "scan.pdf": (pdf("scan.pdf"), "needs_ocr", "OCR"),
    "picture.pdf": (text(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "damaged", "a picture"),
    "archive.md": (text(b"PK\x03\x04\x14\x00\x00\x00"), "damaged", "container"),
    "noise.txt": (text(bytes(range(32)) * 40), "unsupported", "cannot be read"),
    "times.srt": (text("1\n00:00 --> soon\nHello there.\n"), "damaged", "times"),
}
GOOD = {"good.md": NOTES, "good.srt": TALK}
SETTINGS = {"max_file_mb": 2, "chunk_tokens": 32}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One of each kind of bad file, among two good ones."""
    made = tmp_path / "files"
    made.mkdir()
    for name, (write, _code, _said) in BAD.items():
        write(made / name)
    for name, content in GOOD.items():
        (made / name).write_text(content, encoding="utf-8")
    return made


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    settings = Settings(home=tmp_path / "home", **SETTINGS)
    async with open_tour(tmp_path / "home", settings=settings) as opened:
        yield opened


def named(documents: list[Document]) -> dict[str, Document]:
    return {Path(each.source).name: each for each in documents}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_file_has_a_code_and_a_sentence(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    write, code, said = BAD[name]
    write(tmp_path / name)
    (document,) = await add(engine, tmp_path / name)
    assert document.status == "failed"
    assert document.error is not None
    assert document.error.code == code
    assert said in document.error.message
    assert document.error.message.rstrip().endswith((".", ")"))
    (listed,) = await engine.documents()
    assert listed.error == document.error


async def test_one_of_each_among_good_ones(tmp_path: Path, folder: Path) -> None:
    """With the real readers, the real index, and everything at once."""
    settings = Settings(home=tmp_path / "home", embedder="fake", **SETTINGS)
    async with open_engine(settings) as engine:
        found = named(await add(engine, folder))
        assert {name for name, each in found.items() if each.status == "ready"} == set(GOOD)
        codes = {name: each.error.code for name, each in found.items() if each.error}
        assert codes == {name: code for name, (_write, code, _said) in BAD.items()}
        listed = named(await engine.documents())
        assert {each.status for name, each in listed.items() if name in GOOD} == {"ready"}
        assert (await engine.health()).ok
        assert await engine.search("When does a colony swarm?")
        for name in BAD:
            (folder / name).write_text(f"# {name}\n\nWhat {name} says now.\n", encoding="utf-8")
        again = named(await add(engine, folder))
        assert {each.status for name, each in again.items() if name in GOOD} == {"unchanged"}
        assert {again[name].status for name in BAD if not name.endswith(".srt")} == {"ready"}
        left = [each for each in await engine.documents() if each.status == "failed"]
        assert {Path(each.source).name for each in left} <= {"times.srt"}


async def test_a_file_that_still_fails_is_listed_once(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "torn.pdf"
    torn(path)
    for _ in range(3):
        await add(engine, path)
    assert len(await engine.documents()) == 1
    text("")(path)
    await add(engine, path)
    (document,) = await engine.documents()
    assert document.error is not None
    assert document.error.code == "empty"
    assert await engine.remove([document.document_id]) == [document.document_id]
    assert await engine.documents() == []


async def test_what_is_not_there_is_said_and_not_kept(engine: Engine, tmp_path: Path) -> None:
    found = await add(engine, tmp_path / "missing.pdf", Path("a\x00b"))
    assert [each.error.code for each in found if each.error] == ["not_found", "not_found"]
    assert await engine.documents() == []


@contextmanager
def nobody() -> Iterator[None]:
    """Do as somebody who may not read everything; the superuser may."""
    if not hasattr(os, "seteuid"):
        pytest.skip("permissions of this system are of another kind")
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_what_may_not_be_read_does_not_stop_a_walk() -> None:
    with TemporaryDirectory() as name:
        folder, locked = Path(name), Path(name, "locked")
        (folder / "secret.json").write_text('{"start": 1}')
        (folder / "open.md").write_text("# Open")
        locked.mkdir()
        (locked / "inside.md").write_text("# Inside")
        folder.chmod(0o755)
        (folder / "secret.json").chmod(0)
        locked.chmod(0)
        with nobody():
            found = [path.name for path in find_files([folder, locked / "inside.md"])]
        locked.chmod(0o700)
        assert found == ["open.md", "secret.json", "inside.md"]


async def test_a_file_that_may_not_be_read_says_so(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "secret.md"
    path.write_text("# Secret")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    (document,) = await add(engine, path)
    assert document.error is not None
    assert document.error.code == "unreadable"
    assert "Permission denied" in document.error.message


ODD_NAMES = [
    b"with spaces and, commas.md",
    b"two\nlines.md",
    "\U0001f41d \U0001f36f.md".encode(),
    "e\u0301te\u0301 \u05d3\u05d1\u05e9.md".encode(),
    b"caf\xe9.md",
    b"100% [bold] #1?.md",
    b"-q.md",
]


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a thing of Linux")
@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("good", [True, False])
async def test_a_file_may_be_named_anything(
    engine: Engine, tmp_path: Path, name: bytes, good: bool
) -> None:
    path = tmp_path / os.fsdecode(name)
    text(NOTES.replace("# Keeping bees", "") if good else "")(path)
    (document,) = await add(engine, path)
    for each in (document.title, document.source, str(document.error)):
        each.encode()  # it can be written anywhere
        assert "\n" not in each or each == document.source
    assert await engine.documents() == [document]
    if not good:
        assert document.error is not None
        assert document.error.code == "empty"
        return
    assert [each.status for each in await add(engine, path)] == ["unchanged"]
    (hit, *_) = await engine.search("When does a colony swarm?")
    assert hit.link is not None
    assert hit.link.partition("#")[0] == path.as_uri()
