"""Texts of questions and answers in folded letters, so that a search decodes no answer."""

from __future__ import annotations

import zlib
from typing import Any

import sqlalchemy as sa
from alembic import op

from quoth.store.history import folded_texts
from quoth.store.migrations.versions.v0009_all_checksums import BATCH
from quoth.store.rows import words

revision = "0013"
down_revision = "0012"

QUERIES = sa.table(
    "queries",
    *map(sa.column, ("id", "text", "title", "folded")),
    sa.column("checksum", sa.BigInteger()),
)
ANSWERS = sa.table("answers", *map(sa.column, ("query_id", "answer")))


def upgrade() -> None:
    """Bring the catalogue one step forward; checksums go on over the new column."""
    op.add_column("queries", sa.Column("folded", words(), nullable=False, server_default=""))
    connection = op.get_bind()
    page = (
        sa.select(QUERIES, ANSWERS.c.answer)
        .outerjoin_from(QUERIES, ANSWERS, QUERIES.c.id == ANSWERS.c.query_id)
        .order_by(QUERIES.c.id)
        .limit(BATCH)
    )
    set_one = sa.update(QUERIES).where(QUERIES.c.id == sa.bindparam("key"))
    set_one = set_one.values(folded=sa.bindparam("new"), checksum=sa.bindparam("sealed"))
    after = page
    while rows := connection.execute(after).all():
        connection.execute(set_one, [_folded(row) for row in rows])
        after = page.where(QUERIES.c.id > rows[-1].id)


def _folded(row: Any) -> dict[str, object]:
    folded = folded_texts(row.text, row.title, row.answer or "")
    added = f"\x1f{folded}".encode("utf-8", "surrogatepass")
    sealed = None if row.checksum is None else zlib.crc32(added, row.checksum)
    return {"key": row.id, "new": folded, "sealed": sealed}
