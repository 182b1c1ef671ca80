"""Upload tasks: files received over the network, from the first byte to the result.

A task is ``receiving`` until the last byte has arrived, then ``queued``, ``running`` while a worker
has a lease on it, and in the end ``ready``, ``unchanged`` or ``failed``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, exists, select

from quoth.core.errors import NotFound
from quoth.store.database import Database, TenantConnection
from quoth.store.ingest_jobs import MAX_ATTEMPTS
from quoth.store.rows import from_row, is_over, new_owner, now
from quoth.store.schema import tasks

LEASE_SECONDS = 60.0
LARGE_BYTES = 8_000_000
IN_PROCESS = MAX_ATTEMPTS - 1
"""A file of so many bytes, or one over which as many workers died, has a process of its own."""

State = Literal["receiving", "queued", "running", "ready", "unchanged", "failed"]
ENDED: tuple[State, ...] = ("ready", "unchanged", "failed")

ABSENT = "There is no upload of this id. List them with: GET /v1/uploads"


@dataclass(frozen=True, slots=True)
class Task:
    """An uploaded file; ``given`` is its metadata. Sizes are in bytes."""

    id: str
    collection: str
    name: str
    given: Mapping[str, str]
    size: int
    received: int
    sha256: str | None
    state: State
    attempts: int
    document_id: str | None
    chunks: int
    of_chunks: int
    code: str | None
    message: str | None
    created_at: str
    updated_at: str

    @property
    def ended(self) -> bool:
        """Return whether the task is in a final state."""
        return self.state in ENDED

    @property
    def isolated(self) -> bool:
        """Return whether the lease is one that needs a process of its own."""
        return self.size >= LARGE_BYTES or self.attempts > IN_PROCESS


class Tasks(TenantConnection):
    """Read access to the tasks of one tenant; ``clock`` returns seconds since the epoch.

    ``owner`` is the lease owner of this process; several instances may share it.
    """

    def __init__(
        self,
        database: Database,
        *,
        tenant: str,
        owner: str | None = None,
        clock: Callable[[], float] = time.time,
        lease_s: float = LEASE_SECONDS,
    ) -> None:
        super().__init__(database, tenant=tenant)
        self.owner = owner or new_owner()
        self._clock = clock
        self._lease_s = lease_s

    def find(self, key: str) -> Task:
        """Return a task; raises NotFound."""
        with self.reading() as connection:
            row = connection.execute(select(tasks).where(self.at(key))).first()
        if row is None:
            raise NotFound(ABSENT)
        return self.task_of(row)

    def tasks(self, *, skip: int = 0, limit: int = 50, state: State | None = None) -> list[Task]:
        """List tasks, the newest first."""
        chosen = select(tasks).where(self.mine)
        if state is not None:
            chosen = chosen.where(tasks.c.state == state)
        newest = chosen.order_by(tasks.c.created_at.desc(), tasks.c.id).offset(skip).limit(limit)
        with self.reading() as connection:
            return [self.task_of(row) for row in connection.execute(newest)]

    def count(self, *, state: State | None = None) -> int:
        """Count the tasks."""
        return self.count_rows(tasks, *(() if state is None else (tasks.c.state == state,)))

    def awaits(self, collection: str) -> bool:
        """Return whether a file is on its way into a collection, which may be new."""
        under_way = self.mine & (tasks.c.collection == collection) & tasks.c.state.not_in(ENDED)
        with self.reading() as connection:
            return bool(connection.execute(select(exists().where(under_way))).scalar_one())

    @property
    def mine(self) -> ColumnElement[bool]:
        """Return the SQL condition that a task belongs to the tenant."""
        return tasks.c.tenant == self.tenant

    def at(self, key: str) -> ColumnElement[bool]:
        """Return the SQL condition for one task of the tenant."""
        return and_(self.mine, tasks.c.id == key)

    def lease_row(self) -> dict[str, Any]:
        """Return the column values of a task that the owner leases or renews."""
        return {"owner": self.owner, "lease_until": self._clock() + self._lease_s}

    def expired_leases(self, row: Any) -> bool:
        """Return whether the lease of a running task has expired."""
        return row.state == "running" and self.abandoned(row)

    def abandoned(self, row: Any) -> bool:
        """Return whether the owner of a row has died or lost it."""
        return is_over(row.owner, row.lease_until, now=self._clock(), seconds=LEASE_SECONDS)

    def task_of(self, row: Any) -> Task:
        """Return the task of a row."""
        # A task with an expired lease is queued, also where no worker runs to update it.
        state: State = "queued" if self.expired_leases(row) else row.state
        return from_row(Task, row, given=json.loads(row.given), state=state)


def queued() -> dict[str, Any]:
    """Return the column values of a queued task."""
    return {
        "state": "queued",
        "owner": None,
        "lease_until": None,
        "document_id": None,
        "chunks": 0,
        "of_chunks": 0,
        "code": None,
        "message": None,
        "updated_at": now(),
    }


def is_not_isolated() -> ColumnElement[bool]:
    """Return the SQL condition that the next lease of a task needs no process of its own."""
    return and_(tasks.c.size < LARGE_BYTES, tasks.c.attempts < IN_PROCESS)
