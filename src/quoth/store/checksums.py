"""Checksums of rows: computed when a row is written, compared when it is read or checked in full.

A new row gets its checksum with its other values. An UPDATE sets the checksum to null, whatever it
changes, and `seal_rows` computes it again at the end of the transaction from the row as it then is.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Table,
    Update,
    and_,
    bindparam,
    event,
    null,
    select,
    update,
)

UPDATED = "quoth updated"
"""Where a connection notes the tables that were updated since the last seal."""

log = logging.getLogger("quoth.store")


@dataclass(frozen=True, slots=True)
class ChecksumColumn:
    """A column of checksums, and the columns that it covers, in order."""

    column: Column[Any]
    covered: tuple[Column[Any], ...]

    @property
    def table(self) -> Table:
        """The table of both."""
        return self.column.table

    def of(self, values: Iterable[object]) -> int:
        """Return the checksum of the values of the covered columns, from whichever driver."""
        return row_checksum(
            _as_read(column, value) for column, value in zip(self.covered, values, strict=True)
        )


def add_checksum(
    table: Table, *, name: str = "checksum", covered: Sequence[str] | None = None
) -> ChecksumColumn:
    """Append a checksum column over these columns, None for all that no checksum covers yet."""
    done = table.info.setdefault("covered", set())
    names = covered or [each.name for each in table.columns if each.name not in done]
    columns = tuple(table.c[each] for each in names)
    done.update((*names, name))

    def of_new_row(context: Any) -> int:
        given = context.get_current_parameters()
        return checked.of(given.get(column.name, _default(column)) for column in columns)

    column = Column(name, BigInteger, default=of_new_row, onupdate=null())
    table.append_column(column)
    checked = ChecksumColumn(column, columns)
    due = column.is_(None)
    keys = [*table.primary_key.columns]
    Index(f"ix_{table.name}_{name}_due", *keys, sqlite_where=due, postgresql_where=due)
    return checked


def note_updates(engine: Engine) -> None:
    """Let the connections of an engine note which tables are updated."""
    event.listen(engine, "before_execute", _note)


def _note(connection: Connection, statement: object, *_given: object) -> None:
    if isinstance(statement, Update):
        connection.info.setdefault(UPDATED, set()).add(statement.table)


def seal_rows(connection: Connection, checksums: Iterable[ChecksumColumn]) -> None:
    """Compute the checksums of the rows that were updated in this transaction."""
    updated = connection.info.get(UPDATED)
    if not updated:
        return
    for each in checksums:
        if each.table in updated:
            _seal(connection, each)
    updated.clear()


def _seal(connection: Connection, each: ChecksumColumn) -> None:
    keys = [*each.table.primary_key.columns]
    due = select(*keys, *each.covered).where(each.column.is_(None))
    sealed = [
        {f"key_{at}": key for at, key in enumerate(row[: len(keys)])}
        | {"sealed": each.of(row[len(keys) :])}
        for row in connection.execute(due)
    ]
    if sealed:
        its = and_(*(key == bindparam(f"key_{at}") for at, key in enumerate(keys)))
        kept = {column.name: column for column in each.table.columns if column.onupdate}
        values: dict[str, Any] = {**kept, each.column.name: bindparam("sealed")}
        connection.execute(update(each.table).where(its).values(values), sealed)


def row_checksum(values: Iterable[object]) -> int:
    """Return the CRC-32 of a row's values, in order."""
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))


def intact(rows: Iterable[Any], *, extra: int = 0) -> Iterator[Any]:
    """Return the rows whose values are as they were written; log the others.

    The checksum is the last column but ``extra`` ones, as in a row with all columns of its table;
    it is null while a transaction changes the row. A damaged row is treated as absent, so that
    nothing is quoted from it.
    """
    for row in rows:
        at = len(row) - 1 - extra
        if row[at] is None or row_checksum(row[:at]) == row[at]:
            yield row
        else:
            log.error("damaged_row", extra={"id": row[0]})


def first_intact(rows: Iterable[Any]) -> Any:
    """Return the first of the rows that are as they were written, None where there is none."""
    return next(intact(rows), None)


def _as_read(column: Column[Any], value: object) -> object:
    """Return a value as SQLAlchemy reads it from the database."""
    if isinstance(column.type, Boolean) and value in (0, 1):
        return bool(value)
    return float(value) if isinstance(column.type, Float) and isinstance(value, int) else value


def _default(column: Column[Any]) -> object:
    server = column.server_default
    return None if server is None else server.arg  # type: ignore[attr-defined]
