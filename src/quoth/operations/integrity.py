"""Looks for damage: catalogue rows, uploaded and derived files, audit log; changes none of them."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import column, select
from sqlalchemy import table as named_table

from quoth.core.errors import QuothError
from quoth.operations.file_checksums import damaged_files
from quoth.pipeline.components import damaged_tokens
from quoth.store.audit import Audit, audited_tenants
from quoth.store.blobs import Blobs, file_sha256, stored_name
from quoth.store.checksums import ChecksumColumn
from quoth.store.copy import snapshot
from quoth.store.database import Database
from quoth.store.schema import CHECKSUMS, chunks, documents, headings, speakers, spots, summaries
from quoth.store.upload_queue import TenantRoundRobin
from quoth.store.wal_check import damaged_logs
from quoth.tenants import Tenants

READ_AGAIN = (documents, chunks, headings, speakers, spots, summaries)
"""Tables that are made again from the file of a document."""
LOG_LOST = "what was written last may be lost; remove that file once it was restored or sent again"
MAX_FINDINGS = 20
DAY_S = 24 * 3600.0

log = logging.getLogger("quoth.integrity")


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row of the catalogue: its table, its number in an SQLite file, and its primary key."""

    table: str
    number: int
    key: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged part; ``document_id`` is that of the document whose rows are damaged.

    ``structural`` damage is of the database itself, so that any statement may fail; that of
    ``tokens`` is of stored token vectors, without which passages are only ranked less well.
    """

    what: str
    document_id: str | None = None
    structural: bool = False
    tokens: bool = False
    row: DamagedRow | None = None


def find_damage(database: Database, *, home: Path, shared: bool = False) -> list[Damage]:
    """Check every row and uploaded file, and the chain of each tenant's audit log.

    Where machines share the uploaded files, one that is not in the home folder is not missing.
    """
    found = []
    try:
        if database.is_file:
            file = Path(database.engine.url.database or "")
            found += [Damage(f"the log {name}: {LOG_LOST}") for name in damaged_logs(file)]
            found += damaged_rows(file)
        else:
            with TemporaryDirectory(prefix="quoth") as folder:
                snapshot(database, Path(folder, "copy.sqlite"))
                found += damaged_rows(Path(folder, "copy.sqlite"))
        for tenant in audited_tenants(database):
            chain = Audit(database, tenant=tenant).verify()
            if not chain.whole:
                at = f"{chain.broken_at} ({chain.reason})"
                found.append(Damage(f"the audit log of '{tenant}' is broken at number {at}"))
        found += [] if shared else missing_blobs(database, home=home)
    except QuothError as error:
        found.append(Damage(str(error)))
    found += [Damage(f"the file {name}") for name in damaged_files(home)]
    return [*found, *damaged_blobs(home)]


def damaged_rows(file: Path) -> list[Damage]:
    """Check a catalogue file: the structure of the database, and every checksum."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as catalogue:
            catalogue.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
            structure = catalogue.execute(f"PRAGMA integrity_check({MAX_FINDINGS})").fetchall()
            faults = [fault for (fault,) in structure if fault != "ok"]
            found = [Damage(f"catalogue: {fault}", structural=True) for fault in faults]
            return found + list(_damaged(catalogue))
    except sqlite3.Error as error:
        return [Damage(f"catalogue: {error}", structural=True)]


def _damaged(catalogue: sqlite3.Connection) -> Iterator[Damage]:
    for each in CHECKSUMS:
        try:
            yield from _damaged_rows_of(catalogue, each)
        except sqlite3.Error as error:
            yield Damage(f"catalogue, {each.table.name}: {error}", structural=True)


def _damaged_rows_of(catalogue: sqlite3.Connection, each: ChecksumColumn) -> Iterator[Damage]:
    names = [covered.name for covered in each.covered]
    keys = [key.name for key in each.table.primary_key.columns]
    wanted: Iterator[Any] = map(column, (*names, each.column.name, *keys, "rowid"))
    statement = str(select(*wanted).select_from(named_table(each.table.name)))
    for row in catalogue.execute(statement):
        *values, checksum = row[: len(names) + 1]
        if each.of(values) != checksum:
            found = row[len(names) + 1 : -1]
            key = " ".join(map(str, found))
            yield Damage(
                f"a row of {each.table.name}: {key}",
                document_id=_document(each, key, values),
                row=DamagedRow(each.table.name, row[-1], found),
            )


def _document(each: ChecksumColumn, key: str, values: Sequence[object]) -> str | None:
    """Return the document from whose file a row is made, None for a row of no file."""
    if each.table is documents:
        return key
    names = [covered.name for covered in each.covered]
    return str(values[names.index("document_id")]) if each.table in READ_AGAIN else None


def damaged_blobs(home: Path) -> list[Damage]:
    """Check that every uploaded file has the content that its name is the hash of."""
    found = []
    for path in sorted((home / "blobs").rglob("*")):
        if "parts" in path.parts or path.name.endswith(".draft") or not path.is_file():
            continue
        if file_sha256(path) != path.name.partition(".")[0]:
            found.append(Damage(f"the uploaded file {path.relative_to(home)}"))
    return found


def missing_blobs(database: Database, *, home: Path) -> list[Damage]:
    """Check that the uploaded file of every document is there."""
    columns = documents.c.tenant, documents.c.id, documents.c.title, documents.c.source
    own = select(*columns).where(documents.c.source.startswith("file:"))
    with database.reading() as connection:
        rows = connection.execute(own.order_by(documents.c.tenant, documents.c.id)).all()
    return [
        Damage(f"the uploaded file of '{row.title}' ({row.tenant}, {row.id}) is missing: {name}")
        for row in rows
        if (name := stored_name(row.source)) and not Blobs(home, tenant=row.tenant).exists(name)
    ]


async def find_token_damage(tenants: Tenants) -> list[Damage]:
    """Check every file of token vectors."""
    found = []
    for tenant in await asyncio.to_thread(TenantRoundRobin(tenants.database).tenants):
        names = await damaged_tokens((await asyncio.to_thread(tenants.engine, tenant)).parts)
        found += [Damage(f"token vectors of '{tenant}': {name}", tokens=True) for name in names]
    return found


async def run_integrity_checks(
    tenants: Tenants, *, report: Callable[[Sequence[Damage]], None]
) -> None:
    """Check at start and every day, until cancelled; ``report`` gets what is damaged."""
    while True:
        found = await asyncio.to_thread(find_tenants_damage, tenants)
        found += await find_token_damage(tenants)
        report(found)
        for damage in found[:MAX_FINDINGS]:
            log.error("damage", extra={"what": damage.what})
        await asyncio.sleep(DAY_S)


def find_tenants_damage(tenants: Tenants) -> list[Damage]:
    """Check what is stored of all tenants, as `find_damage` does."""
    settings = tenants.settings
    return find_damage(tenants.database, home=settings.home, shared=settings.files is not None)
