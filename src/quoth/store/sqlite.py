"""The catalogue in an SQLite file: connection, copies and error translation."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from os.path import isfile
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from quoth.core.errors import (
    Busy,
    ConfigError,
    QuothError,
    RetrievalError,
    StorageFull,
    StoreDown,
)

# A quota and a limit on file sizes are not reported as a full disk, but as a failed write.
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")
NO_ACCESS = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")
IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
UNDECODABLE = "Could not decode to UTF-8"
WAY_OUT = (
    "Restore a backup (quoth backup restore), or point --home at another folder and add the "
    "documents again. Where it can still be opened, quoth repair mends what can be made again."
)
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
BESIDE = ("index", "blobs")
"""Folders of a home that have files only where the catalogue has rows."""

SWITCH_PAUSE_S = 0.02
KEPT_OPEN, AT_MOST = 8, 64
"""Connections: more than so many threads have no use for them at once."""


def connect(file: Path, *, patience_s: float) -> Engine:
    """Return the engine of a file, made if it is not there; raises ConfigError for its folder."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        folders = (file.parent, *file.parent.parents)
        there = next((folder for folder in folders if isfile(folder)), None)
        why = f"{there} is a file. Name a folder with --home" if there else error
        raise ConfigError(f"The home folder {file.parent} cannot be made: {why}.") from error
    with suppress(OSError):  # a folder without access is reported when the file is opened
        # A file that is there is not opened: closing it would end the locks of this process on it.
        with suppress(FileExistsError):
            file.touch(0o600, exist_ok=False)
        for part in (file, *(file.with_name(file.name + ending) for ending in ("-wal", "-shm"))):
            part.chmod(part.stat().st_mode & 0o770)  # others never read what tenants keep
    engine = create_engine(
        URL.create("sqlite", database=str(file)),
        connect_args={"timeout": patience_s},
        hide_parameters=True,
        pool_size=KEPT_OPEN,
        max_overflow=AT_MOST - KEPT_OPEN,
        pool_timeout=patience_s,
        # The connection used last: each that is used has a cache of its own.
        pool_use_lifo=True,
    )

    def configure(connection: sqlite3.Connection, _record: Any) -> None:
        # SQLAlchemy's own BEGIN (see `_begin`) replaces the driver's, which would begin too late
        # to protect a read that a write follows.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={round(patience_s * 1000)}")
        _write_ahead(connection, patience_s=patience_s)
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", configure)
    event.listen(engine, "begin", _begin)
    return engine


def _write_ahead(connection: sqlite3.Connection, *, patience_s: float) -> None:
    """Switch to the write-ahead log; raises the driver's error after ``patience_s``."""
    last = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # Two connections that switch an older file at once: SQLite does not wait for the other.
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= last:
                raise
            time.sleep(SWITCH_PAUSE_S)
        else:
            return


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def copy_to(source: Path, target: Path) -> None:
    """Copy a consistent snapshot of a catalogue while it is in use.

    The copy is moved into place atomically and synced. Raises the driver's errors and OSError.
    """
    draft = target.with_name(f"{target.name}.{os.getpid()}.draft")
    try:
        with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(draft)) as there:
            here.backup(there)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                draft.with_name(draft.name + ending).unlink()


def check_not_emptied(file: Path) -> None:
    """Raise StoreDown for a file of no bytes in a home folder with an index or uploads."""
    if not file.is_file() or file.stat().st_size:
        return
    others = (path for name in BESIDE for path in (file.parent / name).rglob("*"))
    if any(path.is_file() for path in others):
        raise StoreDown(
            f"The catalogue {file} is empty, but indexes or uploads are beside it. Restore "
            "it from a backup, or delete it to begin anew."
        )


def translate_driver_error(error: sqlite3.Error) -> QuothError:
    """Translate an error of the driver."""
    message, code = str(error), getattr(error, "sqlite_errorname", "")
    if code.startswith(NO_ROOM):
        return StorageFull(
            "There is no room left on the disk of the home folder. Free some space and run "
            "the same command again; nothing was lost."
        )
    if code.startswith(IN_USE):
        return Busy(
            "Another process is writing to the catalogue. Try again later.",
            retryable=True,
            retry_after_s=1.0,
        )
    if code.startswith(DAMAGED) or message.startswith(UNDECODABLE):
        return StoreDown(f"The catalogue is damaged ({message}): {WAY_OUT}", damaged=True)
    if code.startswith(NO_ACCESS):
        return StoreDown(
            f"The catalogue cannot be opened ({message}). Look at who may write to the home "
            "folder, or point --home at another one."
        )
    return RetrievalError(f"The catalogue failed: {message}.")
