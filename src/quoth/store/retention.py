"""Delete rows older than their retention period."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, union

from quoth.store.audit import Audit
from quoth.store.database import Database, TenantConnection
from quoth.store.privacy_settings import AUDIT_DAYS, PrivacyStore
from quoth.store.schema import (
    audit,
    lectures,
    queries,
    shares,
    spending,
    tasks,
)
from quoth.store.upload_tasks import ENDED


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

    def forget(self, *, now: datetime, days: int, audit_days: int = AUDIT_DAYS) -> RetentionReport:
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
        pruned = Audit.of(self).prune(before=_stamp(now - timedelta(days=audit_days)))
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
