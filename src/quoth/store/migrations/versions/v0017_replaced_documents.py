"""Documents that were replaced: where their ids lead to, and how much of both texts is the same."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import index_due
from quoth.store.rows import words

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Bring the catalogue one step forward; what was replaced before is not known."""
    table = "replaced_documents"
    op.create_table(
        table,
        sa.Column("id", words(32), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("document_id", words(32), nullable=False),
        sa.Column("same_until", sa.Integer, nullable=False),
        sa.Column("checksum", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f(f"fk_{table}_document_id_documents"),
            ondelete="CASCADE",
        ),
    )
    op.create_index(f"ix_{table}_document", table, ["document_id"])
    index_due(table, "checksum")
