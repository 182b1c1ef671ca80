"""Vectors in PostgreSQL with the extension pgvector, such as in the catalogue's own server.

Searches are exact up to `EXACT_ROWS` rows, and always with filters. Above, an HNSW index answers
what has no filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
from sqlalchemy import Column, Engine, Index, MetaData, Table, Text, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.types import UserDefinedType

from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.sql import filter_columns, filter_values, where
from quoth.backends.indexes.vector_store import (
    EXACT_ROWS,
    Condition,
    StoreAccess,
    in_batches,
    search_effort,
)
from quoth.core.errors import ConfigError
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

MAX_INDEXED = 2000
"""The dimension up to which pgvector indexes vectors of four bytes per number."""
MAX_EF = 1000


class VectorType(UserDefinedType[Matrix]):
    """The column type of pgvector: vectors of one dimension."""

    cache_ok = True

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def get_col_spec(self, **_options: Any) -> str:
        """Return the type as SQL."""
        return f"vector({self.dimension})"

    def bind_processor(self, _dialect: Any) -> Callable[[Any], str]:
        """Return what writes a vector as text."""
        return lambda vector: f"[{','.join(map(repr, vector.tolist()))}]"

    def result_processor(self, _dialect: Any, _kind: Any) -> Callable[[str], Matrix]:
        """Return what reads a vector from text."""
        return lambda found: np.array(found[1:-1].split(","), np.float32)


class PgvectorStore:
    """The vectors of one table of a PostgreSQL database."""

    name = "pgvector"
    errors = (SQLAlchemyError, psycopg.Error)

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._engine: Engine | None = None
        self._indexed: bool | None = None
        self._rows = Table(
            f"{access.table}_vectors",
            MetaData(),
            Column("id", Text, primary_key=True),
            *filter_columns(),
            Column("vector", VectorType(access.dimension), nullable=False),
            Index(f"{access.table}_vector_documents", "document_id"),
        )
        self._index = f"{access.table}_nearest"
        self.endpoint = _host(access.address)

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        self._create()
        statement = insert(self._rows)
        changed = {column.name: column for column in statement.excluded if column.name != "id"}
        statement = statement.on_conflict_do_update(index_elements=["id"], set_=changed)
        with self._opened().begin() as connection:
            for part in in_batches(zip(rows, vectors, strict=True)):
                values = [{**filter_values(row), "vector": vector} for row, vector in part]
                connection.execute(statement, values)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if self._exists():
            with self._opened().begin() as connection:
                for part in in_batches(ids):
                    connection.execute(delete(self._rows).where(self._rows.c.id.in_(part)))

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if not self._exists():
            return []
        columns = self._rows.c
        distance = columns.vector.op("<=>", return_type=Text())(vector)
        # An index would first find the nearest and then filter: a sum keeps it out.
        by = distance if self._has_index() and not conditions else distance.op("+")(text("0"))
        query = select(columns.id, distance).where(where(self._rows, conditions))
        with self._opened().begin() as connection:
            connection.execute(
                text(f"SET LOCAL hnsw.ef_search = {min(MAX_EF, search_effort(limit))}")
            )
            rows = connection.execute(query.order_by(by).limit(limit)).all()
        return [(key, 1.0 - float(far)) for key, far in rows]

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        if not self._exists():
            return {}
        columns = self._rows.c
        with self._opened().connect() as connection:
            return {
                row[0]: row[1]
                for part in in_batches(ids)
                for row in connection.execute(
                    select(columns.id, columns.vector).where(columns.id.in_(part))
                )
            }

    def count(self) -> int:
        """Return the number of rows."""
        if not self._exists():
            return 0
        with self._opened().connect() as connection:
            return connection.scalar(select(func.count()).select_from(self._rows)) or 0

    def build(self, *, rows: int) -> bool:
        """Build the HNSW index of a large table."""
        if rows <= EXACT_ROWS or self._access.dimension > MAX_INDEXED or self._has_index():
            return False
        with self._opened().begin() as connection:
            connection.execute(
                text(
                    f"CREATE INDEX IF NOT EXISTS {self._index} ON {self._rows.name} "
                    "USING hnsw (vector vector_cosine_ops) WITH (ef_construction = 200)"
                )
            )
        self._indexed = True
        return True

    def drop(self) -> None:
        """Remove the table."""
        with self._opened().begin() as connection:
            self._rows.drop(connection, checkfirst=True)
        self._indexed = None

    def close(self) -> None:
        """Close the connections."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _create(self) -> None:
        try:
            with self._opened().begin() as connection:
                if not connection.scalar(_REGISTERED, {"name": "vector"}):
                    connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
                self._rows.create(connection, checkfirst=True)
        except DBAPIError as error:
            if "extension" not in str(error.orig):
                raise
            raise ConfigError(
                "The PostgreSQL server has no extension pgvector, or this user may not add it. "
                "Let its administrator run: CREATE EXTENSION vector"
            ) from error

    def _exists(self) -> bool:
        with self._opened().connect() as connection:
            return bool(connection.scalar(_FOUND, {"name": self._rows.name}))

    def _has_index(self) -> bool:
        if not self._indexed:
            with self._opened().connect() as connection:
                self._indexed = bool(connection.scalar(_FOUND, {"name": self._index}))
        return self._indexed

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._access.connect(self._access.address)
        return self._engine


_REGISTERED = text("SELECT 1 FROM pg_extension WHERE extname = :name")
_FOUND = text("SELECT to_regclass(:name) IS NOT NULL")


def _host(address: str) -> str:
    """Return the host of the address; empty for a socket on this machine."""
    return make_url(address).host or "" if address else ""
