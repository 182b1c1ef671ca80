"""Copy a complete catalogue, of all tenants, from one database to another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, MetaData, func, insert, select, text

from quoth.core.errors import InputError
from quoth.store import sqlite
from quoth.store.database import (
    ALL_TENANTS,
    WRITE,
    Database,
    open_database,
    translated_errors,
)
from quoth.store.metadata import metadata

BATCH = 500


def copy_rows(source: Connection, target: Connection, *, tables: MetaData = metadata) -> int:
    """Copy the rows of all tables in order of their foreign keys; return their number."""
    count = 0
    reading = source.execution_options(yield_per=BATCH)
    for table in tables.sorted_tables:
        for part in reading.execute(select(table)).partitions(BATCH):
            target.execute(insert(table), [dict(row._mapping) for row in part])
            count += len(part)
    return count


def snapshot(database: Database, file: Path) -> None:
    """Write the catalogue as it is at this moment to a new SQLite file.

    Others read and write meanwhile. A catalogue on a server becomes a file with the same rows.
    Raises StorageFull and RetrievalError.
    """
    if database.is_file:
        with translated_errors():
            sqlite.copy_to(Path(database.engine.url.database or ""), file)
        return
    with _made(file) as target, database.reading() as source:
        copy_rows(source, target)


def fill(database: Database, file: Path) -> int:
    """Copy the rows of a catalogue file into an empty database; return their number.

    Raises InputError where the database has rows, which are not changed.
    """
    source = open_database(file)
    try:
        with source.reading() as rows, database.writing(ALL_TENANTS) as target:
            for table in metadata.sorted_tables:
                if target.execute(select(func.count()).select_from(table)).scalar_one():
                    raise InputError(
                        f"The database holds a library already (rows in '{table.name}'). Name an "
                        "empty one: existing data is never overwritten."
                    )
            count = copy_rows(rows, target)
            if not database.is_file:
                # Until it has counted its rows, a server plans as if there were hardly any.
                target.execute(text("ANALYZE"))
            return count
    finally:
        source.close()


@contextmanager
def _made(file: Path) -> Iterator[Connection]:
    database = open_database(file)
    try:
        plain = database.engine.connect().execution_options(**WRITE)
        with translated_errors(), plain as connection, connection.begin():
            yield connection
    finally:
        database.close()
