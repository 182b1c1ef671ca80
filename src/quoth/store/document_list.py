"""Paged lists of collections and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, and_, false, func, or_, select, true

from quoth.core.errors import NotFound
from quoth.core.types import Document
from quoth.store.checksums import first_intact
from quoth.store.database import TenantConnection
from quoth.store.job_rows import document_from_job
from quoth.store.rows import Collection, collection_from_row, document_from_row
from quoth.store.schema import chunks, collections, documents, jobs, replaced_documents

_NAMES = (documents.c.title, documents.c.source, documents.c.speaker)


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """A collection in a list: its size, embedder and index version."""

    name: str
    documents: int
    chunks: int
    embedder: str
    index_version: str
    created_at: str


class DocumentLists(TenantConnection):
    """Collection and document lists of one tenant."""

    def collections(self, *, only: str | None = None) -> list[CollectionSummary]:
        """List the collections by name, or only one of them."""
        held = (
            select(
                documents.c.collection_id,
                func.count().label("documents"),
                func.sum(documents.c.chunks).label("chunks"),
            )
            .where(documents.c.tenant == self.tenant)
            .group_by(documents.c.collection_id)
            .subquery()
        )
        statement = (
            select(collections, held.c.documents, held.c.chunks)
            .outerjoin(held, held.c.collection_id == collections.c.id)
            .where(collections.c.tenant == self.tenant)
            .order_by(collections.c.name)
        )
        if only is not None:
            statement = statement.where(collections.c.name == only)
        with self.reading() as connection:
            rows = connection.execute(statement).all()
        made = ((collection_from_row(row), row) for row in rows)
        return [
            CollectionSummary(
                each.name,
                int(row.documents or 0),
                int(row.chunks or 0),
                each.identity.embedder,
                each.index_version,
                row.created_at,
            )
            for each, row in made
        ]

    def documents(
        self,
        collection: Collection,
        *,
        skip: int,
        limit: int,
        words: str = "",
        ready_too: bool = True,
    ) -> tuple[list[Document], int]:
        """List documents by title, then those in progress or failed; return also their number.

        With ``words`` only those whose title or source holds each of them; without ``ready_too``
        only those in progress or failed.
        """
        ready = and_(
            self.for_tenant(documents, collection),
            true() if ready_too else false(),
            *(
                or_(*(column.icontains(word, autoescape=True) for column in _NAMES))
                for word in words.split()
            ),
        )
        waiting = and_(
            self.for_tenant(jobs, collection),
            *(jobs.c.source.icontains(word, autoescape=True) for word in words.split()),
        )
        with self.reading() as connection:
            done = int(_count(connection, documents, ready))
            total = done + int(_count(connection, jobs, waiting))
            first = select(documents).where(ready).order_by(documents.c.title, documents.c.id)
            rows = connection.execute(first.offset(skip).limit(limit)).all()
            rest: Sequence[Any] = ()
            if len(rows) < limit:
                later = select(jobs).where(waiting).order_by(jobs.c.source, jobs.c.document_id)
                later = later.offset(max(0, skip - done)).limit(limit - len(rows))
                rest = connection.execute(later).all()
        name = collection.name
        found = [document_from_row(row, collection=name) for row in rows]
        return [*found, *(document_from_job(row, collection=name) for row in rest)], total

    def document(self, document_id: str, *, collection: str | None = None) -> Document:
        """Find a document in every collection, or in one; raises NotFound."""
        with self.reading() as connection:
            found = self._find(connection, document_id, collection=collection)
        if found is None:
            raise NotFound(f"There is no document with the id '{document_id}'.")
        return found

    def present(self, document_id: str, *, end: int = 0, collection: str | None = None) -> Document:
        """Find a document as `document` does, or that which replaced it.

        Raises NotFound also where their texts are not the same up to the character `end`.
        """
        table = replaced_documents
        statement = select(table).where(table.c.tenant == self.tenant, table.c.id == document_id)
        with self.reading() as connection:
            row = first_intact(connection.execute(statement))
            known = document_id if row is None or row.same_until < end else row.document_id
            found = self._find(connection, known, collection=collection)
        if found is None:
            raise NotFound(f"There is no document with the id '{document_id}'.")
        return found

    def earlier_ids(self, document_id: str) -> list[str]:
        """Return the ids of the documents that a document replaced."""
        table = replaced_documents
        its = (table.c.tenant == self.tenant) & (table.c.document_id == document_id)
        with self.reading() as connection:
            return list(connection.execute(select(table.c.id).where(its)).scalars())

    def _find(
        self, connection: Connection, document_id: str, *, collection: str | None
    ) -> Document | None:
        for table, made in ((documents, document_from_row), (jobs, document_from_job)):
            key = documents.c.id if table is documents else jobs.c.document_id
            statement = (
                select(table, collections.c.name.label("collection_name"))
                .join_from(table, collections, table.c.collection_id == collections.c.id)
                .where(
                    table.c.tenant == self.tenant,
                    collections.c.tenant == self.tenant,
                    key == document_id,
                )
            )
            if collection is not None:
                statement = statement.where(collections.c.name == collection)
            row = connection.execute(statement).first()
            if row is not None:
                return made(row, collection=row.collection_name)
        return None

    def named(self, collection: Collection, name: str) -> list[Document]:
        """Return the ready documents whose file has a name, on the disk or as an upload."""
        source = documents.c.source
        its = or_(
            source.endswith(f"/{name}", autoescape=True),
            source.endswith(f"#{quote(name)}", autoescape=True),
        )
        statement = select(documents).where(self.for_tenant(documents, collection), its)
        with self.reading() as connection:
            rows = connection.execute(statement.order_by(documents.c.id)).all()
        return [document_from_row(row, collection=collection.name) for row in rows]

    def fingerprint(self, document_id: str) -> str | None:
        """Return the fingerprint of a document's file; None if it is not ready."""
        return self.fingerprints([document_id]).get(document_id)

    def fingerprints(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the fingerprints of the files of these documents, those that are ready."""
        statement = select(documents.c.id, documents.c.sha256).where(
            documents.c.tenant == self.tenant, documents.c.id.in_(ids)
        )
        with self.reading() as connection:
            return {row.id: row.sha256 for row in connection.execute(statement)}

    def all_there(self, ids: Sequence[str], *, collections: Sequence[Collection]) -> bool:
        """Return whether all these documents are ready in one of the collections."""
        wanted = set(ids)
        statement = select(documents.c.id).where(
            documents.c.tenant == self.tenant,
            documents.c.collection_id.in_([collection.id for collection in collections]),
            documents.c.id.in_(wanted),
        )
        with self.reading() as connection:
            return {row.id for row in connection.execute(statement)} == wanted

    def ordinal(self, chunk_id: str, *, document_id: str) -> int:
        """Return the place of a chunk in this document; raises NotFound, also for another's."""
        statement = select(chunks.c.ordinal).where(
            chunks.c.tenant == self.tenant,
            chunks.c.id == chunk_id,
            chunks.c.document_id == document_id,
        )
        with self.reading() as connection:
            found = connection.execute(statement).scalar()
        if found is None:
            raise NotFound(f"There is no passage with the id '{chunk_id}' in this document.")
        return int(found)

    def total_chars(self, document_id: str) -> int:
        """Return the length of a document's stored text, 0 if it is not ready."""
        statement = select(func.max(chunks.c.end)).where(
            chunks.c.tenant == self.tenant, chunks.c.document_id == document_id
        )
        with self.reading() as connection:
            return int(connection.execute(statement).scalar() or 0)

    def ordinals(self, document_id: str, *, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last chunk with characters from `start` to `end`.

        A range without any character gives the last chunk before it twice, or -1.
        """
        before = func.max(chunks.c.ordinal).filter(chunks.c.start <= start)
        last = func.max(chunks.c.ordinal).filter(chunks.c.start < end)
        statement = select(before, last).where(
            chunks.c.tenant == self.tenant, chunks.c.document_id == document_id
        )
        with self.reading() as connection:
            first, final = connection.execute(statement).one()
        low = -1 if first is None else int(first)
        return low, max(low, -1 if final is None else int(final))


def _count(connection: Any, table: Any, condition: Any) -> int:
    return int(
        connection.execute(select(func.count()).select_from(table).where(condition)).scalar()
    )
