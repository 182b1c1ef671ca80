"""Rows of one table with their filter columns in SQL: what every index of our own in SQL shares.

Calls block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    delete,
    func,
    insert,
    inspect,
    select,
)

from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.sql import filter_columns
from quoth.backends.indexes.vector_store import in_batches

KEY = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself in columns of this type only."""


class SqlRows:
    """The chunks of one table, in a file of SQLite or on a server of PostgreSQL.

    ``connect`` opens the database when it is first needed; ``file`` is its file, if it is one.
    ``columns`` are further columns of a chunk. A subclass adds its postings to ``_tables`` and
    removes them in ``_remove``.
    """

    def __init__(
        self,
        connect: Callable[[], Engine],
        *,
        table: str,
        file: Path | None,
        columns: Sequence[Column[Any]] = (),
    ) -> None:
        self._connect = connect
        self._file = file
        self._engine: Engine | None = None
        self._there = False
        self._tables = MetaData()
        self._chunks = Table(
            f"{table}_chunks",
            self._tables,
            Column("row", KEY, primary_key=True),
            Column("id", Text, nullable=False, unique=True),
            *columns,
            *filter_columns(),
            Index(f"{table}_documents", "document_id"),
        )

    @contextmanager
    def _replacing(self, rows: Sequence[IndexRow]) -> Iterator[Connection]:
        """Open a connection on which rows are written anew; the tables are made if need be."""
        there = self.exists()
        with self._writing() as connection:
            if not there:
                self._tables.create_all(connection)
            self._remove(connection, self._chunks.c.id, [row.id for row in rows])
            yield connection

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every row of the documents."""
        if self.exists():
            with self._writing() as connection:
                self._remove(connection, self._chunks.c.document_id, document_ids)

    def drop(self) -> None:
        """Remove the tables, and the file."""
        if self.exists():
            with self._writing() as connection:
                self._tables.drop_all(connection)
        self.close()
        if self._file is not None:
            for ending in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + ending).unlink(missing_ok=True)

    def _remove(self, connection: Connection, column: Column[Any], values: Sequence[str]) -> None:
        raise NotImplementedError

    def _numbers(
        self,
        connection: Connection,
        column: Column[Any],
        values: Sequence[str],
        *,
        many: bool = False,
    ) -> dict[str, int]:
        """Return row numbers by the values of a column, or by id where ``many`` rows have one."""
        (number,) = column.table.primary_key
        key = self._chunks.c.id if many else column
        found: dict[str, int] = {}
        for part in in_batches(values):
            rows = connection.execute(select(key, number).where(column.in_(part)))
            found.update((row[0], row[1]) for row in rows)
        return found

    def chunk_ids(self, document_ids: Sequence[str]) -> list[str]:
        """Return the ids of every chunk of the documents."""
        if not self.exists():
            return []
        with self._reading() as connection:
            column = self._chunks.c.document_id
            return list(self._numbers(connection, column, document_ids, many=True))

    def document_ids(self) -> dict[str, int]:
        """Return the number of chunks per document."""
        if not self.exists():
            return {}
        column = self._chunks.c.document_id
        with self._reading() as connection:
            rows = connection.execute(select(column, func.count()).group_by(column)).all()
        return {row[0]: row[1] for row in rows}

    def count(self) -> int:
        """Return how many chunks there are."""
        if not self.exists():
            return 0
        with self._reading() as connection:
            return connection.scalar(select(func.count()).select_from(self._chunks)) or 0

    # --- connections --------------------------------------------------------------------------

    def exists(self) -> bool:
        """Return whether the tables are there."""
        if not self._there and (self._file is None or self._file.exists()):
            self._there = inspect(self._opened()).has_table(self._chunks.name)
        return self._there

    def close(self) -> None:
        """Close the connections."""
        self._there = False
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._connect()
        return self._engine

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._opened().connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        plain = self._opened().connect().execution_options(write=True)
        with plain as connection, connection.begin():
            if connection.dialect.name == "postgresql":  # a file has one writer in any case
                name = func.hashtext(self._chunks.name)
                connection.execute(select(func.pg_advisory_xact_lock(name)))
            yield connection


class SqlListRows(SqlRows):
    """Rows of a further list of an index: a table ``_values`` has what it holds of each chunk."""

    _values: Table

    def copy(self, source: SqlListRows, ids: Sequence[str]) -> None:
        """Write the rows of these chunks as another table of this kind has them."""
        if not source.exists():
            return
        there = self.exists()
        for part in in_batches(ids):
            chunks, values = source._rows_of(part)
            if not chunks:
                continue
            with self._writing() as connection:
                if not there:
                    self._tables.create_all(connection)
                    there = True
                self._remove(connection, self._chunks.c.id, part)
                connection.execute(insert(self._chunks), list(chunks.values()))
                numbers = self._numbers(connection, self._chunks.c.id, part)
                own = {row: numbers[chunk["id"]] for row, chunk in chunks.items()}
                for some in in_batches(values):
                    moved = [{**value, "row": own[value["row"]]} for value in some]
                    connection.execute(insert(self._values), moved)

    def _rows_of(
        self, ids: Sequence[str]
    ) -> tuple[dict[int, dict[str, Any]], list[dict[str, Any]]]:
        """Return chunks by their row numbers, and what the list holds of them."""
        chunks, values = self._chunks, self._values
        with self._reading() as connection:
            found = connection.execute(select(chunks).where(chunks.c.id.in_(ids))).mappings()
            rows = {row["row"]: {**row} for row in found}
            held = select(values).where(values.c.row.in_(list(rows)))
            kept = [dict(value) for value in connection.execute(held).mappings()]
        for row in rows.values():
            del row["row"]
        return rows, kept

    def _remove(self, connection: Connection, column: Column[Any], values: Sequence[str]) -> None:
        rows = list(self._numbers(connection, column, values, many=True).values())
        for part in in_batches(rows):
            connection.execute(delete(self._values).where(self._values.c.row.in_(part)))
            connection.execute(delete(self._chunks).where(self._chunks.c.row.in_(part)))
