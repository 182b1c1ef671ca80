"""Documents that are not ready: failed, in progress or interrupted, by their jobs' rows."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Any

from sqlalchemy import func, select

from quoth.core.types import Document, Problem
from quoth.store.blobs import stored_name
from quoth.store.database import TenantConnection
from quoth.store.rows import is_over
from quoth.store.schema import collections, jobs, tasks

LEASE_SECONDS = 120.0
INTERRUPTED = "interrupted"
NOT_FINISHED = (
    "Adding this file was interrupted. Run the same quoth add again, or remove it (quoth remove)."
)


def document_from_job(row: Any, *, collection: str) -> Document:
    """Return the document of a row of the jobs table: failed or in progress.

    One that no process works on any more has the error `INTERRUPTED`, except an upload, which a
    worker takes over.
    """
    error = None if row.code is None else Problem(row.code, row.message or "")
    if row.state == "running" and is_abandoned(row) and stored_name(row.source) is None:
        error = Problem(INTERRUPTED, NOT_FINISHED)
    return Document(
        document_id=row.document_id,
        title=row.title,
        kind=None,
        status=row.state,
        error=error,
        collection=collection,
        source=row.source,
    )


def is_abandoned(row: Any) -> bool:
    """Return whether the process that leased a document has ended, or let the lease expire."""
    return is_over(row.owner, row.lease_until, now=time(), seconds=LEASE_SECONDS)


def count_unread(catalogue: TenantConnection, names: Sequence[str]) -> int:
    """Count the files of these collections that are being read, and the uploads that wait."""
    running = select(jobs.c.source, jobs.c.owner, jobs.c.lease_until).where(
        jobs.c.tenant == catalogue.tenant,
        jobs.c.collection_id.in_(
            select(collections.c.id).where(
                collections.c.tenant == catalogue.tenant, collections.c.name.in_(names)
            )
        ),
        jobs.c.state == "running",
    )
    uploads = select(func.count()).where(
        tasks.c.tenant == catalogue.tenant,
        tasks.c.collection.in_(names),
        tasks.c.state.in_(("queued", "running")),
    )
    with catalogue.reading() as connection:
        added = [row for row in connection.execute(running) if stored_name(row.source) is None]
        waiting = int(connection.execute(uploads).scalar_one())
    return waiting + sum(not is_abandoned(row) for row in added)


def is_interrupted(document: Document) -> bool:
    """Return whether adding a document was interrupted, and no process works on it."""
    return document.error is not None and document.error.code == INTERRUPTED
