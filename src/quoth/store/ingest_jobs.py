"""Ingest jobs: leases on documents, which other processes can take over on expiry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sqlalchemy import insert, select, update

from quoth.core.errors import QuothError
from quoth.store.blobs import stored_name
from quoth.store.catalogue import Catalogue
from quoth.store.job_rows import LEASE_SECONDS
from quoth.store.rows import Collection, is_over, new_owner
from quoth.store.schema import documents, jobs

MAX_ATTEMPTS = 3
"""A document whose work ended this often without a result is set aside as poison; one that was
uploaded is tried in a process of its own by then (`quoth.operations.worker`)."""

POISON = "crashes_reader"
SET_ASIDE = (
    "Work on this file ended the whole process every time it was tried, so it is set aside. "
    "To try it again, remove it (quoth remove) and add it."
)

Claim = Literal["claimed", "ready", "held", "poison"]


@dataclass
class Jobs:
    """Ingest jobs of one process; ``clock`` returns seconds since the epoch."""

    _catalogue: Catalogue
    clock: Callable[[], float] = time.time
    _working: set[str] = field(default_factory=set)
    """Documents of this process, so that a lease it failed to release does not block it."""

    @cached_property
    def owner(self) -> str:
        """The name of this process in its leases."""
        return new_owner()

    def claim(self, collection: Collection, document_id: str, *, source: str, title: str) -> Claim:
        """Lease a document, unless it is ready or another live process holds the lease."""
        catalogue = self._catalogue
        with catalogue.writing("claim document") as connection:
            ready = select(documents.c.id, documents.c.source).where(
                catalogue.for_tenant(documents, collection), documents.c.id == document_id
            )
            if connection.execute(ready).first() is not None:
                return "ready"
            here = catalogue.for_tenant(jobs, collection) & (jobs.c.document_id == document_id)
            job = connection.execute(select(jobs).where(here)).first()
            lease = {"owner": self.owner, "lease_until": self.clock() + LEASE_SECONDS}
            # Recorded within the transaction, so that no other thread considers it abandoned.
            if job is None:
                self._working.add(document_id)
                connection.execute(
                    insert(jobs).values(
                        document_id=document_id,
                        tenant=catalogue.tenant,
                        collection_id=collection.id,
                        source=source,
                        title=title,
                        state="running",
                        attempts=1,
                        **lease,
                    )
                )
                return "claimed"
            if job.state == "running" and not self._expired(job):
                return "held"
            uploaded = stored_name(source) is not None
            if job.code == POISON and not uploaded:
                return "poison"
            # A failed document may be retried; after a worker crash the attempt counts.
            attempts = 1 if job.state == "failed" else job.attempts + 1
            poison = attempts > MAX_ATTEMPTS and not uploaded
            if not poison:
                self._working.add(document_id)
            connection.execute(
                update(jobs)
                .where(here)
                .values(
                    state="failed" if poison else "running",
                    attempts=attempts,
                    source=source,
                    title=title,
                    code=POISON if poison else None,
                    message=SET_ASIDE if poison else None,
                    **lease,
                )
            )
            return "poison" if poison else "claimed"

    def renew(self) -> None:
        """Renew every lease of this process for another `LEASE_SECONDS`."""
        with self._catalogue.writing("renew leases") as connection:
            connection.execute(
                update(jobs)
                .where(jobs.c.owner == self.owner, jobs.c.state == "running")
                .values(lease_until=self.clock() + LEASE_SECONDS)
            )

    def fail(
        self,
        collection: Collection,
        document_id: str,
        *,
        source: str,
        title: str,
        error: QuothError,
    ) -> None:
        """Store the reason why a document cannot be read, replacing any older one."""
        catalogue = self._catalogue
        with catalogue.writing("fail document") as connection:
            mine = (jobs.c.document_id == document_id) & (jobs.c.owner == self.owner)
            older = (jobs.c.source == source) & (jobs.c.state == "failed")
            connection.execute(
                jobs.delete().where(catalogue.for_tenant(jobs, collection), mine | older)
            )
            known = select(jobs.c.document_id).where(jobs.c.document_id == document_id)
            if connection.execute(known).first() is not None:
                return
            connection.execute(
                insert(jobs).values(
                    document_id=document_id,
                    tenant=catalogue.tenant,
                    collection_id=collection.id,
                    source=source,
                    title=title,
                    state="failed",
                    attempts=0,
                    owner=self.owner,
                    lease_until=0.0,
                    code=error.code,
                    message=str(error),
                )
            )

    def release(self, document_ids: Iterable[str]) -> None:
        """Release the leases on these documents without counting the attempt."""
        self._working.difference_update(document_ids)
        with self._catalogue.writing("release leases") as connection:
            connection.execute(
                jobs.delete().where(
                    jobs.c.owner == self.owner,
                    jobs.c.state == "running",
                    jobs.c.document_id.in_(list(document_ids)),
                )
            )

    def running(self, collection: Collection) -> set[str]:
        """Return the documents that a live process is working on."""
        statement = select(jobs.c.document_id, jobs.c.owner, jobs.c.lease_until).where(
            self._catalogue.for_tenant(jobs, collection), jobs.c.state == "running"
        )
        with self._catalogue.reading() as connection:
            rows = connection.execute(statement).all()
        return {row.document_id for row in rows if not self._expired(row)}

    def _expired(self, job: Any) -> bool:
        if job.owner == self.owner:
            return job.document_id not in self._working
        now = self.clock()
        return is_over(job.owner, job.lease_until, now=now, seconds=LEASE_SECONDS)
