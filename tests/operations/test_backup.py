"""A backup is whole although others write meanwhile, and what is restored is what was backed up."""

from __future__ import annotations

import asyncio
import io
import random
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from filelock import FileLock

from quoth.core.errors import InputError, StorageFull
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.operations.backup import (
    LOCK,
    WORK,
    make_backup,
    restore_backup,
    verify_backup,
    without_secrets,
)
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database, open_database
from quoth.store.ingest_jobs import Jobs
from tests.support.cli import quoth
from tests.support.databases import Server
from tests.support.full_disk import no_room
from tests.support.killed_process import left_behind
from tests.support.made_documents import entry, open_catalogue
from tests.support.small_library import add, open_tour

KINDS = ["backup.tar.zst", "backup"]


def library(folder: Path) -> Database:
    """A home with two tenants, a file that came in, and a settings file with secrets."""
    catalogue, collection = open_catalogue(folder / "catalogue.sqlite")
    catalogue.commit(collection, [entry(f"d{at}") for at in range(20)])
    theirs, their = open_catalogue(folder / "catalogue.sqlite", tenant="theirs")
    theirs.commit(their, [entry("t1", source="/t1.md")])
    theirs.close()
    (folder / "blobs" / "aa" / "bb").mkdir(parents=True)
    (folder / "blobs" / "aa" / "bb" / "file.txt").write_text("It came in. " * 5000)
    (folder / "blobs" / "aa" / "parts").mkdir()
    (folder / "blobs" / "aa" / "parts" / "u1").write_text("It is still com")
    (folder / "index" / "t").mkdir(parents=True)
    (folder / "index" / "t" / "x.scan").write_bytes(b"derived")
    (folder / "index" / "t" / "x.lock").write_bytes(b"")
    (folder / "quoth.toml").write_text(
        'threads = 2\nopenai_api_key = "sk-canary"\ndatabase = "postgresql://u:canary@h/d"\n'
        '[prompts]\nanswer = "Say \\"it\\" – briefly.\\nThank you."\n',
        encoding="utf-8",
    )
    return catalogue.database


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    opened = library(home)
    yield opened
    opened.close()


def files(folder: Path) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*.*"))


def documents(address: Path | str, tenant: str) -> list[Document]:
    catalogue = Catalogue(open_database(address), tenant=tenant)
    found = catalogue.documents(catalogue.collection("default"))
    catalogue.close()
    return found


@pytest.mark.parametrize("name", KINDS)
def test_what_is_restored_is_what_was_backed_up(
    home: Path, database: Database, tmp_path: Path, name: str
) -> None:
    made = make_backup(database, tmp_path / name, home=home)
    assert (made.documents, made.chunks, made.files) == (21, 42, 3)
    assert made.collections == (("local", "default"), ("theirs", "default"))
    assert verify_backup(tmp_path / name) == made
    new = tmp_path / "new"
    restore_backup(tmp_path / name, new)
    assert files(new) == ["blobs/aa/bb/file.txt", "catalogue.sqlite", "quoth.toml"]
    for tenant in ("local", "theirs"):
        before = documents(home / "catalogue.sqlite", tenant)
        assert documents(new / "catalogue.sqlite", tenant) == before
    assert (new / "blobs/aa/bb/file.txt").read_bytes() == (
        home / "blobs/aa/bb/file.txt"
    ).read_bytes()


def test_no_secret_is_backed_up_and_the_settings_say_the_same(
    home: Path, database: Database, tmp_path: Path
) -> None:
    make_backup(database, tmp_path / "b", home=home)
    restore_backup(tmp_path / "b", tmp_path / "new")
    text = (tmp_path / "new/quoth.toml").read_text(encoding="utf-8")
    assert "canary" not in text
    assert "threads = 2" in text
    prompts = {"prompts": {"answer": 'Say "it" – briefly.\nThank you.\x7f'}}
    assert tomllib.loads(without_secrets(prompts)) == prompts
    secret = {name for name in Settings.model_fields if name.endswith("_key")}
    assert without_secrets(dict.fromkeys(secret, "x")).strip() == ""


def restored(pack: Path, folder: Path) -> dict[str, bytes]:
    """The files of a backup and their bytes."""
    restore_backup(pack, folder)
    files = {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    shutil.rmtree(folder)
    return files


def damage_of(pack: Path) -> str:
    """What a check says of a backup; nothing where it is whole."""
    try:
        verify_backup(pack)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", KINDS)
def test_every_altered_byte_is_found(
    home: Path, database: Database, tmp_path: Path, name: str
) -> None:
    pack = tmp_path / name
    make_backup(database, pack, home=home)
    sound = restored(pack, tmp_path / "sound")
    dice = random.Random(3)
    parts = [pack] if pack.is_file() else [each for each in pack.rglob("*") if each.is_file()]
    for _ in range(12):
        part = dice.choice(parts)
        whole = part.read_bytes()
        at = dice.randrange(len(whole))
        part.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        if damage := damage_of(pack):
            assert "damaged" in damage
            with pytest.raises(InputError, match="damaged"):
                restore_backup(pack, tmp_path / "new")
            assert not (tmp_path / "new").exists()
        else:  # one of the bytes that fill a block of the archive up
            assert restored(pack, tmp_path / "altered") == sound
        part.write_bytes(whole)
    verify_backup(pack)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, "home"])


