"""Checksums of documents and chunks, so that a damaged row is never quoted."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

BATCH = 1000
COLUMNS = {
    "documents": (
        *("id", "title", "kind", "chunks", "pages", "seconds", "language", "source", "url"),
        *("speaker", "date", "warnings"),
    ),
    "chunks": (
        *("id", "tenant", "document_id", "ordinal", "start", "end", "text", "prefix", "section"),
        *("kind", "language", "tokens", "locator", "places", "chapter", "segment", "date"),
    ),
}


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    for name, columns in COLUMNS.items():
        op.add_column(name, sa.Column("checksum", sa.BigInteger))
        fill(name, columns)


def fill(name: str, columns: Sequence[str]) -> None:
    """Compute the checksums of the rows without one, a page at a time."""
    connection = op.get_bind()
    table = sa.table(name, *map(sa.column, (*columns, "checksum")))
    due = sa.select(*(table.c[column] for column in columns)).where(table.c.checksum.is_(None))
    page = due.order_by(table.c.id).limit(BATCH)
    set_one = sa.update(table).where(table.c.id == sa.bindparam("key"))
    last = ""
    while rows := connection.execute(page.where(table.c.id > last)).all():
        last = rows[-1].id
        checksums = [{"key": row.id, "checksum": _checksum(row)} for row in rows]
        connection.execute(set_one.values(checksum=sa.bindparam("checksum")), checksums)


def _checksum(values: Sequence[object]) -> int:
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))
