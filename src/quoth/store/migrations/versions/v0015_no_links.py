"""Names that occur together are no longer stored: nothing is searched by them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0002_library_map import create_links
from quoth.store.migrations.versions.v0009_all_checksums import index_due

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Bring the catalogue one step forward."""
    op.drop_table("links")


def downgrade() -> None:
    """Take the step back; the table is empty until a document is added again."""
    create_links()
    op.add_column("links", sa.Column("checksum", sa.BigInteger()))
    index_due("links", "checksum")
