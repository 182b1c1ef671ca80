"""Backup of a library in use, verification and restore.

A backup contains a consistent snapshot of the catalogue of all tenants, the uploaded files, the
settings file without its secrets and, optionally, the indexes. Indexes are derived: without them a
restored library is embedded again.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import FileLock, Timeout
from pydantic import SecretStr
from sqlalchemy import select, update

from quoth.core.errors import Busy, InputError
from quoth.core.settings import Settings
from quoth.operations.archive import (
    ArchiveInfo,
    ArchiveWriter,
    translate_write_errors,
    unpack,
    write_archive,
)
from quoth.operations.integrity import damaged_rows
from quoth.store.blobs import Blobs, source_name, source_of, stored_name
from quoth.store.copy import fill, snapshot
from quoth.store.database import ALL_TENANTS, Database, open_database
from quoth.store.rows import now
from quoth.store.schema import HEAD, documents

CATALOGUE = "catalogue.sqlite"
SETTINGS = "quoth.toml"
INDEXES = ("index", "tokens")
PATIENCE_S = 300.0
WORK = ".quoth-backup-"
"""How the folders begin in which backups are written; a running one holds its lock."""
LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Backup:
    """Description of a backup: time, version and sizes."""

    path: str
    made_at: str
    version: str
    collections: tuple[tuple[str, str], ...]
    """Tenants and names."""
    documents: int
    chunks: int
    files: int
    bytes: int
    index: bool


def make_backup(database: Database, to: Path, *, home: Path, index: bool = False) -> Backup:
    """Back a library up into a folder or a ``.tar.zst`` file, created atomically.

    Readers and writers continue meanwhile; with ``index``, writers of the index wait while it
    is copied. Raises InputError where `to` exists already or its folder does not, StorageFull,
    Busy and ConfigError.
    """
    if not to.parent.is_dir():
        raise InputError(f"There is no folder {to.parent} to put the backup into. Make it first.")
    with _work_folder(to) as folder:
        file = folder / CATALOGUE
        # First, so that the catalogue refers to nothing that the later copies lack.
        with translate_write_errors(to):
            snapshot(database, file)
        if damage := damaged_rows(file):
            raise InputError(
                f"The catalogue is damaged ({damage[0].what}), so it was not backed up. Keep the "
                "older backups, and look at: quoth doctor"
            )
        about = {"made_at": now(), "index": index, **_counts(file)}
        with write_archive(to, about=about, folder=folder) as packer:
            packer.add(CATALOGUE, file)
            _add_settings(packer, home / SETTINGS)
            # Unfinished uploads are incomplete, and their clients send them again.
            _add_tree(packer, home, home / "blobs", skip=(".draft",), without="parts")
            _add_tree(packer, home, home / "mirrors", skip=(".draft", ".lock"))
            for tree in INDEXES if index else ():
                with _writers_waiting(home / tree):
                    _add_tree(packer, home, home / tree, skip=(".lock", ".draft", ".tmp"))
            packed = ArchiveInfo(dict(packer.files), about)
    return _backup(to, packed)


def verify_backup(path: Path) -> Backup:
    """Check every byte of a backup, and its catalogue as a database; raises InputError."""
    with TemporaryDirectory(prefix="quoth") as folder:
        packed = unpack(path, into=Path(folder), wanted=lambda name: name == CATALOGUE)
        _check_catalogue(path, Path(folder, CATALOGUE))
    return _backup(path, packed)


def restore_backup(path: Path, home: Path, *, address: Path | str | None = None) -> Backup:
    """Restore a library from a backup into an empty or new folder.

    With the ``address`` of a server the catalogue is restored there, into an empty database. Raises
    InputError without any change, StorageFull and ConfigError.
    """
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise InputError(f"{home} holds something already. Name a folder that is empty or new.")
    draft = home.with_name(f".{home.name}.{os.getpid()}.draft")
    try:
        with translate_write_errors(home):
            draft.mkdir(parents=True)
        packed = unpack(path, into=draft)
        _check_catalogue(path, draft / CATALOGUE)
        _release_locks(draft / CATALOGUE)
        _move_uploads(draft / CATALOGUE, home=home.resolve())
        if isinstance(address, str):
            with closing(open_database(address)) as database:
                fill(database, draft / CATALOGUE)
            for left in draft.glob(f"{CATALOGUE}*"):
                left.unlink()
        with translate_write_errors(home):
            if home.exists():
                home.rmdir()
            draft.replace(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return _backup(home, packed)


@contextmanager
def _work_folder(to: Path) -> Iterator[Path]:
    """Make the folder in which a backup is written, and remove those of interrupted backups."""
    with translate_write_errors(to):
        for left in to.parent.glob(f"{WORK}*"):
            with suppress(Timeout, OSError), FileLock(left / LOCK, timeout=0):
                shutil.rmtree(left, ignore_errors=True)
        made = TemporaryDirectory(dir=to.parent, prefix=WORK)
    with made as name, FileLock(Path(name, LOCK)):
        yield Path(name)


def _backup(path: Path, packed: ArchiveInfo) -> Backup:
    about = packed.about
    return Backup(
        path=str(path),
        made_at=about["made_at"],
        version=about["version"],
        collections=tuple((tenant, name) for tenant, name in about["collections"]),
        documents=about["documents"],
        chunks=about["chunks"],
        files=len(packed.files),
        bytes=packed.bytes,
        index=about["index"],
    )


def _counts(file: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(file)) as catalogue:
        names = catalogue.execute("SELECT tenant, name FROM collections ORDER BY 1, 2").fetchall()
        (documents,) = catalogue.execute("SELECT count(*) FROM documents").fetchone()
        (chunks,) = catalogue.execute("SELECT count(*) FROM chunks").fetchone()
        (at,) = catalogue.execute("SELECT version_num FROM alembic_version").fetchone()
    return {"version": at, "collections": names, "documents": documents, "chunks": chunks}


def _check_catalogue(path: Path, file: Path) -> None:
    if not file.is_file():
        raise InputError(f"The backup {path} holds no catalogue. Take another one.")
    try:
        with closing(sqlite3.connect(file)) as catalogue:
            found = catalogue.execute("PRAGMA integrity_check(1)").fetchone()[0]
            loose = catalogue.execute("PRAGMA foreign_key_check").fetchone()
            at = catalogue.execute("SELECT version_num FROM alembic_version").fetchone()[0]
    except sqlite3.Error as error:
        found, loose, at = str(error), None, HEAD
    if found == "ok" and at == HEAD and (damage := damaged_rows(file)):
        found = damage[0].what
    if found != "ok" or loose is not None:
        raise InputError(
            f"The catalogue in the backup {path} is damaged ({found if loose is None else loose}): "
            "it was so when the backup was made. Take an older one."
        )
    if at > HEAD:
        raise InputError(f"The backup {path} was made by a newer version of quoth. Update quoth.")


def _release_locks(file: Path) -> None:
    """End the leases of processes that worked when the backup was made: they are not here."""
    with translate_write_errors(file), closing(sqlite3.connect(file)) as catalogue, catalogue:
        catalogue.execute("DELETE FROM jobs WHERE state = 'running'")


def _move_uploads(file: Path, *, home: Path) -> None:
    """Let the documents of uploaded files name these in the restored home folder."""
    uploads = select(documents.c.id, documents.c.tenant, documents.c.source)
    with closing(open_database(file)) as database, database.writing(ALL_TENANTS) as connection:
        for row in connection.execute(uploads.where(documents.c.source.startswith("file:"))):
            if name := stored_name(row.source):
                path = Blobs(home, tenant=row.tenant).path(name.partition(".")[0], name=name)
                moved = source_of(path, name=source_name(row.source))
                connection.execute(
                    update(documents).where(documents.c.id == row.id).values(source=moved)
                )


def _add_settings(packer: ArchiveWriter, file: Path) -> None:
    if not file.is_file():
        return
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # no process can start with it either
    packer.add_text(SETTINGS, without_secrets(given))


def without_secrets(given: Mapping[str, Any]) -> str:
    """Write settings as TOML again, without keys, passwords and what is not a setting."""
    open_ones = {
        name: value
        for name, value in given.items()
        if name in Settings.model_fields
        and SecretStr.__name__ not in str(Settings.model_fields[name].annotation)
    }
    plain = [f"{name} = {_toml(v)}" for name, v in open_ones.items() if not isinstance(v, dict)]
    tables = [
        "\n".join([f"\n[{name}]", *(f"{_toml(key)} = {_toml(each)}" for key, each in v.items())])
        for name, v in open_ones.items()
        if isinstance(v, dict)
    ]
    return "\n".join([*plain, *tables, ""])


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _add_tree(
    packer: ArchiveWriter, home: Path, tree: Path, *, skip: tuple[str, ...], without: str = ""
) -> None:
    for path in sorted(tree.rglob("*")):
        inside = path.relative_to(home)
        if path.is_file() and not path.name.endswith(skip) and without not in inside.parts:
            packer.add(inside.as_posix(), path)


@contextmanager
def _writers_waiting(tree: Path) -> Iterator[None]:
    """Hold the writer lock of every table of an index, so that none of its files change."""
    held: list[FileLock] = []
    try:
        for path in sorted(tree.rglob("*.lock")):
            lock = FileLock(path)
            lock.acquire(timeout=PATIENCE_S)
            held.append(lock)
        yield
    except Timeout as error:
        raise Busy(
            "The index is being written to all the time. Try again later, or without the index.",
            retryable=True,
        ) from error
    finally:
        for lock in reversed(held):
            lock.release()
