"""Sessions of browsers that signed in with a key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.create_table(
        "sessions",
        sa.Column("token_hash", words(64), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("key_id", words(20), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.Column("expires_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_index("ix_sessions_tenant", "sessions", ["tenant"])
