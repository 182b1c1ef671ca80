"""Damage is named by the doctor, never quoted, and never backed up as good."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from quoth.core.errors import InputError, StoreDown
from quoth.operations.backup import make_backup
from quoth.operations.file_checksums import LEDGER, damaged_files
from quoth.operations.integrity import damaged_rows, find_damage
from quoth.operations.repair import repair_library
from quoth.store.database import open_database
from quoth.tenants import Tenants
from tests.support.cli import quoth
from tests.support.upload_service import drained, open_quickly, send, working

TEXT = "# Bees\n\nA queen bee lives for five years in her hive.\n"


@asynccontextmanager
async def library(home: Path) -> AsyncIterator[Tenants]:
    async with open_quickly(home) as tenants:
        await send(tenants, TEXT)
        async with working(tenants):
            await drained(tenants)
        yield tenants


def spoil(home: Path, *, old: bytes, new: bytes) -> None:
    """Change bytes of the catalogue's file as a disk does."""
    file = home / "catalogue.sqlite"
    with closing(sqlite3.connect(file)) as catalogue:
        catalogue.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))


async def test_a_changed_text_is_named_and_not_quoted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with library(home):
        pass
    spoil(home, old=b"five years", new=b"nine years")
    damage = damaged_rows(home / "catalogue.sqlite")
    assert [each.document_id is not None for each in damage] == [True]
    async with open_quickly(home) as tenants:
        answer = await tenants.engine("local").answer("How long does a queen bee live?")
        assert "nine" not in answer.text
        assert answer.citations == ()
        with pytest.raises(InputError, match="not backed up"):
            make_backup(tenants.database, tmp_path / "backup", home=home)
        steps = [step async for step in repair_library(tenants)]
        assert [step.mended for step in steps] == [True]
        answer = await tenants.engine("local").answer("How long does a queen bee live?")
        assert "five years" in answer.text
        assert find_damage(tenants.database, home=home) == []


async def test_a_changed_name_of_a_speaker_is_read_again_from_its_file(tmp_path: Path) -> None:
    home, talk = tmp_path / "home", "WEBVTT\n\n00:00.000 --> 00:09.000\n<v Ann>Bees dance.\n"
    async with open_quickly(home) as tenants:
        await send(tenants, talk, name="talk.vtt")
        async with working(tenants):
            await drained(tenants)
    with closing(sqlite3.connect(home / "catalogue.sqlite")) as catalogue:
        catalogue.execute("UPDATE speakers SET name = 'Job'")
        catalogue.commit()
    assert [bool(each.document_id) for each in damaged_rows(home / "catalogue.sqlite")] == [True]
    async with open_quickly(home) as tenants:
        assert [step.mended async for step in repair_library(tenants)] == [True]
    with closing(sqlite3.connect(home / "catalogue.sqlite")) as catalogue:
        assert catalogue.execute("SELECT name FROM speakers").fetchall() == [("Ann",)]


async def test_a_text_that_one_bit_made_a_blob_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await _make(home)
    with closing(sqlite3.connect(home / "catalogue.sqlite")) as catalogue:
        catalogue.execute("UPDATE spots SET sections = CAST(sections AS BLOB)")
        catalogue.commit()
    assert "a row of spots" in damaged_rows(home / "catalogue.sqlite")[0].what


async def _make(home: Path) -> None:
    async with library(home):
        pass


async def test_what_has_no_file_is_named_as_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with library(home) as tenants:
        (blob,) = [path for path in (home / "blobs").rglob("*.md")]
        blob.write_bytes(blob.read_bytes().replace(b"queen", b"drone"))
        (damage,) = find_damage(tenants.database, home=home)
        assert blob.name in damage.what
        (step,) = [step async for step in repair_library(tenants)]
        assert (step.mended, blob.name in step.what) == (False, True)


