"""Documents that a live session cites one by one, beside its collections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend
from quoth.store.rows import words

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("lectures", sa.Column("documents", words()))
    extend("lectures", 1)
