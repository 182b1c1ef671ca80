"""Metadata of documents that their owners make up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend
from quoth.store.rows import words

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("documents", sa.Column("metadata", words()))
    extend("documents", 1)