async def test_damaged_history_is_set_aside_and_the_rest_is_backed_up(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with library(home) as tenants:
        engine = tenants.engine("local")
        kept = await engine.answer("How long does a queen bee live?")
        await engine.answer("What is said of wolves?")
    spoil(home, old=b"What is said of wolves?", new=b"What is said of foxes??")
    async with open_quickly(home) as tenants:
        steps = [step async for step in repair_library(tenants)]
        assert any("row of queries" in step.what for step in steps)
        (copy,) = home.glob("catalogue.*.damaged")
        assert copy.name in steps[0].what
        assert find_damage(tenants.database, home=home) == []
        make_backup(tenants.database, tmp_path / "backup", home=home)
        history = tenants.engine("local").parts.catalogue
        assert "five years" in history.answer(kept.query_id)


def test_the_doctor_reports_whatever_is_broken(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asyncio.run(_make(home))
    for broken in (b"\xff" * 9000, b"cut"):
        file = home / "catalogue.sqlite"
        whole = file.read_bytes()
        file.write_bytes(whole[:4096] + broken if len(broken) < 20 else broken)
        done = quoth(home, "doctor")
        assert done.code == 1
        assert "Traceback" not in done.err
        assert "catalogue" in done.out
        file.write_bytes(whole)


def test_the_doctor_does_not_call_damaged_what_cannot_be_opened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asyncio.run(_make(home))
    (home / "catalogue.sqlite").unlink()
    (home / "catalogue.sqlite").mkdir()
    done = quoth(home, "doctor")
    assert done.code == 1
    assert "cannot be opened" in done.out
    assert "parts are damaged" not in done.out
    assert "quoth repair" not in done.out


def test_the_doctor_does_not_know_damage_by_a_word_in_a_path(tmp_path: Path) -> None:
    home = tmp_path / "damaged"
    asyncio.run(_make(home))
    (home / "catalogue.sqlite").write_bytes(b"")
    done = quoth(home, "doctor")
    assert "is empty, but" in done.out
    assert "quoth repair" not in done.out


def test_the_doctor_says_with_which_tenant_its_advice_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_make(tmp_path))
    shutil.rmtree(tmp_path / "index")
    monkeypatch.setenv("QUOTH_TENANT", "other")
    said = quoth(tmp_path, "doctor")
    assert "index of local/default" in said.out
    assert "With QUOTH_TENANT=local: Rebuild" in said.out


def test_notes_that_cannot_be_written_stop_no_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "links.key").write_bytes(b"key")

    def full(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert damaged_files(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["links.key"]


async def test_an_uploaded_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with library(tmp_path) as tenants:
        (file,) = (tmp_path / "blobs").glob("*/*/*.md")
        file.unlink()
        (damage,) = find_damage(tenants.database, home=tmp_path)
        assert "'Bees'" in damage.what
        assert file.name in damage.what
        assert find_damage(tenants.database, home=tmp_path, shared=True) == []


def test_an_emptied_catalogue_is_no_new_library(tmp_path: Path) -> None:
    asyncio.run(_make(tmp_path))
    file = tmp_path / "catalogue.sqlite"
    file.write_bytes(b"")
    with pytest.raises(StoreDown, match="is empty, but"):
        open_database(file)
    assert file.read_bytes() == b""
    shutil.rmtree(tmp_path / "index", ignore_errors=True)
    shutil.rmtree(tmp_path / "blobs")
    open_database(file).close()  # what a stop at the first start leaves


async def test_any_flipped_byte_of_text_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with library(home) as tenants:
        await send(tenants, "".join(f"Sentence {number} of a book.\n" for number in range(2000)))
        async with working(tenants):
            await drained(tenants)
    with closing(sqlite3.connect(home / "catalogue.sqlite")) as catalogue:
        catalogue.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = (home / "catalogue.sqlite").read_bytes()
    chosen = random.Random(5)
    places = [at for at in range(len(content)) if content.startswith(b"Sentence", at)]
    copy = tmp_path / "copy.sqlite"
    for place in chosen.sample(places, 20):
        spoilt = bytearray(content)
        spoilt[place + chosen.randrange(8)] ^= 1 << chosen.randrange(8)
        copy.write_bytes(spoilt)
        assert damaged_rows(copy), place
    shutil.copyfile(home / "catalogue.sqlite", copy)
    database = open_database(copy)
    assert find_damage(database, home=home) == []
    database.close()


def test_a_file_that_changed_without_being_written_is_damaged(tmp_path: Path) -> None:
    index = tmp_path / "index" / "a.lance"
    index.parent.mkdir()
    index.write_bytes(b"vectors")
    settings = tmp_path / "quoth.toml"
    settings.write_text("threads = 2\n")
    assert damaged_files(tmp_path) == []
    written = index.stat()
    index.write_bytes(b"vectorz")
    os.utime(index, ns=(written.st_atime_ns, written.st_mtime_ns))
    settings.write_text("threads = 3\n")  # by its owner
    assert damaged_files(tmp_path) == damaged_files(tmp_path) == ["index/a.lance"]
    ledger = tmp_path / LEDGER
    ledger.write_bytes(ledger.read_bytes().replace(b"a.lance", b"b.lance"))
    assert damaged_files(tmp_path) == [LEDGER]
