"""Live sessions: lectures, what was said, the windows looked up, and what they cite."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    op.add_column("shares", sa.Column("lecture_id", words(36)))
    op.create_table(
        "lectures",
        sa.Column("id", words(36), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("title", words(), nullable=False),
        sa.Column("language", words(10)),
        sa.Column("collections", words(), nullable=False),
        sa.Column("numbering", words(10), nullable=False),
        sa.Column("state", words(10), nullable=False),
        sa.Column("document_id", words(32)),
        sa.Column("created_at", words(40), nullable=False),
        sa.Column("ended_at", words(40)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lectures")),
    )
    op.create_index("ix_lectures_tenant_created_at", "lectures", ["tenant", "created_at"])
    op.create_table(
        "lecture_segments",
        sa.Column("lecture_id", words(36), nullable=False),
        sa.Column("id", words(100), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("start", sa.Float, nullable=False),
        sa.Column("end", sa.Float, nullable=False),
        sa.Column("text", words(), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("speaker", words()),
        sa.Column("language", words(10)),
        sa.PrimaryKeyConstraint("lecture_id", "id", name=op.f("pk_lecture_segments")),
        _of_lecture("lecture_segments"),
    )
    op.create_table(
        "lecture_windows",
        sa.Column("lecture_id", words(36), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("start", sa.Float, nullable=False),
        sa.Column("end", sa.Float, nullable=False),
        sa.Column("text", words(), nullable=False),
        sa.Column("transcript_id", words(100), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("lecture_id", "number", name=op.f("pk_lecture_windows")),
        _of_lecture("lecture_windows"),
    )
    op.create_table(
        "lecture_citations",
        sa.Column("id", words(36), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("lecture_id", words(36), nullable=False),
        sa.Column("window_number", sa.Integer, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("document_id", words(32), nullable=False),
        sa.Column("page_number", sa.Integer),
        sa.Column("citation", words(), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lecture_citations")),
        _of_lecture("lecture_citations"),
    )
    op.create_index(
        "ix_lecture_citations_lecture",
        "lecture_citations",
        ["lecture_id", "window_number", "rank"],
    )
    op.create_index(
        "ix_lecture_citations_document",
        "lecture_citations",
        ["tenant", "document_id", "page_number"],
    )


def _of_lecture(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["lecture_id"],
        ["lectures.id"],
        name=op.f(f"fk_{table}_lecture_id_lectures"),
        ondelete="CASCADE",
    )
