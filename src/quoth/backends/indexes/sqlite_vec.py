"""Vectors in a file of SQLite, by the extension sqlite-vec: exact, with every filter in SQL.

The driver is apsw, because many builds of Python cannot load extensions into theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np
import sqlite_vec
from sqlalchemy import Column, Executable, LargeBinary, MetaData, Table, Text, delete, func, select
from sqlalchemy.dialects.sqlite import dialect, insert
from sqlalchemy.schema import CreateTable

from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.sql import filter_columns, filter_values, where
from quoth.backends.indexes.vector_store import Condition, StoreAccess, in_batches
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

DIALECT = dialect(paramstyle="named")
BUSY_MS = 30_000
PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON"


class SqliteVecStore:
    """The vectors of one table in a file of its own; one connection per thread."""

    name = "sqlite-vec"
    endpoint = ""
    errors = (apsw.Error,)

    def __init__(self, access: StoreAccess) -> None:
        self._file = access.folder / f"{access.table}.vectors.sqlite"
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        self._rows = Table(
            "vectors",
            MetaData(),
            Column("id", Text, primary_key=True),
            *filter_columns(),
            Column("vector", LargeBinary, nullable=False),
        )

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        statement = insert(self._rows)
        changed = {column.name: column for column in statement.excluded if column.name != "id"}
        text, _ = _compiled(statement.on_conflict_do_update(index_elements=["id"], set_=changed))
        exact = np.ascontiguousarray(vectors, np.float32)
        values = [
            {**filter_values(row), "vector": vector.tobytes()}
            for row, vector in zip(rows, exact, strict=True)
        ]
        connection = self._connection(make=True)
        assert connection is not None
        with connection:
            connection.executemany(text, values)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        for part in in_batches(ids):
            self._all(delete(self._rows).where(self._rows.c.id.in_(part)))

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by exact cosine, best first, reading the vector of every row that passes."""
        query = np.ascontiguousarray(vector, np.float32).tobytes()
        distance = func.vec_distance_cosine(self._rows.c.vector, query).label("distance")
        chosen = select(self._rows.c.id, distance).where(where(self._rows, conditions))
        rows = self._all(chosen.order_by(distance, self._rows.c.id).limit(limit))
        return [(key, 1.0 - far) for key, far in rows]

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        columns = self._rows.c
        return {
            key: np.frombuffer(blob, np.float32)
            for part in in_batches(ids)
            for key, blob in self._all(
                select(columns.id, columns.vector).where(columns.id.in_(part))
            )
        }

    def count(self) -> int:
        """Return the number of rows."""
        rows = self._all(select(func.count()).select_from(self._rows))
        return int(rows[0][0]) if rows else 0

    def build(self, *, rows: int) -> bool:
        """Do nothing: every search is exact."""
        return False

    def drop(self) -> None:
        """Remove the file, and its rows for processes that have it open."""
        connection = self._connection()
        if connection is not None:
            connection.execute("DELETE FROM vectors")
        self.close()
        for ending in ("", "-wal", "-shm"):
            self._file.with_name(self._file.name + ending).unlink(missing_ok=True)

    def close(self) -> None:
        """Close every connection."""
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._local = threading.local()

    def _all(self, statement: Executable) -> list[Any]:
        """Return the rows of a statement; none where there is no file."""
        connection = self._connection()
        return [] if connection is None else connection.execute(*_compiled(statement)).fetchall()

    def _connection(self, *, make: bool = False) -> apsw.Connection | None:
        """Return this thread's connection; None where there is no file and none is to be made."""
        there: apsw.Connection | None = getattr(self._local, "connection", None)
        if there is not None or not (make or self._file.exists()):
            return there
        connection = apsw.Connection(str(self._file))
        connection.set_busy_timeout(BUSY_MS)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.execute(PRAGMAS).fetchall()
        table = CreateTable(self._rows, if_not_exists=True).compile(dialect=DIALECT)
        connection.execute(str(table))
        connection.execute("CREATE INDEX IF NOT EXISTS documents ON vectors (document_id)")
        self._open.append(connection)
        self._local.connection = connection
        return connection


def _compiled(statement: Executable) -> tuple[str, dict[str, Any]]:
    """Return a statement as text with named parameters, which keep every value out of it."""
    made: Any = statement.compile(  # type: ignore[attr-defined]
        dialect=DIALECT, compile_kwargs={"render_postcompile": True}
    )
    return str(made), dict(made.params)
