"""The catalogue on a PostgreSQL server: connection, locks and error translation."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from quoth.core.errors import (
    Busy,
    ConfigError,
    InputError,
    QuothError,
    RetrievalError,
    StorageFull,
    StoreDown,
)
from quoth.core.extras import require_extra

SCHEMES = ("postgresql://", "postgres://")
READING = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""All statements of a reading see one state, as they do in an SQLite file."""

KEPT_OPEN, AT_MOST = 8, 32
"""Connections of one process; a server allows a hundred in all by default."""
RENEWED_S = 1800
CONNECTING = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "quoth",
}
"""So that a server that is gone without a word is noticed; the address may say otherwise."""

WAY_OUT = "Look at the address in QUOTH_DATABASE."
NO_ROOM = ("53100", "53400")
IN_USE = ("55P03", "40001", "40P01", "53300", "57014")
NO_ACCESS = ("28", "3D", "3F", "42501", "25006", "0LP01")
DAMAGED = ("XX001", "XX002")
GONE = ("08", "57P")


def is_address(address: object) -> bool:
    """Return whether this is the address of a PostgreSQL server rather than a file."""
    return isinstance(address, str) and address.startswith(SCHEMES)


def connect(address: str, *, patience_s: float) -> Engine:
    """Return the engine of a server; raises MissingExtra, and ConfigError for a wrong address.

    No error repeats the address: it may hold a password.
    """
    require_extra("postgres", module="psycopg", what="A catalogue on PostgreSQL")
    try:
        url = make_url(address).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise ConfigError(
            "The address of the database cannot be read. Write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with % signs for what is special."
        ) from None
    missing = {name: value for name, value in CONNECTING.items() if name not in url.query}
    engine = create_engine(
        url.update_query_dict(missing),
        hide_parameters=True,
        pool_size=KEPT_OPEN,
        max_overflow=AT_MOST - KEPT_OPEN,
        pool_timeout=patience_s,
        pool_recycle=RENEWED_S,
        pool_pre_ping=True,
        pool_use_lifo=True,
    )

    def configure(connection: Any, _record: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {round(patience_s * 1000)}")
        connection.autocommit = False

    event.listen(engine, "connect", configure)
    return engine


def acquire_lock(connection: Connection, name: str) -> None:
    """Acquire the advisory lock of a tenant or of migrations until the end of the transaction."""
    key = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
    connection.execute(select(func.pg_advisory_xact_lock(key)))


def translate_driver_error(error: Any) -> QuothError:
    """Translate an error of the driver."""
    state, first = _state(error), str(error).strip().partition("\n")[0]
    if state.startswith(NO_ROOM):
        return StorageFull(
            "There is no room left on the disk of the database's server. Free some space there "
            "and run the same command again; nothing was lost."
        )
    if state.startswith(IN_USE):
        return Busy(
            "The catalogue's database is locked. Try again later.",
            retryable=True,
            retry_after_s=1.0,
        )
    if state.startswith(NO_ACCESS):
        return StoreDown(f"The catalogue's database refuses quoth ({first}). {WAY_OUT}")
    if state.startswith(DAMAGED):
        return StoreDown(
            f"The catalogue's database is damaged ({first}). Restore it from a backup.",
            damaged=True,
        )
    if state.startswith(GONE):
        return RetrievalError(
            "The catalogue's database cannot be reached. Look at whether its server runs; the "
            "same request works as soon as it does.",
            retryable=True,
        )
    if "NUL" in first and type(error).__name__ == "DataError":
        return InputError("A text contains the character NUL, which cannot be stored.")
    return RetrievalError(f"The catalogue failed: {first}.")


def _state(error: Any) -> str:
    """Return the SQLSTATE; the driver gives none for a refused connection, only a message."""
    if error.sqlstate:
        return str(error.sqlstate)
    if type(error).__name__ not in ("OperationalError", "InterfaceError", "ConnectionTimeout"):
        return ""
    words = str(error)
    if "authentication failed" in words or "no pg_hba.conf" in words or "role " in words:
        return "28000"
    if "database " in words and "does not exist" in words:
        return "3D000"
    if "too many clients" in words or "remaining connection slots" in words:
        return "53300"
    return "08006"
