"""Find what is stored of a tenant's questions, and erase what was deleted."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence

from sqlalchemy import delete, update

from quoth.store.database import Database, TenantConnection, translated_errors
from quoth.store.history import ALL_COLUMNS, QueryRow
from quoth.store.schema import (
    answers,
    feedback,
    queries,
    records,
)

PAGE = 200
WAITS_S = 10.0
"""How long the last reader of what was deleted is waited for."""


class StoredQuestions(TenantConnection):
    """Stored queries of one tenant for redaction and deletion, the oldest first."""

    def all(self) -> Iterator[QueryRow]:
        """Yield all queries in pages; concurrent writes are allowed."""
        after = ("", "")
        while True:
            page = self._page(after)
            yield from page
            if len(page) < PAGE:
                return
            after = (page[-1].created_at, page[-1].query_id)

    def _page(self, after: tuple[str, str]) -> list[QueryRow]:
        at, key = queries.c.created_at, queries.c.id
        later = (at > after[0]) | ((at == after[0]) & (key > after[1]))
        own = ALL_COLUMNS.where(queries.c.tenant == self.tenant, later)
        statement = own.order_by(at, key).limit(PAGE)
        with self.reading() as connection:
            return [QueryRow(*row) for row in connection.execute(statement)]

    def blank(self, query_id: str, *, text: str, plan: str, answer: str, record: str) -> None:
        """Replace a query, its answer and feedback by versions without texts."""
        with self.writing("blank question") as connection:
            for table, name, values in (
                (queries, "id", {"text": text, "plan": plan}),
                (answers, "query_id", {"answer": answer}),
                (records, "query_id", {"record": record}),
                (feedback, "query_id", {"comment": ""}),
            ):
                its = (table.c.tenant == self.tenant) & (table.c[name] == query_id)
                connection.execute(update(table).where(its).values(values))

    def delete(self, query_ids: Sequence[str]) -> None:
        """Delete questions with all that hangs on them."""
        with self.writing("delete questions") as connection:
            for key in query_ids:
                its = (queries.c.tenant == self.tenant) & (queries.c.id == key)
                connection.execute(delete(queries).where(its))


def compact(database: Database) -> str:
    """Remove deleted data from the database files; return why it failed, or "".

    SQLite's file is rewritten without its free pages, and its log is emptied. PostgreSQL's VACUUM
    makes the rows unreachable; remains in its pages, log and backups disappear when these are
    overwritten.
    """
    if not database.is_file:
        with translated_errors(), database.engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("VACUUM")
        return ""
    raw = database.engine.raw_connection()
    try:
        until = time.monotonic() + WAITS_S
        while not _compacted(raw.driver_connection):
            if time.monotonic() > until:
                return "The catalogue is being read by another process. Run this again later."
            time.sleep(0.2)
    finally:
        raw.close()
    return ""


def _compacted(connection: sqlite3.Connection | None) -> bool:
    assert connection is not None  # it was just opened
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute("VACUUM")
        busy, _frames, _moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return False
        raise
    return not busy
