"""How satisfied readers are, and counts of supported sentences and cited passages of answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import extend

revision = "0018"
down_revision = "0017"

MEASURES = ("sentences_checked", "sentences_supported", "passages_in_context", "passages_cited")


def upgrade() -> None:
    """Bring the catalogue one step forward; answers that were given before are not measured."""
    for name in MEASURES:
        op.add_column("queries", sa.Column(name, sa.Integer))
    extend("queries", len(MEASURES))
    op.add_column("feedback", sa.Column("satisfaction", sa.Integer))
    extend("feedback", 1)
