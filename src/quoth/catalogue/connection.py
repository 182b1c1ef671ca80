"""The connections to the catalogue's database, always on behalf of one tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, and_

from quoth.catalogue.database import WRITE, open_database, translated_errors
from quoth.catalogue.rows import Collection


class Connections:
    """The database of one tenant.

    ``on_operation`` is told the name of every write before and after it is done; crash tests
    stop the process there.
    """

    def __init__(
        self,
        file: Path,
        *,
        tenant: str,
        on_operation: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._engine = open_database(file)
        self._on_operation = on_operation
        self.tenant = tenant

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the catalogue."""
        with translated_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, operation: str) -> Iterator[Connection]:
        """A transaction that is done as a whole or not at all."""
        self._on_operation(f"before {operation}")
        with translated_errors(), self._engine.connect() as plain:
            connection = plain.execution_options(**WRITE)
            with connection.begin():
                yield connection
        self._on_operation(f"after {operation}")

    def owned(self, table: Any, collection: Collection) -> Any:
        """The condition that a row is this tenant's and in this collection."""
        return and_(table.c.tenant == self.tenant, table.c.collection_id == collection.id)
