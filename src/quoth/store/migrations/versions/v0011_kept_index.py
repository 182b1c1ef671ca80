"""The setting that opens a collection's embedder, and the index of the embedder before it."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0011"
down_revision = "0010"

COLLECTIONS = sa.table("collections", sa.column("id"), sa.column("checksum", sa.BigInteger()))


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    for name in ("embedder", "kept"):
        op.add_column("collections", sa.Column(name, words()))
    connection = op.get_bind()
    for key, checksum in connection.execute(sa.select(COLLECTIONS)).all():
        if checksum is not None:
            # CRC-32 goes on where it stopped: the new columns are the last ones that it covers.
            sealed = zlib.crc32(b"\x1fNone\x1fNone", checksum)
            own = sa.update(COLLECTIONS).where(COLLECTIONS.c.id == key)
            connection.execute(own.values(checksum=sealed))


def downgrade() -> None:
    """Take the step back; the checksums are computed again when the rows are written."""
    op.execute(sa.update(COLLECTIONS).values(checksum=None))
    for name in ("kept", "embedder"):
        op.drop_column("collections", name)