def test_what_is_missing_or_was_added_is_found(
    home: Path, database: Database, tmp_path: Path
) -> None:
    pack = tmp_path / "backup"
    make_backup(database, pack, home=home)
    (pack / "more.txt").write_text("more")
    with pytest.raises(InputError, match=r"more\.txt"):
        verify_backup(pack)
    (pack / "more.txt").unlink()
    (pack / "quoth.toml").unlink()
    with pytest.raises(InputError, match=r"quoth\.toml is missing"):
        verify_backup(pack)
    (pack / "manifest.json").unlink()
    with pytest.raises(InputError, match="never finished"):
        verify_backup(pack)
    with pytest.raises(InputError, match="no backup"):
        verify_backup(tmp_path / "nothing")


def test_a_backup_that_was_cut_off_is_found(home: Path, database: Database, tmp_path: Path) -> None:
    pack = tmp_path / "backup.tar.zst"
    make_backup(database, pack, home=home)
    whole = pack.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        pack.write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged"):
            verify_backup(pack)


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "a/../../out.txt", "c:\\out.txt"])
def test_a_hostile_backup_writes_nothing_outside(tmp_path: Path, name: str) -> None:
    pack = tmp_path / "sub" / "evil.tar.zst"
    pack.parent.mkdir()
    with (
        pa.CompressedOutputStream(str(pack), "zstd") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w|") as tar,
    ):
        about = tarfile.TarInfo(name)
        about.size = 3
        tar.addfile(about, io.BytesIO(b"out"))
    with pytest.raises(InputError, match="damaged"):
        restore_backup(pack, tmp_path / "sub" / "new")
    assert [each.name for each in tmp_path.rglob("*.*")] == ["evil.tar.zst"]


def test_a_hostile_link_is_no_file(tmp_path: Path) -> None:
    pack = tmp_path / "evil.tar.zst"
    with (
        pa.CompressedOutputStream(str(pack), "zstd") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w|") as tar,
    ):
        about = tarfile.TarInfo("catalogue.sqlite")
        about.type, about.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(about)
    with pytest.raises(InputError, match="no plain file"):
        restore_backup(pack, tmp_path / "new")


def test_nothing_is_ever_written_over(home: Path, database: Database, tmp_path: Path) -> None:
    pack = tmp_path / "b"
    make_backup(database, pack, home=home)
    with pytest.raises(InputError, match="there already"):
        make_backup(database, pack, home=home)
    with pytest.raises(InputError, match="holds something"):
        restore_backup(pack, home)
    (tmp_path / "new").mkdir()
    restore_backup(pack, tmp_path / "new")


