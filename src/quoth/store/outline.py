"""Outlines of collections in the catalogue: names, places, summaries, links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from quoth.core.outline import CollectionOutline, Heading, Summary
from quoth.core.types import Chunk, Document, Filter
from quoth.store import outline_queries as map_queries
from quoth.store.database import Database
from quoth.store.rows import Collection
from quoth.store.schema import (
    documents,
    headings,
    links,
    summaries,
)
from quoth.store.tenant_connection import TenantConnection


class OutlineReader(TenantConnection):
    """Reader of the outlines of one tenant's collections."""

    def __init__(self, database: Database, *, tenant: str) -> None:
        super().__init__(database, tenant=tenant)
        self._shelves: dict[tuple[str, str], tuple[CollectionOutline, Mapping[str, Document]]] = {}

    def collection_outline(self, collection: Collection) -> CollectionOutline:
        """Return all that a question can refer to; cached until the collection changes."""
        state = (collection.id, collection.index_version)
        kept = self._shelves.get(state)
        if kept is None:
            found = self._read_shelf(collection)
            kept = found, {document.document_id: document for document in found.documents}
            others = {key: shelf for key, shelf in self._shelves.items() if key[0] != collection.id}
            self._shelves = {**others, state: kept}
        return kept[0]

    def outlines(self, collection: Collection) -> Mapping[str, Document]:
        """Return the documents of the cached outline by id; empty before it was read."""
        kept = self._shelves.get((collection.id, collection.index_version))
        return {} if kept is None else kept[1]

    def _read_shelf(self, collection: Collection) -> CollectionOutline:
        owned, mine = (self.for_tenant(table, collection) for table in (documents, headings))
        with self.reading() as connection:
            there = map_queries.all_documents(connection, owned=owned, name=collection.name)
            known = map_queries.all_headings(connection, mine=mine)
        counts = Counter(each.language or "" for each in there)
        languages = tuple(sorted(counts, key=lambda language: (-counts[language], language)))
        return CollectionOutline(collection.index_version, languages, tuple(there), known)

    def headings(self, collection: Collection, document_ids: Sequence[str]) -> list[Heading]:
        """Return all headings of these documents; an outline may hold only the leading ones."""
        mine = self.for_tenant(headings, collection)
        with self.reading() as connection:
            return map_queries.headings_of(connection, document_ids, mine=mine)

    def summaries(
        self,
        collection: Collection,
        document_ids: Sequence[str],
        *,
        level: int | None = None,
        path: Sequence[str] | None = None,
    ) -> list[Summary]:
        """Return summaries in the order of the ids, each document's before those of its parts."""
        mine = self.for_tenant(summaries, collection)
        with self.reading() as connection:
            return map_queries.find_summaries(
                connection, document_ids, mine=mine, level=level, path=path
            )

    def look_up(
        self, collection: Collection, *, filters: Sequence[Filter], limit: int
    ) -> list[Chunk]:
        """Return up to `limit` chunks that pass every filter, in the order of title and text."""
        owned = self.for_tenant(documents, collection)
        with self.reading() as connection:
            return map_queries.find_places(connection, filters, owned=owned, limit=limit)

    def related(
        self, collection: Collection, names: Sequence[str], *, limit: int
    ) -> list[tuple[str, int]]:
        """Return the names that occur with these (normalized), the most frequent first."""
        mine = self.for_tenant(links, collection)
        with self.reading() as connection:
            return map_queries.find_related(connection, names, mine=mine, limit=limit)
