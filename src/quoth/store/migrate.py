"""Migrate a database to the newest schema, in one process and one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    inspect,
    text,
)

from quoth.core.errors import ConfigError, StorageFull
from quoth.store import postgres, sqlite
from quoth.store.metadata import metadata
from quoth.store.schema import HEAD

FOLDER = Path(__file__).parent / "migrations"
MIGRATION_LOCK = "quoth migrates"
_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Where Alembic keeps the revision."""


def revision(connection: Connection) -> str | None:
    """Return the current schema revision, None where there are no tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def upgrade_to_head(engine: Engine, *, place: str, file: Path | None = None) -> None:
    """Create the tables or migrate them to `HEAD`; Alembic is imported only when needed.

    ``place`` is the name of the database in messages. An SQLite ``file`` that holds data is copied
    first, and the copy is removed on success. Raises ConfigError.
    """
    with engine.connect() as connection:
        if revision(connection) == HEAD:
            return
    kept: Path | None = None
    # One writer migrates; a second process waits for its turn and then finds it done.
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if file is None:
            postgres.acquire_lock(connection, MIGRATION_LOCK)
            _check_encoding(connection)
        at = revision(connection)
        if at == HEAD:
            return
        if at is not None and at > HEAD:
            raise _is_newer_schema(place)
        if file is not None and at is not None:
            kept = _backup_copy(file)
        if at is None:
            create_tables(connection)
            return
        try:
            step_to(connection, HEAD)
        except (ValueError, LookupError, TypeError) as error:
            copy = f" A copy of it is {kept}." if kept else ""
            raise ConfigError(
                f"{place} could not be brought from version {at} to {HEAD}: {error!r}. It stays as "
                f"it was, for the version of quoth that wrote it.{copy}"
            ) from error
    if kept is not None:
        kept.unlink(missing_ok=True)


def create_tables(connection: Connection) -> None:
    """Create what all migrations together create, in an empty database."""
    metadata.create_all(connection, checkfirst=False)
    _VERSION.create(connection)
    connection.execute(_VERSION.insert().values(version_num=HEAD))


def step_to(connection: Connection, target: str) -> None:
    """Migrate up to a revision, in the connection's transaction; raises ConfigError."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, target)
    except CommandError as error:
        raise _is_newer_schema("The catalogue") from error


def _is_newer_schema(place: str) -> ConfigError:
    return ConfigError(
        f"{place} was written by a newer version of quoth. Update quoth, or point --home at "
        "another folder."
    )


def _backup_copy(file: Path) -> Path:
    copy = file.with_name(f"{file.name}.before-{HEAD}")
    try:
        sqlite.copy_to(file, copy)
    except OSError as error:
        raise StorageFull(
            f"There is no room next to {file} for the copy that is made of a catalogue before "
            f"it is migrated ({error.strerror}). Free some space; nothing was changed."
        ) from error
    return copy


def _check_encoding(connection: Connection) -> None:
    found: Any = connection.execute(text("SHOW server_encoding")).scalar()
    if found != "UTF8":
        raise ConfigError(
            f"The catalogue's database keeps texts as {found}; quoth needs UTF8. Create one "
            "with: CREATE DATABASE quoth ENCODING 'UTF8' TEMPLATE template0"
        )
