"""Tables of live lectures: sessions, their segments and windows, and what was cited."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, Table

from quoth.store.metadata import metadata
from quoth.store.rows import words

lectures = Table(
    "lectures",
    metadata,
    Column("id", words(36), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("title", words(), nullable=False),
    Column("language", words(10)),
    Column("collections", words(), nullable=False),
    Column("numbering", words(10), nullable=False),
    Column("state", words(10), nullable=False),
    Column("document_id", words(32)),
    Column("created_at", words(40), nullable=False),
    Column("ended_at", words(40)),
    Column("consent_at", words(40)),
    Column("documents", words()),
    Index("ix_lectures_tenant_created_at", "tenant", "created_at"),
)

lecture_segments = Table(
    "lecture_segments",
    metadata,
    Column("lecture_id", ForeignKey("lectures.id", ondelete="CASCADE"), primary_key=True),
    Column("id", words(100), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("start", Float, nullable=False),
    Column("end", Float, nullable=False),
    Column("text", words(), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("speaker", words()),
    Column("language", words(10)),
)

lecture_windows = Table(
    "lecture_windows",
    metadata,
    Column("lecture_id", ForeignKey("lectures.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("start", Float, nullable=False),
    Column("end", Float, nullable=False),
    Column("text", words(), nullable=False),
    Column("transcript_id", words(100), nullable=False),
    Column("created_at", words(40), nullable=False),
)

lecture_citations = Table(
    "lecture_citations",
    metadata,
    Column("id", words(36), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("lecture_id", ForeignKey("lectures.id", ondelete="CASCADE"), nullable=False),
    Column("window_number", Integer, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("document_id", words(32), nullable=False),
    Column("page_number", Integer),
    Column("citation", words(), nullable=False),
    Column("created_at", words(40), nullable=False),
    Index("ix_lecture_citations_lecture", "lecture_id", "window_number", "rank"),
    Index("ix_lecture_citations_document", "tenant", "document_id", "page_number"),
)
