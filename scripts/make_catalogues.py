"""Write the catalogue of a small library as a version of quoth wrote it, for the tests of upgrades.

    PYTHONPATH=. python scripts/make_catalogues.py VERSION…

VERSION is the number of a migration. What a released version wrote is never made anew: give only
the version that was added.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Engine, MetaData, func

from quoth.store import schema
from quoth.store.checksums import seal_rows
from quoth.store.copy import copy_rows
from quoth.store.database import connect
from quoth.store.migrate import step_to
from tests.support.old_catalogues import FOLDER, QUESTIONS
from tests.support.small_library import add, open_tour, write_sources

WHEN = "2026-01-01T00:00:00.000+00:00"
TIMES = {"collections": "created_at", "documents": "added_at", "queries": "created_at"}


async def fill(home: Path) -> None:
    """Make a library of the newest version, with a question asked."""
    async with open_tour(home) as engine:
        await add(engine, write_sources(home / "sources"))
        async for _event in engine.stream(QUESTIONS[0]):
            pass
    with_fixed_paths(connect(home / "catalogue.sqlite", patience_s=5), home)


def with_fixed_paths(engine: Engine, home: Path) -> None:
    """Take out what differs from run to run: where the files lay, and when."""
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        source = func.replace(schema.documents.c.source, str(home / "sources"), "/library")
        connection.execute(schema.documents.update().values(source=source))
        for table, column in TIMES.items():
            connection.execute(schema.metadata.tables[table].update().values({column: WHEN}))
        seal_rows(connection, schema.CHECKSUMS)
    engine.dispose()


def as_version(newest: Path, version: str, file: Path) -> None:
    """Write a catalogue as it stands at a migration, with the rows that it has room for."""
    here, there = connect(newest, patience_s=5), connect(file, patience_s=5)
    write = there.connect().execution_options(write=True)
    with here.connect() as source, write as target, target.begin():
        step_to(target, version)
        tables = MetaData()
        tables.reflect(target)
        tables.remove(tables.tables["alembic_version"])
        copy_rows(source, target, tables=tables)
    with there.connect() as connection:
        connection.connection.driver_connection.executescript(  # type: ignore[union-attr]
            "PRAGMA journal_mode=DELETE; VACUUM;"
        )
    here.dispose()
    there.dispose()


def main(versions: list[str]) -> None:
    """Write the files of these versions."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        home = Path(folder, "home")
        asyncio.run(fill(home))
        for version in versions:
            file = Path(folder, f"{version}.sqlite")
            as_version(home / "catalogue.sqlite", version, file)
            packed = gzip.compress(file.read_bytes(), mtime=0)
            (FOLDER / f"{version}.sqlite.gz").write_bytes(packed)


if __name__ == "__main__":
    main(sys.argv[1:])
