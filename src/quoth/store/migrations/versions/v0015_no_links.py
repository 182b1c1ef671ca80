"""Names that occur together are no longer stored: nothing is searched by them."""

from __future__ import annotations

from alembic import op


revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Bring the catalogue one step forward; only those of 0002 to 0014 have the table."""
    op.drop_table("links", if_exists=True)
