"""Questions of each tenant by day, beside its tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("spending", sa.Column("questions", sa.BigInteger()))
    extend("spending", 1)
