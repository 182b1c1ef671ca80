"""Add places, headings, summaries, dates and the tuning of collections."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0002"
down_revision = "0001"

BATCH = 500


def upgrade() -> None:
    """Bring the catalogue one step forward; the locators of existing chunks stay."""
    op.add_column("collections", sa.Column("tuning", words(), nullable=True))
    op.add_column("documents", sa.Column("date", words(40), nullable=True))
    for name in ("chapter", "segment"):
        op.add_column("chunks", sa.Column(name, words(20), nullable=False, server_default=""))
    op.add_column("chunks", sa.Column("date", words(40), nullable=True))
    spots = op.create_table(
        "spots",
        *_of_document("spots", "ordinal"),
        sa.Column("speaker", words(), nullable=False),
        sa.Column("labels", words(), nullable=False),
        sa.Column("page_first", sa.Integer(), nullable=True),
        sa.Column("page_last", sa.Integer(), nullable=True),
        sa.Column("second_start", sa.Float(), nullable=True),
        sa.Column("second_end", sa.Float(), nullable=True),
        sa.Column("chapter", words(20), nullable=False),
        sa.Column("segment", words(20), nullable=False),
        sa.Column("sections", words(), nullable=False),
    )
    op.create_table(
        "headings",
        *_of_document("headings", "number"),
        sa.Column("collection_id", words(32), nullable=False),
        sa.Column("path", words(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("chapter", words(20), nullable=False),
        sa.Column("segment", words(20), nullable=False),
        sa.Column("leads", sa.Boolean(), nullable=False),
    )
    order = ["collection_id", "leads", "document_id", "number"]
    op.create_index("ix_headings_collection_order", "headings", order)
    op.create_table(
        "summaries",
        *_of_document("summaries", "number"),
        sa.Column("collection_id", words(32), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("path", words(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("leaves", words(), nullable=False),
    )
    rows: list[dict[str, Any]] = []
    for row in _spots(op.get_bind()):
        rows.append(row)
        if len(rows) == BATCH:
            op.bulk_insert(spots, rows)
            rows = []
    if rows:
        op.bulk_insert(spots, rows)


def _of_document(table: str, *key: str) -> Iterator[Any]:
    yield sa.Column("document_id", words(32), nullable=False)
    for name in key:
        yield sa.Column(name, sa.Integer(), nullable=False)
    yield sa.Column("tenant", words(100), nullable=False)
    yield sa.PrimaryKeyConstraint("document_id", *key, name=op.f(f"pk_{table}"))
    yield sa.ForeignKeyConstraint(
        ["document_id"],
        ["documents.id"],
        name=op.f(f"fk_{table}_document_id_documents"),
        ondelete="CASCADE",
    )


def _spots(connection: Any) -> Iterator[dict[str, Any]]:
    """Return the places of all chunks, in the encoding used by this step."""
    names = ("id", "document_id", "ordinal", "tenant", "locator", "places", "section")
    chunks = sa.table("chunks", *(sa.column(name) for name in names))
    statement = sa.select(chunks).order_by(chunks.c.id).limit(BATCH)
    last = ""
    while True:
        found = connection.execute(statement.where(chunks.c.id > last)).all()
        if not found:
            return
        yield from (_spot(row) for row in found)
        last = found[-1].id


def _spot(row: Any) -> dict[str, Any]:
    locator = json.loads(row.locator)
    every = [locator, *(place[3] for place in json.loads(row.places))]
    labels = sorted({label.casefold() for each in every if each[0] == "p" for label in each[3:5]})
    titles = [_folded(title) for title in json.loads(row.section)]
    paged, timed = locator[0] == "p", locator[0] == "s"
    return {
        "document_id": row.document_id,
        "ordinal": row.ordinal,
        "tenant": row.tenant,
        "speaker": (locator[3] or "") if timed else "",
        "labels": f"|{'|'.join(labels)}|" if labels else "",
        "page_first": locator[1] if paged else None,
        "page_last": locator[2] if paged else None,
        "second_start": locator[1] if timed else None,
        "second_end": locator[2] if timed else None,
        "chapter": "",
        "segment": "",
        "sections": f"|{'|'.join(titles)}|" if titles else "",
    }


def _folded(title: str) -> str:
    flat = unicodedata.normalize("NFKD", " ".join(title.casefold().split()))
    return "".join(c for c in flat if not "\u0300" <= c <= "\u036f").replace("’", "'")
