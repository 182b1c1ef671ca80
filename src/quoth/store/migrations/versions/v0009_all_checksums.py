"""Checksums of every row, so that doctor, backup and the daily check find damage in any table."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from quoth.store.migrations.versions import v0007_checksums

revision = "0009"
down_revision = "0008"

BATCH = 1000
COVERED = {
    "documents": "tenant collection_id sha256 labels added_at",
    "collections": "id tenant name index_table identity version tuning created_at",
    "keys": "id tenant secret_hash label scopes created_at expires_at last_used revoked_at",
    "lectures": (
        "id tenant title language collections numbering state document_id created_at ended_at"
    ),
    "privacy": "tenant history retention_days may_leave updated_at",
    "queries": (
        "id tenant collection text plan index_version created_at status key_id upload_id "
        "total_ms input_tokens output_tokens usd degraded cached title"
    ),
    "sessions": "token_hash tenant key_id created_at expires_at",
    "shares": "id tenant token_hash collection created_at expires_at revoked_at lecture_id",
    "spending": "tenant day tokens",
    "tasks": (
        "id tenant collection name given size received sha256 state attempts owner "
        "lease_until document_id chunks of_chunks code message key_id created_at updated_at"
    ),
    "answers": "query_id tenant answer",
    "feedback": "query_id tenant rating comment created_at",
    "jobs": (
        "document_id tenant collection_id source title state attempts owner lease_until code "
        "message"
    ),
    "lecture_citations": (
        "id tenant lecture_id window_number rank document_id page_number citation created_at"
    ),
    "lecture_segments": "lecture_id id tenant start end text revision speaker language",
    "lecture_windows": "lecture_id number tenant start end text transcript_id created_at",
    "records": "query_id tenant record",
    "headings": "document_id number tenant collection_id path first last chapter segment leads",
    "spots": (
        "document_id ordinal tenant speaker labels page_first page_last second_start "
        "second_end chapter segment sections"
    ),
    "summaries": "document_id number tenant collection_id level path first last leaves",
}
"""What the new checksum of a table covers; documents have one over what answers show already."""
BOOLEANS = ("may_leave", "degraded", "cached", "leads")
KEYS = {
    "sessions": ("token_hash",),
    "privacy": ("tenant",),
    "spending": ("tenant", "day"),
    "answers": ("query_id",),
    "feedback": ("query_id",),
    "records": ("query_id",),
    "jobs": ("document_id",),
    "lecture_segments": ("lecture_id", "id"),
    "lecture_windows": ("lecture_id", "number"),
    "headings": ("document_id", "number"),
    "spots": ("document_id", "ordinal"),
    "summaries": ("document_id", "number"),
    "speakers": ("document_id", "name"),
}
"""The primary keys that are not ``id``."""


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    for table, covered in COVERED.items():
        op.add_column(table, sa.Column(_name(table), sa.BigInteger))
        fill(table, covered.split())
        index_due(table, _name(table))
    v0007_checksums.fill("documents", v0007_checksums.COLUMNS["documents"])  # some had none
    index_due("documents", "checksum")
    index_due("chunks", "checksum")


def _name(table: str) -> str:
    return "rest_checksum" if table == "documents" else "checksum"


def index_due(table: str, column: str) -> None:
    """Create the index of the rows of a table without a checksum."""
    due = sa.column(column).is_(None)
    keys = [*KEYS.get(table, ("id",))]
    name = f"ix_{table}_{column}_due"
    op.create_index(name, table, keys, sqlite_where=due, postgresql_where=due)


def extend(name: str, count: int) -> None:
    """Let the checksums of a table go on over new columns, all null, the last that they cover."""
    columns: list[sa.ColumnClause[Any]] = [sa.column(each) for each in KEYS.get(name, ("id",))]
    table = sa.table(name, sa.column("checksum", sa.BigInteger()), *columns)
    connection = op.get_bind()
    for checksum, *key in connection.execute(sa.select(table)).all():
        if checksum is not None:
            sealed = zlib.crc32(b"\x1fNone" * count, checksum)
            own = [column == value for column, value in zip(columns, key, strict=True)]
            connection.execute(sa.update(table).where(*own).values(checksum=sealed))


def fill(name: str, covered: Sequence[str]) -> None:
    """Compute the checksums of all rows, a page at a time."""
    connection = op.get_bind()
    names = dict.fromkeys((*KEYS.get(name, ("id",)), *covered))
    kinds = {each: sa.Boolean() if each in BOOLEANS else None for each in names}
    table = sa.table(
        name,
        *(sa.column(each, kind) for each, kind in kinds.items()),
        sa.column(_name(name), sa.BigInteger()),
    )
    keys = [table.c[each] for each in KEYS.get(name, ("id",))]
    page = sa.select(*keys, *(table.c[each].label(f"v_{each}") for each in covered))
    page = page.order_by(*keys).limit(BATCH)
    set_one = sa.update(table).where(
        *(key == sa.bindparam(f"key_{at}") for at, key in enumerate(keys))
    )
    after = page
    while rows := connection.execute(after).all():
        sealed = [
            {f"key_{at}": value for at, value in enumerate(row[: len(keys)])}
            | {"sealed": _checksum(row[len(keys) :])}
            for row in rows
        ]
        connection.execute(set_one.values({_name(name): sa.bindparam("sealed")}), sealed)
        after = page.where(sa.tuple_(*keys) > sa.tuple_(*rows[-1][: len(keys)]))


def _checksum(values: Sequence[object]) -> int:
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))
