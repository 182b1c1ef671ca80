"""Outlines of collections in the catalogue: names, places, summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Float, and_, false, func, insert, literal, or_, select

from quoth.core.outline import CollectionOutline, Heading, Summary
from quoth.core.types import Chunk, Document, Filter
from quoth.store.checksums import intact
from quoth.store.database import Database, TenantConnection
from quoth.store.outline_rows import (
    BETWEEN,
    heading_rows,
    join_labels,
    speaker_rows,
    spot_row,
    summary_from_row,
    summary_rows,
)
from quoth.store.rows import Collection, Entry, chunk_from_row, document_from_row
from quoth.store.schema import (
    SHOWN,
    chunks,
    documents,
    headings,
    speakers,
    spots,
    summaries,
)
from quoth.text.analyzer import normalize_name
from quoth.text.locators import SEVERAL, has_speakers, speaker_filters

MAX_HEADINGS = 20_000
"""Headings of a library beyond which only those are kept in memory that lead: tops, chapters and
segments; and of these no more than this."""
BATCH = 400
DOCUMENT = (*(documents.c[name] for name in SHOWN), documents.c.checksum)
"""What is read of a document; the labels of its pages may be many."""

_IN: Mapping[str, Any] = {
    "document": documents.c.id,
    "kind": documents.c.kind,
    "language": documents.c.language,
    "chapter": spots.c.chapter,
    "segment": spots.c.segment,
}
_OVERLAPS: Mapping[str, tuple[Any, Any]] = {
    "page": (spots.c.page_first, spots.c.page_last),
    "seconds": (spots.c.second_start, spots.c.second_end),
}


def write_map(
    connection: Connection, entries: Sequence[Entry], *, tenant: str, collection: Collection
) -> None:
    """Insert the outline rows of the entries; their documents and chunks must exist."""
    for table, rows in (
        (spots, [spot_row(chunk, tenant=tenant) for entry in entries for chunk in entry.chunks]),
        (headings, _rows(heading_rows, entries, tenant=tenant, collection=collection)),
        (summaries, _rows(summary_rows, entries, tenant=tenant, collection=collection)),
        (speakers, _rows(speaker_rows, entries, tenant=tenant, collection=collection)),
    ):
        if rows:
            connection.execute(insert(table), rows)


def _rows(
    make: Any, entries: Sequence[Entry], *, tenant: str, collection: Collection
) -> list[dict[str, Any]]:
    return [
        row for entry in entries for row in make(entry, tenant=tenant, collection=collection.id)
    ]


def all_documents(connection: Connection, *, owned: Any, name: str) -> list[Document]:
    """Return the ready documents, by title; ``name`` is the collection's."""
    statement = select(*DOCUMENT).where(owned).order_by(documents.c.title, documents.c.id)
    rows = intact(connection.execute(statement))
    return [document_from_row(row, collection=name) for row in rows]


def _headings(rows: Iterable[Any]) -> Iterator[Heading]:
    paths: dict[str, tuple[str, ...]] = {}
    for document_id, _number, _tenant, _collection, packed, *more in intact(rows):
        first, last, chapter, segment, _leads, _checksum = more
        path = paths.get(packed)
        if path is None:
            path = paths[packed] = tuple(packed.split(BETWEEN)) if packed else ()
        yield Heading(document_id, path, first, last, chapter, segment)


def _condition(each: Filter) -> Any:
    values = each.values
    if each.field == "label":
        return _holds(spots.c.labels, [str(value).casefold() for value in values])
    if each.field == "section":
        return _holds(spots.c.sections, [normalize_name(str(value)) for value in values])
    if each.field == "date":
        low, high = (_day(int(value)) for value in values)
        # "2024" and "2024-03" include every day in them: a prefix sorts before its extensions, and
        # after them with a character appended that sorts after hyphens and digits.
        return and_(documents.c.date <= high, documents.c.date + "~" >= low)
    if each.field == "speaker":
        names = [*map(str, values)]
        by_author = and_(spots.c.speaker == "", documents.c.speaker.in_(names))
        return or_(spots.c.speaker.in_([*names, SEVERAL]), by_author)
    if each.operator == "in":
        return _IN[each.field].in_([str(value) for value in values])
    first, last = _OVERLAPS[each.field]
    # As numbers of any size: a server refuses a page that is too great for the column.
    least, most = (literal(float(value), Float) for value in values)
    return and_(first <= most, last >= least)


def _holds(column: Any, values: Sequence[str]) -> Any:
    # An empty value would be found in every row.
    found = [
        column.contains(join_labels(value), autoescape=True) for value in values if value.strip()
    ]
    return or_(false(), *found)


def _day(number: int) -> str:
    digits = f"{number:08d}"
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"


