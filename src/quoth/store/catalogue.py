"""Reading and writing the catalogue, always for one tenant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from quoth.core.custom_metadata import MetadataValue
from quoth.core.types import Chunk, Document
from quoth.store.blobs import stored_name
from quoth.store.checksums import intact
from quoth.store.collections import CollectionRows
from quoth.store.history import QueryHistory
from quoth.store.job_rows import document_from_job
from quoth.store.outline import DOCUMENT, OutlineReader, write_map
from quoth.store.replaced import replacements, stored_text, write_replacements
from quoth.store.rows import (
    BATCH,
    ChunkContext,
    Collection,
    Entry,
    chunk_from_row,
    chunk_to_row,
    document_from_row,
    document_to_row,
    pack_metadata,
    parts,
    unpack_metadata,
)
from quoth.store.schema import chunks, collections, documents, jobs, tasks

# Statements of every question, made once: building them costs more than running them.
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
OF_CHUNKS = select(chunks).where(chunks.c.tenant == bindparam("tenant"), chunks.c.id.in_(_IDS))
# Looked up by id only, and the collection compared by the caller: SQLite would use the collection's
# index and scan all of its documents.
OF_DOCUMENTS = select(*DOCUMENT, documents.c.collection_id).where(
    documents.c.tenant == bindparam("tenant"), documents.c.id.in_(_IDS)
)
_HIT = chunks.alias("hit")
NEAR = (
    select(chunks)
    .join_from(
        _HIT,
        chunks,
        (chunks.c.document_id == _HIT.c.document_id)
        & (chunks.c.ordinal >= _HIT.c.ordinal - bindparam("window"))
        & (chunks.c.ordinal <= _HIT.c.ordinal + bindparam("window"))
        & (chunks.c.ordinal != _HIT.c.ordinal),
    )
    .where(_HIT.c.tenant == bindparam("tenant"), _HIT.c.id.in_(_IDS))
)


class Catalogue(CollectionRows, OutlineReader, QueryHistory):
    """The catalogue of one tenant: its collections, documents, chunks and history."""

    # --- documents ----------------------------------------------------------------------------

    def documents(self, collection: Collection) -> list[Document]:
        """List ready documents, then those that failed or are in progress."""
        ready = select(documents).where(self.for_tenant(documents, collection))
        waiting = select(jobs).where(self.for_tenant(jobs, collection))
        with self.reading() as connection:
            done = connection.execute(ready.order_by(documents.c.title, documents.c.id)).all()
            rest = connection.execute(waiting.order_by(jobs.c.source)).all()
        name = collection.name
        return [document_from_row(row, collection=name) for row in done] + [
            document_from_job(row, collection=name) for row in rest
        ]

    def documents_by_id(self, collection: Collection, ids: Sequence[str]) -> dict[str, Document]:
        """Return the ready documents among these ids."""
        found: dict[str, Document] = {}
        if not ids:
            return found
        with self.reading() as connection:
            for part in parts(ids):
                given = {"tenant": self.tenant, "ids": part}
                for row in intact(connection.execute(OF_DOCUMENTS, given).all(), extra=1):
                    if row.collection_id == collection.id:
                        found[row.id] = document_from_row(row, collection=collection.name)
        return found

    def source_of_document(self, document_id: str) -> str | None:
        """Return the source of a document, also of one that is being added."""
        with self.reading() as connection:
            for table, key in ((documents, documents.c.id), (jobs, jobs.c.document_id)):
                statement = select(table.c.source).where(
                    table.c.tenant == self.tenant, key == document_id
                )
                if (found := connection.execute(statement).first()) is not None:
                    return str(found.source)
        return None

    def added_since(self, collection: Collection, when: str) -> list[str]:
        """Return the titles of the documents that were added or replaced since this time."""
        statement = select(documents.c.title).where(
            self.for_tenant(documents, collection), documents.c.added_at > when
        )
        with self.reading() as connection:
            return [row.title for row in connection.execute(statement.order_by(documents.c.title))]

    def unchanged(self, collection: Collection, since: str) -> dict[str, int]:
        """Return the number of chunks of the ready documents that are as they were at a time."""
        statement = select(documents.c.id, documents.c.chunks).where(
            self.for_tenant(documents, collection), documents.c.added_at < since
        )
        with self.reading() as connection:
            return {row.id: row.chunks for row in connection.execute(statement)}

    def ready_ids(self, collection: Collection) -> set[str]:
        """Return the ids of all ready documents."""
        statement = select(documents.c.id).where(self.for_tenant(documents, collection))
        with self.reading() as connection:
            return {row.id for row in connection.execute(statement)}

    def passages(self, collection: Collection) -> int:
        """Return the number of chunks of the collection."""
        total = select(func.sum(documents.c.chunks)).where(self.for_tenant(documents, collection))
        with self.reading() as connection:
            return int(connection.execute(total).scalar() or 0)

    def labels(self, collection: Collection) -> dict[str, tuple[str, ...]]:
        """Return the printed page labels of every paged document, in page order."""
        statement = select(documents.c.id, documents.c.labels).where(
            self.for_tenant(documents, collection), documents.c.labels != "[]"
        )
        with self.reading() as connection:
            return {row.id: tuple(json.loads(row.labels)) for row in connection.execute(statement)}

    def commit(self, collection: Collection, entries: Sequence[Entry]) -> tuple[str, ...] | None:
        """Commit documents with their chunks; return the ids of those they replace.

        A document from the same source with other content is replaced: its rows are deleted in the
        same transaction, its index rows are left to the caller, its uploads are those of the new
        one, and its id leads there. Return None, without changes, where the collection uses another
        index table by now.
        """
        replaced: list[str] = []
        with self.writing("commit documents") as connection:
            table = select(collections.c.index_table).where(self._is_collection(collection))
            if connection.execute(table).scalar() != collection.table:
                return None
            for part in parts(entries):
                sources = {each.document.source: each.document.document_id for each in part}
                ids = {entry.document.document_id for entry in part}
                same_source = select(documents.c.id, documents.c.source).where(
                    self.for_tenant(documents, collection), documents.c.source.in_(sources)
                )
                old = {row.id: sources[row.source] for row in connection.execute(same_source)}
                replaced += sorted(old.keys() - ids)
                found = self._replacements(connection, old, entries=part)
                self._erase(connection, collection, old.keys() | ids)
                self._move_uploads(connection, old)
                self._write(connection, collection, part)
                write_replacements(connection, found, present=ids, tenant=self.tenant)
                done = jobs.c.document_id.in_(ids)
                failed_before = jobs.c.source.in_(sources) & (jobs.c.state == "failed")
                connection.execute(
                    delete(jobs).where(self.for_tenant(jobs, collection), done | failed_before)
                )
            self._bump(connection, collection)
        return tuple(replaced)

    def _replacements(
        self, connection: Connection, ids: Mapping[str, str], *, entries: Sequence[Entry]
    ) -> list[dict[str, Any]]:
        written = {entry.document.document_id: entry for entry in entries}
        return replacements(
            connection,
            {**ids, **{key: key for key in written}},
            text_of=lambda key: "".join(chunk.text for chunk in written[key].chunks),
            tenant=self.tenant,
        )

    def lead_to(self, *, old: str, new: str) -> None:
        """Let the id of a document lead to another, as `commit` does; both are still there."""
        with self.writing("replace document") as connection:
            found = replacements(
                connection,
                {old: new},
                text_of=partial(stored_text, connection, tenant=self.tenant),
                tenant=self.tenant,
            )
            write_replacements(connection, found, present={new}, tenant=self.tenant)

    def _move_uploads(self, connection: Connection, ids: Mapping[str, str]) -> None:
        """Point the uploads of replaced documents to the new ones; ``ids`` maps old to new."""
        if ids:
            its = (tasks.c.tenant == self.tenant) & tasks.c.document_id.in_(ids)
            new = case(ids, value=tasks.c.document_id)
            connection.execute(update(tasks).where(its).values(document_id=new))

    def remove(self, collection: Collection, ids: Sequence[str]) -> list[str]:
        """Delete documents, failed ones and those being read; return the ids found."""
        gone: list[str] = []
        with self.writing("remove documents") as connection:
            for part in parts(ids):
                ready = select(documents.c.id).where(
                    self.for_tenant(documents, collection), documents.c.id.in_(part)
                )
                waiting = select(jobs.c.document_id).where(
                    self.for_tenant(jobs, collection), jobs.c.document_id.in_(part)
                )
                found = {row[0] for row in connection.execute(ready.union(waiting))}
                self._erase(connection, collection, found)
                self._stop_uploads(connection, collection, found)
                connection.execute(
                    delete(jobs).where(
                        self.for_tenant(jobs, collection), jobs.c.document_id.in_(found)
                    )
                )
                gone += sorted(found)
            if gone:
                self._bump(connection, collection)
        return gone

    def _stop_uploads(self, connection: Connection, collection: Collection, ids: set[str]) -> None:
        """Delete the tasks of documents that are being read: they name none before their end."""
        sources = select(jobs.c.source).where(
            self.for_tenant(jobs, collection),
            jobs.c.document_id.in_(ids),
            jobs.c.state == "running",
        )
        names = [stored_name(source) for source in connection.execute(sources).scalars()]
        read = [name.partition(".")[0] for name in names if name]
        connection.execute(
            delete(tasks).where(
                tasks.c.tenant == self.tenant,
                tasks.c.collection == collection.name,
                tasks.c.state.in_(("queued", "running")),
                tasks.c.sha256.in_(read),
            )
        )

    def set_metadata(
        self, collection: Collection, document_id: str, metadata: Mapping[str, MetadataValue]
    ) -> None:
        """Replace the custom metadata of a ready document; its chunks and vectors stay."""
        with self.writing("change metadata") as connection:
            connection.execute(
                update(documents)
                .where(self.for_tenant(documents, collection), documents.c.id == document_id)
                .values(metadata=pack_metadata(metadata))
            )
            self._bump(connection, collection)

    def metadata_of_source(
        self, collection: Collection, source: str
    ) -> Mapping[str, MetadataValue]:
        """Return the custom metadata of the ready document from a source; empty without one."""
        statement = select(documents.c.metadata).where(
            self.for_tenant(documents, collection), documents.c.source == source
        )
        with self.reading() as connection:
            packed = connection.execute(statement.order_by(documents.c.added_at.desc())).scalar()
        return unpack_metadata(packed)

    def _write(
        self, connection: Connection, collection: Collection, entries: Sequence[Entry]
    ) -> None:
        tenant = self.tenant
        made = [
            document_to_row(entry, tenant=tenant, collection=collection.id) for entry in entries
        ]
        connection.execute(insert(documents), made)
        rows = [chunk_to_row(chunk, tenant=tenant) for entry in entries for chunk in entry.chunks]
        if rows:
            connection.execute(insert(chunks), rows)
        write_map(connection, entries, tenant=tenant, collection=collection)

    def _erase(self, connection: Connection, collection: Collection, ids: set[str]) -> None:
        """Delete documents of the collection with all dependent rows."""
        connection.execute(
            delete(documents).where(self.for_tenant(documents, collection), documents.c.id.in_(ids))
        )

    # --- chunks -------------------------------------------------------------------------------

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks of these ids that are there."""
        found: dict[str, Chunk] = {}
        with self.reading() as connection:
            for part in parts(ids):
                given = {"tenant": self.tenant, "ids": part}
                for row in intact(connection.execute(OF_CHUNKS, given).all()):
                    found[row[0]] = chunk_from_row(row)
        return found

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the document id of each of these chunks that is there."""
        found: dict[str, str] = {}
        with self.reading() as connection:
            for part in parts(ids):
                statement = select(chunks.c.id, chunks.c.document_id).where(
                    chunks.c.tenant == self.tenant, chunks.c.id.in_(part)
                )
                found.update((row.id, row.document_id) for row in connection.execute(statement))
        return found

    def chunk_contexts(
        self, collection: Collection, hits: Sequence[Chunk], *, window: int
    ) -> ChunkContext:
        """Return these chunks, up to `window` chunks on either side, and their documents."""
        found = {chunk.chunk_id: chunk for chunk in hits}
        if window and hits:
            with self.reading() as connection:
                for part in parts([chunk.chunk_id for chunk in hits]):
                    given = {"tenant": self.tenant, "ids": part, "window": window}
                    for row in intact(connection.execute(NEAR, given).all()):
                        if row[0] not in found:
                            found[row[0]] = chunk_from_row(row)
        owners = {each.document_id for each in found.values()}
        # A changed document has a new version, and a deleted one has no chunks.
        shelved = self.outlines(collection)
        known = {key: shelved[key] for key in owners & shelved.keys()}
        known |= self.documents_by_id(collection, sorted(owners - shelved.keys()))
        return ChunkContext({k: c for k, c in found.items() if c.document_id in known}, known)

    def chunk_ranges(self, ranges: Sequence[tuple[str, int, int]]) -> list[Chunk]:
        """Return the chunks of documents from a first to a last ordinal, inclusive, in order."""
        found: dict[str, Chunk] = {}
        with self.reading() as connection:
            for part in parts(ranges):
                wanted = (
                    and_(chunks.c.document_id == key, chunks.c.ordinal.between(first, last))
                    for key, first, last in part
                )
                statement = select(chunks).where(chunks.c.tenant == self.tenant, or_(*wanted))
                for row in intact(connection.execute(statement)):
                    found[row.id] = chunk_from_row(row)
        return sorted(found.values(), key=lambda each: (each.document_id, each.ordinal))

    def texts(self, collection: Collection) -> Iterator[tuple[str, str, str]]:
        """Return chunk id, document id and text of every chunk, in document order."""
        statement = (
            select(chunks.c.id, chunks.c.document_id, chunks.c.text)
            .join_from(documents, chunks, chunks.c.document_id == documents.c.id)
            .where(self.for_tenant(documents, collection))
            .order_by(chunks.c.document_id, chunks.c.ordinal)
        )
        with self.reading() as connection:
            for row in connection.execution_options(yield_per=BATCH).execute(statement):
                yield row.id, row.document_id, row.text

    def chunks_from(self, collection: Collection, sources: Sequence[str]) -> list[Chunk]:
        """Return all chunks of the ready documents that came from these sources."""
        ids: list[str] = []
        with self.reading() as connection:
            for part in parts(sources):
                statement = select(documents.c.id).where(
                    self.for_tenant(documents, collection), documents.c.source.in_(part)
                )
                ids += [row.id for row in connection.execute(statement)]
        return self.chunk_ranges([(each, 0, 2**31 - 1) for each in ids])

    def stored_text(self, document_id: str) -> str:
        """Return the stored text of a document; it is empty without one."""
        with self.reading() as connection:
            return stored_text(connection, document_id, tenant=self.tenant)

    def document_chunks(self, document_id: str) -> list[Chunk]:
        """Return all chunks of a document, in order; their texts joined are its stored text."""
        return self.chunk_ranges([(document_id, 0, 2**31 - 1)])
