"""Opening the catalogue's database: a file of SQLite, or a server of PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, Self

from sqlalchemy import Connection, Engine, and_, event, exc, func, select

from quoth.core.errors import Busy, ConfigError, QuothError, StoreDown
from quoth.store import postgres, sqlite
from quoth.store.checksums import note_update, seal_rows
from quoth.store.migrate import upgrade_to_head
from quoth.store.rows import Collection
from quoth.store.schema import CHECKSUMS
from quoth.store.wal_check import keep_damaged_log

WRITE = {"write": True}
OTHERS_WRITE = "Others are writing to the catalogue. Try again later."
PATIENCE_S = 30.0
"""How long a writer waits for the lock before it raises `Busy`."""
MAX_WAITING = 64
"""Maximum writers of one process that wait for the lock; more are refused at once."""
ALL_TENANTS = ""
"""The turn of what is written for all tenants at once."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database whose schema is at `quoth.store.schema.HEAD`.

    ``on_operation`` is called with the name of every write before and after it; crash tests stop
    the process there.
    """

    engine: Engine
    on_operation: Callable[[str], None]
    patience_s: float = PATIENCE_S
    turn: Lock = field(default_factory=Lock)
    """The writers' turn in this process: SQLite lets them sleep and try, in no order."""
    line: BoundedSemaphore = field(default_factory=partial(BoundedSemaphore, MAX_WAITING))
    """The places of those who write or wait for their turn."""

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    @property
    def is_file(self) -> bool:
        """Return whether this is an SQLite file rather than a PostgreSQL server."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database."""
        with translated_errors(), self.engine.connect() as plain:
            yield plain if self.is_file else plain.execution_options(**postgres.READING)

    @contextmanager
    def writing(self, tenant: str, *, alone: bool = True) -> Iterator[Connection]:
        """Open a write transaction. Meanwhile no other ``alone`` transaction of the tenant writes:
        its reads stay valid until it ends. An SQLite file has one writer in any case.
        """
        with ExitStack() as closing:
            if self.is_file:
                for lock, patience_s in ((self.line, 0.0), (self.turn, self.patience_s)):
                    if not lock.acquire(timeout=patience_s):
                        raise Busy(OTHERS_WRITE, retryable=True, retry_after_s=1.0)
                    closing.callback(lock.release)
            closing.enter_context(translated_errors())
            plain = closing.enter_context(self.engine.connect())
            connection = plain.execution_options(**WRITE)
            with connection.begin():
                if alone and not self.is_file:
                    postgres.acquire_lock(connection, f"quoth writes for {tenant}")
                yield connection
                seal_rows(connection, CHECKSUMS)


def open_database(
    address: Path | str,
    *,
    on_operation: Callable[[str], None] = lambda _name: None,
    patience_s: float = PATIENCE_S,
) -> Database:
    """Open a file or a server (``postgresql://…``); create or migrate the tables.

    Raises ConfigError, MissingExtra, StorageFull, Busy and RetrievalError; none of them repeats
    the address of a server, which may hold a password.
    """
    server = isinstance(address, str) and postgres.is_address(address)
    if not server and "://" in str(address):
        raise ConfigError(
            "The database is none that quoth knows. Give the address of a PostgreSQL server, "
            "postgresql://…, or none for a file in the home folder."
        )
    file = None if server else Path(address)
    if file is not None:
        sqlite.check_not_emptied(file)
        keep_damaged_log(file)
    engine = connect(address, patience_s=patience_s)
    place = "The catalogue's database" if file is None else f"The catalogue {file}"
    try:
        with translated_errors():
            upgrade_to_head(engine, place=place, file=file)
    except BaseException:
        engine.dispose()
        raise
    return Database(engine, on_operation, patience_s)


def connect(address: Path | str, *, patience_s: float = PATIENCE_S) -> Engine:
    """Return the engine of a file or a server, without its tables.

    Raises ConfigError and MissingExtra.
    """
    if isinstance(address, str) and postgres.is_address(address):
        engine = postgres.connect(str(address), patience_s=patience_s)
    else:
        engine = sqlite.connect(Path(address), patience_s=patience_s)
    event.listen(engine, "before_execute", note_update)
    return engine


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the drivers' errors into those of `quoth.core.errors`."""
    try:
        yield
    except exc.IntegrityError:
        raise
    except exc.DBAPIError as error:
        raise translate_error(error.orig) from error
    except exc.TimeoutError as error:
        raise Busy(
            "All connections to the catalogue are in use. Try again later.",
            retryable=True,
            retry_after_s=1.0,
        ) from error
    except sqlite3.Error as error:
        raise translate_error(error) from error
    except UnicodeDecodeError as error:
        raise StoreDown(f"The catalogue is damaged: {sqlite.WAY_OUT}", damaged=True) from error


def translate_error(error: BaseException | None) -> QuothError:
    """Translate an error of a driver."""
    if isinstance(error, sqlite3.Error):
        return sqlite.translate_driver_error(error)
    return postgres.translate_driver_error(error)


class TenantConnection:
    """The database as seen by one tenant; several tenants share one database."""

    def __init__(self, database: Database, *, tenant: str) -> None:
        self.database = database
        self.tenant = tenant
        self.reading = database.reading

    @classmethod
    def of(cls, other: TenantConnection) -> Self:
        """Return an instance for the database and tenant of another connection."""
        return cls(other.database, tenant=other.tenant)

    def close(self) -> None:
        """Close the database, for every tenant that shares it."""
        self.database.close()

    @contextmanager
    def writing(self, operation: str, *, alone: bool = True) -> Iterator[Connection]:
        """Open a write transaction. Meanwhile no other ``alone`` one of the tenant writes: its
        reads are still valid when it writes. One that only inserts rows need not be ``alone``.
        """
        self.database.on_operation(f"before {operation}")
        with self.database.writing(self.tenant, alone=alone) as connection:
            yield connection
        self.database.on_operation(f"after {operation}")

    def count_rows(self, table: Any, *conditions: Any) -> int:
        """Count the tenant's rows of a table that meet the conditions."""
        counted = select(func.count()).select_from(table)
        statement = counted.where(table.c.tenant == self.tenant, *conditions)
        with self.reading() as connection:
            return int(connection.execute(statement).scalar_one())

    def for_tenant(self, table: Any, collection: Collection) -> Any:
        """Return the SQL condition that a row belongs to the tenant and the collection."""
        return and_(table.c.tenant == self.tenant, table.c.collection_id == collection.id)