class OutlineReader(TenantConnection):
    """Reader of the outlines of one tenant's collections."""

    def __init__(self, database: Database, *, tenant: str) -> None:
        super().__init__(database, tenant=tenant)
        self._outlines: dict[tuple[str, str], tuple[CollectionOutline, Mapping[str, Document]]] = {}

    def collection_outline(self, collection: Collection) -> CollectionOutline:
        """Return all that a question can refer to; cached until the collection changes."""
        state = (collection.id, collection.index_version)
        kept = self._outlines.get(state)
        if kept is None:
            owned = self.for_tenant(documents, collection)
            with self.reading() as connection:
                there = all_documents(connection, owned=owned, name=collection.name)
                known = self._leading_headings(connection, collection)
                speaking = self._speakers(connection, collection)
            counts = Counter(each.language or "" for each in there)
            languages = tuple(sorted(sorted(counts), key=counts.__getitem__, reverse=True))
            found = CollectionOutline(
                collection.index_version, languages, tuple(there), known, speaking
            )
            kept = found, {document.document_id: document for document in found.documents}
            others = {
                key: outline for key, outline in self._outlines.items() if key[0] != collection.id
            }
            self._outlines = {**others, state: kept}
        return kept[0]

    def _speakers(
        self, connection: Connection, collection: Collection
    ) -> tuple[tuple[str, str], ...]:
        """Return the names of those who speak in documents, each with the id of its document."""
        mine = select(speakers).where(self.for_tenant(speakers, collection))
        rows = connection.execute(mine.order_by(speakers.c.document_id, speakers.c.name))
        return tuple((row.name, row.document_id) for row in intact(rows))

    def _leading_headings(
        self, connection: Connection, collection: Collection
    ) -> tuple[Heading, ...]:
        """Return the headings in the order of documents and text; of many only those that lead."""
        mine = self.for_tenant(headings, collection)
        some = select(headings.c.number).where(mine).limit(MAX_HEADINGS + 1).subquery()
        count = connection.execute(select(func.count()).select_from(some)).scalar_one()
        leads = [headings.c.leads] if count > MAX_HEADINGS else []
        statement = select(headings).where(mine, *leads)
        statement = statement.order_by(headings.c.document_id, headings.c.number)
        return tuple(_headings(connection.execute(statement.limit(MAX_HEADINGS))))

    def outlines(self, collection: Collection) -> Mapping[str, Document]:
        """Return the documents of the cached outline by id; empty before it was read."""
        kept = self._outlines.get((collection.id, collection.index_version))
        return {} if kept is None else kept[1]

    def headings(self, collection: Collection, document_ids: Sequence[str]) -> list[Heading]:
        """Return all headings of these documents; an outline may hold only the leading ones."""
        mine = self.for_tenant(headings, collection)
        found: list[Heading] = []
        with self.reading() as connection:
            for at in range(0, len(document_ids), BATCH):
                these = headings.c.document_id.in_(document_ids[at : at + BATCH])
                statement = select(headings).where(mine, these)
                statement = statement.order_by(headings.c.document_id, headings.c.number)
                found += _headings(connection.execute(statement))
        return found

    def summaries(
        self,
        collection: Collection,
        document_ids: Sequence[str],
    ) -> list[Summary]:
        """Return summaries in the order of the ids, each document's before those of its parts."""
        owned = self.for_tenant(summaries, collection)
        found: list[Summary] = []
        with self.reading() as connection:
            for at in range(0, len(document_ids), BATCH):
                these = summaries.c.document_id.in_(document_ids[at : at + BATCH])
                rows = connection.execute(select(summaries).where(owned, these))
                found += [summary_from_row(row) for row in intact(rows)]
        order = {key: number for number, key in enumerate(document_ids)}
        return sorted(found, key=lambda each: (order[each.document_id], each.level, each.first))

    def look_up(
        self, collection: Collection, *, filters: Sequence[Filter], limit: int
    ) -> list[Chunk]:
        """Return up to `limit` chunks that pass every filter, in the order of title and text."""
        owned = self.for_tenant(documents, collection)
        statement = (
            select(spots.c.document_id, spots.c.ordinal, documents.c.speaker)
            .join_from(documents, spots, spots.c.document_id == documents.c.id)
            .where(owned, *(_condition(each) for each in filters))
            .order_by(documents.c.title, documents.c.id, spots.c.ordinal)
        )
        if not speaker_filters(filters):
            statement = statement.limit(limit)
        passed: list[Chunk] = []
        with self.reading() as connection:
            authors = {(row[0], row[1]): row[2] or "" for row in connection.execute(statement)}
            keys = list(authors)
            for at in range(0, len(keys), BATCH):
                if len(passed) >= limit:
                    break
                part = keys[at : at + BATCH]
                pairs = (
                    and_(chunks.c.document_id == key, chunks.c.ordinal == ordinal)
                    for key, ordinal in part
                )
                rows = connection.execute(select(chunks).where(or_(*pairs)))
                found = {
                    (row.document_id, row.ordinal): chunk_from_row(row) for row in intact(rows)
                }
                # The column names the speaker of a passage that has only one.
                passed += [
                    found[key]
                    for key in part
                    if key in found and has_speakers(found[key], filters, author=authors[key])
                ]
        return passed[:limit]
