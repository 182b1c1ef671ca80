"""The catalogue in an SQLite file: connection, copies and error translation."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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
    "quoth doctor names the damage, quoth repair mends what can be made again. Restore the rest "
    "from a backup, or point --home at another folder and add the documents again."
)
log = logging.getLogger("quoth.store")

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
        raise ConfigError(f"The home folder {file.parent} cannot be made: {error}.") from error
    with suppress(OSError):  # a folder without access is reported when the file is opened
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        for part in (file, *(file.with_name(file.name + ending) for ending in ("-wal", "-shm"))):
            part.chmod(part.stat().st_mode & 0o770)  # others never read what tenants keep
    engine = create_engine(
        URL.create("sqlite", database=str(file)),
        connect_args={"timeout": patience_s},
        hide_parameters=True,
        pool_size=KEPT_OPEN,
        max_overflow=AT_MOST - KEPT_OPEN,
        pool_timeout=patience_s,
    )

    def configure(connection: sqlite3.Connection, _record: Any) -> None:
        # SQLAlchemy's own BEGIN (see `_begin`) replaces the driver's, which would begin too late
        # to protect a read that a write follows.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={round(patience_s * 1000)}")
        last = time.monotonic() + patience_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                # Of two connections that switch an older file, SQLite lets neither wait.
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= last:
                    raise
                time.sleep(SWITCH_PAUSE_S)
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", configure)
    event.listen(engine, "begin", _begin)
    return engine


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
        return StoreDown(f"The catalogue is damaged ({message}): {WAY_OUT}")
    if code.startswith(NO_ACCESS):
        return StoreDown(
            f"The catalogue cannot be opened ({message}). Look at who may write to the home "
            "folder, or point --home at another one."
        )
    return RetrievalError(f"The catalogue failed: {message}.")


# --- the write-ahead log
#
# SQLite takes a damaged frame of the log for its end: everything that was committed after it would
# be gone without a word, and so would the log, which is removed when the database is closed. The
# format is that of https://www.sqlite.org/fileformat2.html#the_write_ahead_log.

HEADER, FRAME_HEADER = 32, 24
MAGIC = 0x377F0682
"""Of a log whose checksums are over little-endian words; one more is of big-endian ones."""
KEPT = ".damaged"
LOOKS, BETWEEN_S = 3, 0.05
"""A frame that another process is writing is whole at one of the looks."""

Words = npt.NDArray[np.uint32]


def keep_damaged_log(file: Path) -> None:
    """Copy the log of a catalogue file where it is damaged; `damaged_logs` names the copy."""
    wal = file.with_name(f"{file.name}-wal")
    found = damaged_frame(wal)
    for _ in range(1, LOOKS):
        if found is None:
            return
        time.sleep(BETWEEN_S)
        found = found if damaged_frame(wal) == found else None
    if found is not None:
        log.error("damaged_log", extra={"file": wal.name, "frame": found})
        with suppress(OSError):
            shutil.copy2(wal, wal.with_name(f"{wal.name}{KEPT}"))


def damaged_logs(file: Path) -> list[str]:
    """Return the names of the damaged logs that were kept beside a catalogue file."""
    return sorted(path.name for path in file.parent.glob(f"{file.name}-wal{KEPT}*"))


def damaged_frame(wal: Path) -> int | None:
    """Return the number of the first damaged frame of a log, 0 for its header, None if whole.

    A write that was cut off after a frame's header looks the same as a damaged last frame.
    """
    try:
        content = wal.read_bytes()
    except OSError:
        return None
    if len(content) < HEADER:
        return None
    header = np.frombuffer(content, ">u4", HEADER // 4)
    order = ">u4" if header[0] == MAGIC + 1 else "<u4"
    first = _checksums(np.frombuffer(content, order, 6)[None], np.zeros((1, 2), np.uint32))
    page = int(header[2])
    size = FRAME_HEADER + page
    if int(header[0]) - MAGIC not in (0, 1) or (first[0] != header[6:]).any() or page % 8:
        return 0
    count = (len(content) - HEADER) // size
    body = np.frombuffer(content, np.uint8, count * size, offset=HEADER).reshape(count, size)
    about = body[:, :FRAME_HEADER].copy().view(">u4").astype(np.uint32)
    salts = (about[:, 2:4] == header[4:6].astype(np.uint32)).sum(axis=1)
    older = np.flatnonzero(salts == 0)  # frames of the time before the log began anew
    end = int(older[0]) if len(older) else count
    if not end:  # the log has just begun anew
        return None
    about, body, salts = about[:end], body[:end], salts[:end]
    covered = np.concatenate([body[:, :8], body[:, FRAME_HEADER:]], axis=1).copy().view(order)
    before = np.concatenate([header[None, 6:].astype(np.uint32), about[:-1, 4:]])
    whole = (_checksums(covered, before) == about[:, 4:]).all(axis=1) & (salts == 2)
    wrong = np.flatnonzero(~whole)
    return int(wrong[0]) + 1 if len(wrong) else None


def _checksums(words: npt.NDArray[np.unsignedinteger], before: Words) -> Words:
    """Return SQLite's checksum of each row of words, continued from the one ``before``.

    For every pair of words x: s0 += x0 + s1, s1 += x1 + s0, modulo 2^32. That is linear, so each
    word is weighted by the matrix that the later steps apply to it.
    """
    pairs = words.astype(np.uint32).reshape(len(words), -1, 2)
    step, enters = np.array([[1, 1], [1, 2]], np.uint32), np.array([[1, 0], [1, 1]], np.uint32)
    later = np.eye(2, dtype=np.uint32)
    weights = np.empty((pairs.shape[1], 2, 2), np.uint32)
    for at in reversed(range(pairs.shape[1])):
        weights[at] = later @ enters
        later = later @ step
    found = before @ later.T
    for side in (0, 1):
        found[:, side] += (pairs * weights[:, side]).sum(axis=(1, 2), dtype=np.uint32)
    return found
