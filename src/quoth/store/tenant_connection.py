"""Connections to the catalogue's database on behalf of one tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from sqlalchemy import Connection, and_

from quoth.store.database import Database
from quoth.store.rows import Collection


class TenantConnection:
    """The database as seen by one tenant; several tenants share one database."""

    def __init__(self, database: Database, *, tenant: str) -> None:
        self.database = database
        self.tenant = tenant

    @classmethod
    def of(cls, other: TenantConnection) -> Self:
        """Return an instance for the database and tenant of another connection."""
        return cls(other.database, tenant=other.tenant)

    def close(self) -> None:
        """Close the database, for every tenant that shares it."""
        self.database.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the catalogue."""
        with self.database.reading() as connection:
            yield connection

    @contextmanager
    def writing(self, operation: str, *, alone: bool = True) -> Iterator[Connection]:
        """Open a write transaction. Meanwhile no other ``alone`` one of the tenant writes: its
        reads are still valid when it writes. One that only inserts rows need not be ``alone``.
        """
        self.database.on_operation(f"before {operation}")
        with self.database.writing(self.tenant, alone=alone) as connection:
            yield connection
        self.database.on_operation(f"after {operation}")

    def for_tenant(self, table: Any, collection: Collection) -> Any:
        """Return the SQL condition that a row belongs to the tenant and the collection."""
        return and_(table.c.tenant == self.tenant, table.c.collection_id == collection.id)
