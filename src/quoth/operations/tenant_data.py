"""Export and deletion of all data of one tenant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Table, delete, select

from quoth.store.blobs import source_name
from quoth.store.database import TenantConnection
from quoth.store.metadata import metadata
from quoth.store.rows import now
from quoth.text.json_codec import dump

HANDED_OUT = tuple(table for table in metadata.sorted_tables if table.name != "spots")
"""Tables of the tenant export; the one that is left out is derived from the chunks."""
HIDDEN = (
    *("tenant", "secret_hash", "token_hash", "owner", "lease_until", "index_table"),
    *("checksum", "rest_checksum"),
)
"""Columns that are never exported: secrets and internals."""
PACKED = (
    *("plan", "answer", "record", "identity", "tuning", "given", "locator", "places", "labels"),
    *("collections", "citation"),
)
"""Columns that are JSON, handed out as what they say."""
MACHINE = re.compile(r"(?:file://)?/\S*/")
"""The folders of a path in a message."""
KEPT = ("audit", "keys", "sessions", "privacy", "spending")
"""Tables that stay when a tenant deletes everything."""
DELETED = tuple(table for table in reversed(metadata.sorted_tables) if table.name not in KEPT)
"""What goes when a tenant deletes everything, what hangs on other rows first.

The audit log stays and records the deletion; so do the keys, needed to read the proof, and
the used tokens, which are needed to limit them.
"""
WEB = ("http://", "https://")
BATCH = 500


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """Receipt of a deletion: number of rows by table, and the digest of all rows.

    An export made just before gives the same digest by `digest_of`.
    """

    rows: Mapping[str, int]
    digest: str
    deleted_at: str


class TenantData(TenantConnection):
    """All rows of one tenant."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return every row, with its ``table``, without holding them all."""
        with self.reading() as connection:
            for table in HANDED_OUT:
                yield from self._rows(connection, table)

    def delete(self) -> DeletionReceipt:
        """Delete all data of the tenant except keys, audit, privacy settings and token counts."""
        counts = {}
        with self.writing("delete everything") as connection:
            given = (table for table in HANDED_OUT if table in DELETED)
            rows = (row for table in given for row in self._rows(connection, table))
            digest = digest_of(rows)
            for table in DELETED:
                own = table.c.tenant == self.tenant
                counts[table.name] = connection.execute(delete(table).where(own)).rowcount
        return DeletionReceipt(counts, digest, now())

    def _rows(self, connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
        statement = select(table).where(table.c.tenant == self.tenant)
        ordered = statement.order_by(*table.primary_key.columns)
        for row in connection.execute(ordered.execution_options(yield_per=BATCH)):
            shown = {
                name: _shown(name, value)
                for name, value in row._mapping.items()
                if name not in HIDDEN
            }
            yield {"table": table.name, **shown}


def digest_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of exported rows, of those tables only that a deletion covers."""
    digest = sha256()
    gone = {table.name for table in DELETED}
    for row in rows:
        if row["table"] in gone:
            digest.update(dump(dict(sorted(row.items()))).encode("utf-8", "replace") + b"\n")
    return digest.hexdigest()


def _shown(name: str, value: Any) -> Any:
    """Read stored JSON and remove paths of this machine."""
    if name in PACKED and isinstance(value, str):
        return _without_paths(json.loads(value))
    if name == "source":
        return value if value.startswith(WEB) else source_name(value)
    return MACHINE.sub("", value) if name == "message" and value else value


def _without_paths(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_paths(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_paths(each) for each in value]
    return source_name(value) if isinstance(value, str) and value.startswith("file:") else value
