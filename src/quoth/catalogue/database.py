"""Opening the catalogue's database: its settings, its migrations, its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, inspect, text

from quoth.catalogue.schema import HEAD
from quoth.errors import Busy, ConfigError, RetrievalError, StorageFull

WRITE = {"write": True}

# A quota and a limit on file sizes are not reported as a full disk, but as a failed write.
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")
NO_ACCESS = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")
IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


@dataclass(frozen=True, slots=True)
class Database:
    """An open database whose tables stand at `HEAD`.

    ``on_operation`` is told the name of every write before and after it is done; crash tests
    stop the process there.
    """

    engine: Engine
    on_operation: Callable[[str], None]

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def open_database(
    file: Path, *, on_operation: Callable[[str], None] = lambda _name: None
) -> Database:
    """Open the SQLite file, creating or migrating it; raises ConfigError and StorageFull."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The home folder {file.parent} cannot be made: {error}.") from error
    engine = create_engine(URL.create("sqlite", database=str(file)), connect_args={"timeout": 30})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    with translated_errors():
        _migrate(engine, file)
    return Database(engine, on_operation)


def _configure(connection: sqlite3.Connection, _record: Any) -> None:
    # SQLAlchemy's own BEGIN (see `_begin`) replaces the driver's, which would begin too late to
    # protect a read that a write follows.
    connection.isolation_level = None
    for pragma in (
        "busy_timeout=30000",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _migrate(engine: Engine, file: Path) -> None:
    """Bring the tables to `HEAD`; Alembic is loaded only when there is something to do."""
    with engine.connect() as connection:
        if inspect(connection).has_table("alembic_version"):
            at = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            if at == HEAD:
                return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option(
        "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
    )
    config.set_main_option("path_separator", "os")
    # One writer migrates; a second process waits for the lock and then finds it done.
    with engine.connect().execution_options(**WRITE) as connection, connection.begin():
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise ConfigError(
                f"The catalogue {file} was written by a newer version of quoth ({error}). "
                "Update quoth, or point --home at another folder."
            ) from error


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the driver's errors into those of `quoth.errors`."""
    try:
        yield
    except exc.IntegrityError:
        raise
    except exc.DBAPIError as error:
        message, code = str(error.orig), getattr(error.orig, "sqlite_errorname", "")
        if code.startswith(NO_ROOM):
            raise StorageFull(
                "There is no room left on the disk of the home folder. Free some space and run "
                "the same command again; nothing was lost."
            ) from error
        if code.startswith(IN_USE):
            raise Busy("Another process is writing to the catalogue. Try again later.") from error
        if code.startswith(DAMAGED):
            raise ConfigError(
                f"The catalogue is damaged ({message}). Restore it from a backup, or point "
                "--home at another folder and add the documents again."
            ) from error
        if code.startswith(NO_ACCESS):
            raise ConfigError(
                f"The catalogue cannot be opened ({message}). Look at who may write to the home "
                "folder, or point --home at another one."
            ) from error
        raise RetrievalError(f"The catalogue failed: {message}.") from error
