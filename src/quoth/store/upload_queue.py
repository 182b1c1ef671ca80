"""Queue of uploaded files: leases, progress and results."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update

from quoth.store.database import Database
from quoth.store.ingest_jobs import MAX_ATTEMPTS
from quoth.store.rows import is_over, now
from quoth.store.schema import collections, tasks
from quoth.store.upload_tasks import (
    LEASE_SECONDS,
    State,
    Task,
    Tasks,
    is_not_isolated,
    queued,
)


class Queue(Tasks):
    """Task queue of one tenant, for workers."""

    def lease(self, key: str, *, together: int = 1, most_bytes: int = 0) -> list[Task]:
        """Lease a queued or abandoned task; none where another worker was faster.

        A new task is leased together with those that follow it in its collection, up to
        ``together`` in total and ``most_bytes``. Attempts are counted up to `MAX_ATTEMPTS`: then
        the file has a process of its own, and the end of its worker is not its doing.
        """
        with self.writing("lease task") as connection:
            found = select(tasks).where(self.at(key)).with_for_update(skip_locked=True)
            row = connection.execute(found).first()
            if row is None or not (self._due(row) or self.expired_leases(row)):
                return []
            rows = [row]
            if row.attempts == 0 and together > 1:
                rows += self._following(connection, row, most=together - 1, most_bytes=most_bytes)
            attempts = case(
                (tasks.c.attempts < MAX_ATTEMPTS, tasks.c.attempts + 1), else_=tasks.c.attempts
            )
            counted = {"state": "running", "attempts": attempts, "updated_at": now()}
            keys = [row.id for row in rows]
            connection.execute(
                update(tasks)
                .where(self.mine, tasks.c.id.in_(keys))
                .values({**self.lease_row(), **counted})
            )
            leased = select(tasks).where(self.mine, tasks.c.id.in_(keys))
            return [self.task_of(each) for each in connection.execute(leased)]

    def _following(
        self, connection: Connection, row: Any, *, most: int, most_bytes: int
    ) -> list[Any]:
        """Find new tasks of the same collection, the oldest first, up to so many bytes in all."""
        alike = and_(
            self.mine,
            tasks.c.state == "queued",
            tasks.c.attempts == 0,
            tasks.c.size <= most_bytes,
            tasks.c.collection == row.collection,
            tasks.c.id != row.id,
            or_(tasks.c.lease_until.is_(None), tasks.c.lease_until <= self._clock()),
        )
        oldest = select(tasks).where(alike).order_by(tasks.c.created_at, tasks.c.id).limit(most)
        found, size = [], row.size
        for each in connection.execute(oldest.with_for_update(skip_locked=True)):
            size += each.size
            if size > most_bytes:
                break
            found.append(each)
        return found

    def renew(self, keys: Sequence[str], *, chunks: int = 0, of_chunks: int = 0) -> int:
        """Renew leases and store the progress; return how many of the tasks are still ours."""
        with self.writing("renew leases of tasks") as connection:
            done = connection.execute(
                update(tasks)
                .where(self._held(keys))
                .values({**self.lease_row(), "chunks": chunks, "of_chunks": of_chunks})
            )
        return int(done.rowcount)

    def end(
        self,
        key: str,
        *,
        state: State,
        document_id: str | None = None,
        chunks: int = 0,
        code: str | None = None,
        message: str | None = None,
    ) -> bool:
        """Store the result of a task; return False when it is no longer ours."""
        fate: dict[str, Any] = {"document_id": document_id, "code": code, "message": message}
        fate |= {"chunks": chunks, "of_chunks": chunks}
        fate |= {"state": state, "owner": None, "lease_until": None}
        with self.writing("end task") as connection:
            ended = update(tasks).where(self._held([key])).values(**fate, updated_at=now())
            done = connection.execute(ended)
        return bool(done.rowcount)

    def put_back(self, keys: Sequence[str], *, delay_s: float = 0.0) -> None:
        """Queue tasks again without counting the attempt; they can be leased after the delay."""
        with self.writing("put tasks back") as connection:
            connection.execute(
                update(tasks)
                .where(self._held(keys))
                .values(
                    **(queued() | {"lease_until": self._clock() + delay_s}),
                    attempts=tasks.c.attempts - 1,
                )
            )

    def put_off(self, key: str) -> None:
        """Queue a failed task again; the attempt counts."""
        with self.writing("put task off") as connection:
            connection.execute(update(tasks).where(self._held([key])).values(**queued()))

    def _held(self, keys: Sequence[str]) -> ColumnElement[bool]:
        mine = and_(self.mine, tasks.c.id.in_(keys))
        return and_(mine, tasks.c.state == "running", tasks.c.owner == self.owner)

    def _due(self, row: Any) -> bool:
        return row.state == "queued" and (row.lease_until or 0.0) <= self._clock()


class TenantRoundRobin:
    """Round-robin over the tenants with queued tasks; sees ids only."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def next(
        self,
        after: str,
        *,
        without: Collection[str] = (),
        isolated: bool = True,
    ) -> tuple[str, str] | None:
        """Return the tenant after this one, in the round, that has a task to do, and that task.

        It is the oldest one, small files before those that need a process of their own. Tenants in
        ``without`` are left out, and files that need a process of their own unless ``isolated``.
        """
        now = self._clock()
        fits: ColumnElement[bool] = tasks.c.tenant.not_in(without)
        if not isolated:
            fits = and_(fits, is_not_isolated())
        with self._database.reading() as connection:
            left = connection.execute(
                select(tasks.c.tenant, tasks.c.id, tasks.c.owner, tasks.c.lease_until)
                .where(tasks.c.state == "running", fits)
                .order_by(tasks.c.tenant)
            ).all()
            for row in left:
                if is_over(row.owner, row.lease_until, now=now, seconds=LEASE_SECONDS):
                    return row.tenant, row.id
            due = and_(
                fits,
                tasks.c.state == "queued",
                or_(tasks.c.lease_until.is_(None), tasks.c.lease_until <= now),
            )
            order = tasks.c.tenant, is_not_isolated().desc(), tasks.c.created_at, tasks.c.id
            first = select(tasks.c.tenant, tasks.c.id).where(due).order_by(*order).limit(1)
            for turn in (first.where(tasks.c.tenant > after), first):
                found = connection.execute(turn).first()
                if found is not None:
                    return found.tenant, found.id
        return None

    def depths(self) -> dict[str, int]:
        """Count the tasks of all tenants in each state that one is in."""
        statement = select(tasks.c.state, func.count()).group_by(tasks.c.state)
        with self._database.reading() as connection:
            return {state: int(count) for state, count in connection.execute(statement)}

    def tenants(self) -> list[str]:
        """Return the tenants with uploads or documents."""
        known = select(tasks.c.tenant).union(select(collections.c.tenant))
        with self._database.reading() as connection:
            return list(connection.execute(known).scalars())
