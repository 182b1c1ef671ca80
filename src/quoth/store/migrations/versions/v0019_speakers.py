"""Who speaks in a document; known of the documents that are added from now on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import index_due
from quoth.store.rows import words

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Bring the catalogue one step forward."""
    table = "speakers"
    op.create_table(
        table,
        sa.Column("document_id", words(32), nullable=False),
        sa.Column("name", words(200), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("collection_id", words(32), nullable=False),
        sa.Column("checksum", sa.BigInteger),
        sa.PrimaryKeyConstraint("document_id", "name", name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f(f"fk_{table}_document_id_documents"),
            ondelete="CASCADE",
        ),
    )
    op.create_index(f"ix_{table}_collection", table, ["collection_id"])
    index_due(table, "checksum")
