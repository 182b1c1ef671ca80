"""Uploads: resumable uploads, queueing of complete files, and clean-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, and_, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from quoth.core.errors import Busy, NotFound
from quoth.store.rows import now
from quoth.store.schema import documents, tasks
from quoth.store.upload_tasks import (
    ABSENT,
    ENDED,
    Task,
    Tasks,
    queued,
)
from quoth.text.json_codec import dump

MAX_RECEIVING = 1000
"""Uploads of one tenant that may be under way at once."""


Place = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Requirements:
    """References to stored files: tasks by hash and name, documents by source, uploads by id."""

    tasks: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    uploads: frozenset[str]


@dataclass(frozen=True, slots=True)
class TenantUsage:
    """What a tenant stores; ``bytes`` are those of its uploads."""

    tenant: str
    documents: int
    chunks: int
    bytes: int
    pending: int


class UploadStore(Tasks):
    """Upload tasks of one tenant, for receiving files."""

    def begin(
        self, *, name: str, collection: str, given: Mapping[str, str], size: int, key_id: str
    ) -> Task:
        """Begin a resumable upload; raises Busy where too many are in progress."""
        key = uuid4().hex[:24]
        with self.writing("begin upload") as connection:
            open_now = select(func.count()).where(self.mine, tasks.c.state == "receiving")
            if connection.execute(open_now).scalar_one() >= MAX_RECEIVING:
                raise Busy(
                    f"There are {MAX_RECEIVING} uploads in progress. Finish or delete some first.",
                    status=429,
                    retry_after_s=60,
                )
            row = self._row(key, name=name, collection=collection, given=given, key_id=key_id)
            row |= {"size": size, "received": 0, "state": "receiving"}
            connection.execute(insert(tasks).values(row))
        return self.find(key)

    def take(self, key: str) -> Task:
        """Lease an upload for writing its part file; raises NotFound, and Busy while leased."""
        with self.writing("take upload") as connection:
            row = connection.execute(select(tasks).where(self.at(key))).first()
            if row is None:
                raise NotFound(ABSENT)
            if row.state == "receiving":
                if row.owner not in (None, self.owner) and not self.abandoned(row):
                    raise Busy(
                        "Another request is sending bytes of this upload. Ask for its offset "
                        "with HEAD, and continue from there.",
                        status=429,
                        retry_after_s=1,
                    )
                connection.execute(update(tasks).where(self.at(key)).values(self.lease_row()))
        return self.task_of(row)

    def save_progress(self, key: str, *, received: int) -> None:
        """Store the received bytes of an upload, and release its lease."""
        with self.writing("put upload down") as connection:
            connection.execute(
                update(tasks)
                .where(self.at(key), tasks.c.state == "receiving", tasks.c.owner == self.owner)
                .values(received=received, owner=None, lease_until=None, updated_at=now())
            )

    def complete(self, key: str, *, sha256: str, place: Place, share: Place | None = None) -> Task:
        """Queue a complete upload; ``place`` and ``share`` are those of `submit`."""
        if share is not None:
            with self.writing("hold file") as connection:
                connection.execute(update(tasks).where(self.at(key)).values(sha256=sha256))
            share()
        with self.writing("complete upload") as connection:
            place()
            connection.execute(
                update(tasks)
                .where(self.at(key), tasks.c.state == "receiving")
                .values(**queued(), sha256=sha256, received=tasks.c.size)
            )
        return self.find(key)

    def submit(
        self,
        key: str,
        *,
        name: str,
        collection: str,
        given: Mapping[str, str],
        size: int,
        sha256: str,
        key_id: str,
        place: Place,
        share: Place | None = None,
    ) -> tuple[Task, bool]:
        """Queue a complete file once; ``key`` depends on its content. Return True for a new one.

        A file that failed, or whose document was removed since, is queued again. ``place`` moves
        the file to its final path, while no clean-up runs. ``share`` copies it to other storage,
        which takes long: outside of a transaction, while the row keeps the copy from a clean-up.
        """
        row = self._row(key, name=name, collection=collection, given=given, key_id=key_id)
        row |= {"size": size, "received": size, "sha256": sha256, "state": "queued"}
        if share is not None:
            with suppress(IntegrityError), self.writing("hold file") as connection:
                connection.execute(tasks.delete().where(self.at(key), self._is_gone()))
                connection.execute(insert(tasks).values(row | {"state": "receiving"}))
            try:
                share()
            except BaseException:
                with self.writing("release file") as connection:
                    held = tasks.delete().where(self.at(key), tasks.c.state == "receiving")
                    connection.execute(held)
                raise
        try:
            with self.writing("submit upload") as connection:
                place()
                known = connection.execute(select(tasks).where(self.at(key))).first()
                if known is None:
                    connection.execute(insert(tasks).values(row))
                    new = True
                else:
                    again = update(tasks).where(self.at(key), self._to_do_again())
                    new = bool(connection.execute(again.values(**queued(), attempts=0)).rowcount)
        except IntegrityError:
            # Another process was quicker by a moment: it is that one's task.
            new = False
        return self.find(key), new

    def retry(self, key: str) -> None:
        """Queue a failed task again; raises NotFound where none of this id has failed."""
        with self.writing("retry task") as connection:
            failed = update(tasks).where(self.at(key), tasks.c.state == "failed")
            if not connection.execute(failed.values(**queued(), attempts=0)).rowcount:
                raise NotFound(f"There is no failed upload {key}.")

    def repeat(self, key: str) -> None:
        """Queue a finished task again."""
        with self.writing("repeat task") as connection:
            ended = update(tasks).where(self.at(key), tasks.c.state.in_(ENDED))
            connection.execute(ended.values(**queued(), attempts=0))

    def totals(self) -> TenantUsage:
        """Count what the tenant stores."""
        own = select(func.count(), func.coalesce(func.sum(documents.c.chunks), 0)).where(
            documents.c.tenant == self.tenant
        )
        unfinished = select(func.count()).where(
            self.mine, tasks.c.state.in_(("receiving", "queued", "running"))
        )
        size = select(func.coalesce(func.sum(tasks.c.size), 0)).where(self.mine)
        with self.reading() as connection:
            there, parts = connection.execute(own).one()
            pending = connection.execute(unfinished).scalar_one()
            stored = connection.execute(size).scalar_one()
        return TenantUsage(self.tenant, int(there), int(parts), int(stored), int(pending))

    # --- clearing up --------------------------------------------------------------------------

    def drop(self, key: str) -> Task:
        """Remove a task from the queue, also a leased one; raises NotFound."""
        task = self.find(key)
        with self.writing("drop task") as connection:
            connection.execute(tasks.delete().where(self.at(key)))
        return task

    def forget(self, document_ids: Sequence[str]) -> None:
        """Delete the finished tasks of these documents."""
        with self.writing("forget tasks") as connection:
            named = tasks.c.document_id.in_(list(document_ids))
            connection.execute(tasks.delete().where(self.mine, named))

    def clear(self, unused: Callable[[Requirements], int], *, before: str) -> int:
        """Delete stale tasks, then call ``unused`` to delete files, while none is stored.

        Stale are uploads without progress since ``before`` (ISO 8601), and those whose
        document is gone. Return the result of ``unused``.
        """
        with self.writing("clear tasks") as connection:
            still = and_(tasks.c.state == "receiving", tasks.c.updated_at < before)
            connection.execute(tasks.delete().where(self.mine, or_(still, self._is_gone())))
            return unused(self._needs(connection))

    def _needs(self, connection: Connection) -> Requirements:
        waiting = select(tasks.c.sha256, tasks.c.name).where(
            self.mine,
            tasks.c.sha256.is_not(None),
            tasks.c.state.in_(("receiving", "queued", "running", "failed")),
        )
        sources = select(documents.c.source).where(
            documents.c.tenant == self.tenant, documents.c.source.startswith("file:")
        )
        parts = select(tasks.c.id).where(self.mine, tasks.c.state == "receiving")
        return Requirements(
            tuple((row.sha256, row.name) for row in connection.execute(waiting)),
            tuple(connection.execute(sources).scalars()),
            frozenset(connection.execute(parts).scalars()),
        )

    def _is_there(self) -> ColumnElement[bool]:
        return exists(
            select(documents.c.id).where(
                documents.c.tenant == self.tenant, documents.c.id == tasks.c.document_id
            )
        )

    def _is_gone(self) -> ColumnElement[bool]:
        return and_(tasks.c.state.in_(("ready", "unchanged")), ~self._is_there())

    def _to_do_again(self) -> ColumnElement[bool]:
        return or_(tasks.c.state.in_(("receiving", "failed")), self._is_gone())

    def _row(
        self, key: str, *, name: str, collection: str, given: Mapping[str, str], key_id: str
    ) -> dict[str, Any]:
        at = now()
        return {
            "id": key,
            "tenant": self.tenant,
            "collection": collection,
            "name": name,
            "given": dump(dict(given)),
            "key_id": key_id[:20],
            "attempts": 0,
            "chunks": 0,
            "of_chunks": 0,
            "created_at": at,
            "updated_at": at,
        }
