"""Titles of stored questions, by which people find them again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("queries", sa.Column("title", words()))