@pytest.mark.parametrize("room", [1, 40_000, 120_000])
@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk_leaves_no_half_backup(
    home: Path, database: Database, tmp_path: Path, name: str, room: int
) -> None:
    (home / "blobs" / "aa" / "bb" / "file.txt").write_bytes(random.Random(1).randbytes(400_000))
    with no_room(beyond=room), pytest.raises(StorageFull, match="Free some space"):
        make_backup(database, tmp_path / name, home=home)
    assert [each.name for each in tmp_path.iterdir()] == ["home"]
    make_backup(database, tmp_path / name, home=home)
    with no_room(beyond=room), pytest.raises(StorageFull, match="Free some space"):
        restore_backup(tmp_path / name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_an_interrupted_backup_left_is_removed_by_the_next(
    home: Path, database: Database, tmp_path: Path
) -> None:
    killed = tmp_path / "backups"
    killed.mkdir()
    program = (
        "import os, sys; from pathlib import Path; from quoth.operations import backup\n"
        "backup._add_tree = lambda *_, **__: os._exit(9)\n"
        "database = backup.open_database(Path(sys.argv[1]))\n"
        "backup.make_backup(database, Path(sys.argv[2]), home=Path(sys.argv[1]).parent)"
    )
    for name in KINDS:
        arguments = [str(home / "catalogue.sqlite"), str(killed / name)]
        subprocess.run([sys.executable, "-c", program, *arguments], check=False, timeout=60)
        assert len(list(killed.iterdir())) == 1
    (running := killed / f"{WORK}running").mkdir()
    with FileLock(running / LOCK):
        make_backup(database, killed / "whole", home=home)
        assert {each.name for each in killed.iterdir()} == {"whole", running.name}


def test_work_under_way_is_nobodys_in_the_restored_library(
    home: Path, database: Database, tmp_path: Path
) -> None:
    catalogue = Catalogue(database, tenant="local")
    Jobs(catalogue).claim(catalogue.collection("default"), "w1", source="/w1.md", title="W")
    make_backup(database, tmp_path / "b", home=home)
    restore_backup(tmp_path / "b", tmp_path / "new")
    found = documents(tmp_path / "new" / "catalogue.sqlite", "local")
    assert {each.status for each in found} == {"ready"}


# --- from and to a server ---------------------------------------------------------------------


def test_a_catalogue_moves_to_a_server_and_back(
    home: Path, database: Database, tmp_path: Path, server: Server
) -> None:
    make_backup(database, tmp_path / "b1", home=home)
    address = server.empty()
    restore_backup(tmp_path / "b1", tmp_path / "there", address=address)
    assert not (tmp_path / "there" / "catalogue.sqlite").exists()
    before = documents(home / "catalogue.sqlite", "theirs")
    assert documents(address, "theirs") == before
    served = open_database(address)
    make_backup(served, tmp_path / "b2", home=tmp_path / "there")
    served.close()
    restore_backup(tmp_path / "b2", tmp_path / "back")
    for tenant in ("local", "theirs"):
        kept = documents(home / "catalogue.sqlite", tenant)
        assert documents(tmp_path / "back" / "catalogue.sqlite", tenant) == kept
    with pytest.raises(InputError, match="holds a library already"):
        restore_backup(tmp_path / "b2", tmp_path / "again", address=address)
    assert documents(address, "theirs") == before
    assert not (tmp_path / "again").exists()


# --- the commands -----------------------------------------------------------------------------


def test_a_library_is_backed_up_checked_and_restored(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nBees make honey from nectar.\n")
    home, new, pack = tmp_path / "home", tmp_path / "new", str(tmp_path / "b.tar.zst")
    assert quoth(home, "add", str(tmp_path / "bees.md")).code == 0
    assert quoth(home, "backup", pack, "--json").json["documents"] == 1
    assert (
        "1 document with 1 passage in 1 collection, 1 file,"
        in quoth(home, "backup", "verify", pack).out
    )
    again = quoth(home, "backup", "--index", pack)
    assert (again.code, "there already" in again.err) == (2, True)
    restored = quoth(home, "backup", "restore", pack, "--home", str(new), "--json")
    assert restored.json["path"] == str(new)
    answer = quoth(new, "ask", "What do bees make?", "--json").json
    assert answer["text"].startswith("Bees make honey from nectar.")
    refused = quoth(home, "backup", "restore", pack, "--home", str(new))
    assert (refused.code, "holds something" in refused.err) == (2, True)


# --- while others write (R21) -----------------------------------------------------------------


def ready_in(engine: Engine) -> int:
    """Count the documents that are in a library by now."""
    catalogue = engine.parts.catalogue
    found = catalogue.find_collection("default")
    return sum(each.status == "ready" for each in catalogue.documents(found)) if found else 0


async def back_up_while_adding(folder: Path, *, files: int, backups: int) -> list[int]:
    """Add files, back up again and again meanwhile, and look at every restored library.

    Gives how many documents were in each backup.
    """
    source = folder / "files"
    source.mkdir(parents=True)
    for number in range(files):
        lines = (f"Line {line} of file {number} speaks of word{line}." for line in range(12))
        (source / f"file{number}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    home = folder / "home"
    settings = Settings(home=home, chunk_tokens=32, history="off")
    counts = []
    async with open_tour(home, settings=settings, stored=True) as engine:
        adding = asyncio.create_task(add(engine, source))
        database = engine.parts.catalogue.database
        for number in range(backups):
            share = files * number // backups
            async with asyncio.timeout(120):
                while await asyncio.to_thread(ready_in, engine) < share:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            made = await asyncio.to_thread(
                make_backup,
                database,
                folder / f"b{number}.tar.zst",
                home=home,
                index=bool(number % 2),
            )
            counts.append(made.documents)
        await adding
    for number, count in enumerate(counts):
        new = folder / f"new{number}"
        restore_backup(folder / f"b{number}.tar.zst", new)
        renewed = settings.model_copy(update={"home": new})
        async with open_tour(new, settings=renewed, stored=True) as engine:
            await add(engine)
        ready, stored = await left_behind(new)
        assert len(ready) == count
        assert stored == ready, "the index holds something twice, or an orphan"
        async with open_tour(new, settings=renewed, stored=True) as engine:
            done = await add(engine, source)
        assert len(done) == files
        assert sum(each.status == "unchanged" for each in done) == count
        ready, stored = await left_behind(new)
        assert len(ready) == files
        assert stored == ready
    return counts


@pytest.mark.soak
async def test_a_backup_while_files_are_added_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.pipeline.add.BATCH_CHUNKS", 24)
    counts = await back_up_while_adding(tmp_path, files=40, backups=4)
    assert any(0 < each < 40 for each in counts), counts


@pytest.mark.soak
async def test_backups_while_a_thousand_documents_are_added(tmp_path: Path) -> None:
    counts = await back_up_while_adding(tmp_path, files=1000, backups=6)
    # Backups of what is not begun, or done, prove little.
    assert sum(0 < each < 1000 for each in counts) >= 3, counts
