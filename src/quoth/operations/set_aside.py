"""Takes damaged rows out of the catalogue, so that it is whole again and can be backed up.

A copy of the catalogue as it was is kept. What other rows belong to (a collection, a document, a
query, a live session) gets a row that says no more than is known, so that these are not lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from quoth.core.types import IndexIdentity
from quoth.operations.integrity import Damage, DamagedRow
from quoth.store.copy import snapshot
from quoth.store.database import ALL_TENANTS, Database
from quoth.store.lecture_tables import lectures
from quoth.store.metadata import metadata
from quoth.store.privacy_settings import PrivacySettings
from quoth.store.rows import now
from quoth.store.schema import (
    CHECKSUMS,
    chunks,
    collections,
    documents,
    headings,
    privacy,
    queries,
    tasks,
)
from quoth.text.json_codec import dump, to_json

MAX_PARENTS = 10_000
UNKNOWN = IndexIdentity("", "", 0, "", "", "")
"""The identity of an index that is to be built again."""


def set_aside(
    database: Database, damage: Mapping[DamagedRow, Damage], *, home: Path
) -> Iterator[str]:
    """Remove these damaged rows, or put what is known in their place; tell about each.

    The first line names the copy of the catalogue as it was.
    """
    kept = home / f"catalogue.{datetime.now(UTC):%Y%m%d-%H%M%S}.damaged"
    snapshot(database, kept)
    kept.chmod(0o600)
    yield f"The catalogue as it was is kept as {kept.name}; delete it when it is of no use."
    with database.writing(ALL_TENANTS) as connection:
        for row, each in damage.items():
            done = _set_aside(connection, row, is_file=database.is_file)
            yield f"{done}, unless a backup holds it: {each.what}"
        _adopt(connection)
        its_chunks = select(func.count()).where(chunks.c.document_id == documents.c.id)
        count = its_chunks.scalar_subquery()
        connection.execute(
            update(documents).where(documents.c.chunks != count).values(chunks=count)
        )


def _set_aside(connection: Connection, row: DamagedRow, *, is_file: bool) -> str:
    table = metadata.tables[row.table]
    keys = table.primary_key.columns
    # The row's own number also finds one whose key is damaged.
    its: ColumnElement[bool] = (
        literal_column("rowid") == row.number
        if is_file
        else and_(*(key == value for key, value in zip(keys, row.key, strict=True)))
    )
    known = _known(connection, table, row.key[0])
    if known is None:
        connection.execute(delete(table).where(its))
        return "Lost"
    connection.execute(update(table).where(its).values(known))
    return "Lost but for its name"


def _adopt(connection: Connection) -> None:
    """Set a new parent for rows whose parent was removed because its key was damaged."""
    for parent in (collections, documents, queries, lectures):
        (own,) = parent.primary_key.columns
        for child in _children(parent):
            key = _reference(child, parent)
            lost = select(key).where(key.not_in(select(own))).distinct().limit(MAX_PARENTS)
            for (value,) in connection.execute(lost).all():
                if (known := _known(connection, parent, value)) is not None:
                    connection.execute(insert(parent).values({own.name: value, **known}))


def _known(connection: Connection, table: Table, key: object) -> Mapping[str, Any] | None:
    """Return the values that a row of the table can have without its own, by its key."""
    if table is privacy:
        strict = PrivacySettings(history="off", may_leave=False)
        values = {"history": strict.history, "retention_days": strict.retention_days}
        return values | {"may_leave": False, "updated_at": now()}
    tenant = _tenant(connection, table, key)
    if tenant is None:
        return None
    checksums = {each.column.name for each in CHECKSUMS}
    empty = [each.name for each in table.columns if each.nullable and each.name not in checksums]
    row = {"tenant": tenant, **_stand_in(connection, table, str(key), tenant=tenant)}
    return dict.fromkeys(empty) | row if row.get("collection_id", key) else None


def _tenant(connection: Connection, table: Table, key: object) -> str | None:
    """Return the tenant of the rows that belong to a row."""
    for child in _children(table):
        found = select(child.c.tenant).where(_reference(child, table) == key).limit(1)
        if (tenant := connection.execute(found).scalar()) is not None:
            return str(tenant)
    return None


def _stand_in(connection: Connection, table: Table, key: str, *, tenant: str) -> dict[str, Any]:
    at = now()
    name = f"recovered-{key[:8]}"
    if table is collections:
        row = {
            "name": _collection_name(connection, key, tenant) or name,
            "index_table": f"c_{key}_{uuid4().hex[:12]}",
        }
        return row | {"identity": dump(to_json(UNKNOWN)), "version": 0, "created_at": at}
    if table is queries:
        row = {"collection": "", "text": name, "plan": "", "index_version": "", "status": ""}
        return row | {"created_at": at}
    if table is lectures:
        row = {"title": name, "collections": "[]", "numbering": "", "state": "ended"}
        return row | {"created_at": at}
    one = select(chunks.c.kind, chunks.c.language).where(chunks.c.document_id == key).limit(1)
    kind, language = connection.execute(one).first() or ("text", "en")
    count = select(func.count()).where(chunks.c.document_id == key)
    places = (
        select(documents.c.collection_id.label("at"))
        .where(documents.c.id == key)
        .union_all(select(headings.c.collection_id).where(headings.c.document_id == key))
    )
    own = select(collections.c.id).where(collections.c.tenant == tenant)
    known = own.where(collections.c.id.in_(select(places.subquery().c.at))).limit(1)
    return {
        "collection_id": connection.execute(known).scalar() or connection.execute(own).scalar(),
        **{"sha256": "", "source": f"recovered:{key}", "title": name, "kind": kind},
        **{"language": language, "labels": "[]", "warnings": "[]", "added_at": at},
        "chunks": connection.execute(count).scalar_one(),
    }


def _collection_name(connection: Connection, key: str, tenant: str) -> str | None:
    """Return the name in the damaged row, if the tenant's uploads or queries name it, too.

    Where its key was damaged, that which they name and no other collection has.
    """
    used = select(tasks.c.collection).where(tasks.c.tenant == tenant)
    asked = select(queries.c.collection).where(queries.c.tenant == tenant)
    names = set(connection.execute(used.union(asked)).scalars())
    known = select(collections.c.id, collections.c.name).where(collections.c.tenant == tenant)
    others = {row.id: row.name for row in connection.execute(known)}
    own = others.pop(key, None)
    names -= {*others.values(), ""}
    return own if own in names else names.pop() if len(names) == 1 else None


def _children(parent: Table) -> list[Table]:
    return [
        table
        for table in metadata.sorted_tables
        if any(key.column.table is parent for key in table.foreign_keys)
    ]


def _reference(child: Table, parent: Table) -> Any:
    return next(key.parent for key in child.foreign_keys if key.column.table is parent)
