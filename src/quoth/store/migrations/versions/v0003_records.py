"""Records of how each answer was made, and the status of each question."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0003"
down_revision = "0002"

BATCH = 200


def upgrade() -> None:
    """Upgrade the schema by one step; existing queries keep their answers."""
    op.add_column("queries", sa.Column("status", words(20), nullable=False, server_default=""))
    op.create_index("ix_queries_tenant_created_at", "queries", ["tenant", "created_at"])
    op.create_table(
        "records",
        sa.Column("query_id", words(32), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("record", words(), nullable=False),
        sa.PrimaryKeyConstraint("query_id", name=op.f("pk_records")),
        sa.ForeignKeyConstraint(
            ["query_id"],
            ["queries.id"],
            name=op.f("fk_records_query_id_queries"),
            ondelete="CASCADE",
        ),
    )
    _fill_in(op.get_bind())


def _fill_in(connection: sa.Connection) -> None:
    """Copy the status of every stored answer to its question."""
    queries = sa.table("queries", sa.column("id"), sa.column("status"))
    answers = sa.table("answers", sa.column("query_id"), sa.column("answer"))
    some = sa.select(answers).order_by(answers.c.query_id).limit(BATCH)
    last = ""
    while found := connection.execute(some.where(answers.c.query_id > last)).all():
        for row in found:
            status = str(json.loads(row.answer).get("status", ""))[:20]
            connection.execute(
                sa.update(queries).where(queries.c.id == row.query_id).values(status=status)
            )
        last = found[-1].query_id
