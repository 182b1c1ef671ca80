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
    Float,
    Index,
    Table,
    Update,
    and_,
    bindparam,
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
        read = []
        for column, value in zip(self.covered, values, strict=True):
            # As SQLAlchemy reads it from the database.
            if isinstance(column.type, Boolean) and value in (0, 1):
                value = bool(value)
            elif isinstance(column.type, Float) and isinstance(value, int):
                value = float(value)
            read.append(value)
        return row_checksum(read)


def add_checksum(
    table: Table, *, name: str = "checksum", covered: Sequence[str] | None = None
) -> ChecksumColumn:
    """Append a checksum column over these columns, None for all that no checksum covers yet."""
    done = table.info.setdefault("covered", set())
    names = covered or [each.name for each in table.columns if each.name not in done]
    columns = tuple(table.c[each] for each in names)
    done.update((*names, name))
    defaults = {
        each.name: None if each.server_default is None else each.server_default.arg  # type: ignore[attr-defined]
        for each in columns
    }

    def of_new_row(context: Any) -> int:
        given = {**defaults, **context.get_current_parameters()}
        return checked.of([given[name] for name in names])

    column = Column(name, BigInteger, default=of_new_row, onupdate=null())
    table.append_column(column)
    checked = ChecksumColumn(column, columns)
    due = column.is_(None)
    keys = [*table.primary_key.columns]
    Index(f"ix_{table.name}_{name}_due", *keys, sqlite_where=due, postgresql_where=due)
    return checked


def note_update(connection: Connection, statement: object, *_given: object) -> None:
    """Note on its connection which table a statement updates; for the event ``before_execute``."""
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
