"""Find what is stored of a tenant's questions, and erase what was deleted."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, union, update

from quoth.store.audit import Audit
from quoth.store.database import Database, TenantConnection, translated_errors
from quoth.store.history import ALL_COLUMNS, QueryRow, StoredRecord, folded_texts
from quoth.store.lecture_tables import lectures
from quoth.store.privacy_settings import AUDIT_DAYS, PrivacyStore
from quoth.store.schema import answers, audit, feedback, queries, records, shares, spending, tasks
from quoth.store.upload_tasks import ENDED

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

    def blank(self, row: StoredRecord) -> None:
        """Replace a query, its answer and feedback by versions without texts."""
        question = {
            "text": row.text,
            "plan": row.plan,
            "title": None,
            "folded": folded_texts(row.text, None, row.answer),
        }
        with self.writing("blank question") as connection:
            for table, name, values in (
                (queries, "id", question),
                (answers, "query_id", {"answer": row.answer}),
                (records, "query_id", {"record": row.record}),
                (feedback, "query_id", {"comment": ""}),
            ):
                its = (table.c.tenant == self.tenant) & (table.c[name] == row.query_id)
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


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """Numbers of deleted rows; ``questions`` with their answers, records and feedback, ``lectures``
    with their transcripts and citations.
    """

    questions: int = 0
    shares: int = 0
    tasks: int = 0
    audit: int = 0
    lectures: int = 0


class Retention(TenantConnection):
    """Retention of one tenant's data."""

    def forget(self, *, now: datetime, days: int) -> RetentionReport:
        """Remove what is older than ``days`` at that time, and shares that have expired."""
        end = _stamp(now - timedelta(days=days))
        with self.writing("forget what is old") as connection:
            asked = connection.execute(
                delete(queries).where(queries.c.tenant == self.tenant, queries.c.created_at < end)
            ).rowcount
            expired = connection.execute(
                delete(shares).where(
                    shares.c.tenant == self.tenant, shares.c.expires_at <= _stamp(now)
                )
            ).rowcount
            connection.execute(
                delete(spending).where(
                    spending.c.tenant == self.tenant, spending.c.day < end[: len("2000-01-01")]
                )
            )
            ended = connection.execute(
                delete(tasks).where(
                    tasks.c.tenant == self.tenant,
                    tasks.c.state.in_(ENDED),
                    tasks.c.updated_at < end,
                )
            ).rowcount
            said = connection.execute(
                delete(lectures).where(
                    lectures.c.tenant == self.tenant, lectures.c.created_at < end
                )
            ).rowcount
        pruned = Audit.of(self).prune(before=_stamp(now - timedelta(days=AUDIT_DAYS)))
        return RetentionReport(asked, expired, ended, pruned, said)


def forget_all(database: Database, *, now: datetime) -> dict[str, RetentionReport]:
    """Enforce retention for every tenant by its settings; return those that lost rows."""
    found = {}
    for tenant in tenants_of(database):
        days = PrivacyStore(database, tenant=tenant).current(most="full").retention_days
        gone = Retention(database, tenant=tenant).forget(now=now, days=days)
        if gone != RetentionReport():
            found[tenant] = gone
    return found


def tenants_of(database: Database) -> Iterable[str]:
    """Name the tenants of whom there is anything that grows old."""
    growing = (queries, shares, spending, tasks, audit, lectures)
    every = union(*(select(table.c.tenant) for table in growing))
    with database.reading() as connection:
        return sorted(connection.execute(every).scalars())


def _stamp(when: datetime) -> str:
    """Write a time as the catalogue does, so that the texts sort as the times."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")
