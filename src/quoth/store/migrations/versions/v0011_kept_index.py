"""The setting that opens a collection's embedder, and the index of the embedder before it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend
from quoth.store.rows import words

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    for name in ("embedder", "kept"):
        op.add_column("collections", sa.Column(name, words()))
    extend("collections", 2)
