"""When a speaker agreed that the microphone of a live session is transcribed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend
from quoth.store.rows import words

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("lectures", sa.Column("consent_at", words(40)))
    extend("lectures", 1)
