"""When a speaker agreed that the microphone of a live session is transcribed."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions.v0009_all_checksums import COVERED, fill
from quoth.store.rows import words

revision = "0010"
down_revision = "0009"

LECTURES = sa.table("lectures", sa.column("id"), sa.column("checksum", sa.BigInteger()))


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("lectures", sa.Column("consent_at", words(40)))
    connection = op.get_bind()
    for key, checksum in connection.execute(sa.select(LECTURES)).all():
        if checksum is not None:
            # CRC-32 goes on where it stopped: the new column is the last one that it covers.
            sealed = zlib.crc32(b"\x1fNone", checksum)
            own = sa.update(LECTURES).where(LECTURES.c.id == key)
            connection.execute(own.values(checksum=sealed))


def downgrade() -> None:
    """Take the step back; the checksums are those over the columns that are left."""
    op.drop_column("lectures", "consent_at")
    fill("lectures", COVERED["lectures"].split())
