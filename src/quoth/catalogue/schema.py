"""The tables of the catalogue, which holds the truth; indexes are derived from it."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

HEAD = "0001"
"""The newest migration; a catalogue that already stands at it is opened without Alembic."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

collections = Table(
    "collections",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("name", String(100), nullable=False),
    Column("index_table", String(80), nullable=False),
    Column("identity", Text, nullable=False),
    Column("version", Integer, nullable=False, default=0),
    Column("created_at", String(40), nullable=False),
    UniqueConstraint("tenant", "name"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection_id", ForeignKey("collections.id", ondelete="CASCADE"), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("source", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("language", String(10), nullable=False),
    Column("url", Text),
    Column("speaker", Text),
    Column("pages", Integer),
    Column("labels", Text, nullable=False),
    Column("seconds", Float),
    Column("chunks", Integer, nullable=False),
    Column("warnings", Text, nullable=False),
    Column("added_at", String(40), nullable=False),
    Index("ix_documents_collection_source", "collection_id", "source"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("language", String(10), nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("locator", Text, nullable=False),
    Column("places", Text, nullable=False),
    UniqueConstraint("document_id", "ordinal"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("document_id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection_id", ForeignKey("collections.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("owner", String(40), nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("code", String(40)),
    Column("message", Text),
)

queries = Table(
    "queries",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection", String(100), nullable=False),
    Column("text", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("index_version", String(120), nullable=False),
    Column("created_at", String(40), nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("answer", Text, nullable=False),
)
