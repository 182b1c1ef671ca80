"""The tables of the catalogue, which holds the truth; indexes are derived from it."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
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

HEAD = "0004"
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
    Column("tuning", Text),
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
    Column("date", String(40)),
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
    Column("chapter", String(20), nullable=False, server_default=""),
    Column("segment", String(20), nullable=False, server_default=""),
    Column("date", String(40)),
    UniqueConstraint("document_id", "ordinal"),
)

# Where each chunk stands, in rows so narrow that a look-up by place can read them all: the texts
# beside which these values would stand otherwise are a hundred times as wide.
spots = Table(
    "spots",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("page_first", Integer),
    Column("page_last", Integer),
    Column("second_start", Float),
    Column("second_end", Float),
    Column("chapter", String(20), nullable=False),
    Column("segment", String(20), nullable=False),
    Column("sections", Text, nullable=False),
)

headings = Table(
    "headings",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection_id", String(32), nullable=False),
    Column("path", Text, nullable=False),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("chapter", String(20), nullable=False),
    Column("segment", String(20), nullable=False),
    Column("leads", Boolean, nullable=False),
    Index("ix_headings_collection_order", "collection_id", "leads", "document_id", "number"),
)

summaries = Table(
    "summaries",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection_id", String(32), nullable=False),
    Column("level", Integer, nullable=False),
    Column("path", Text, nullable=False),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("leaves", Text, nullable=False),
)

links = Table(
    "links",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(120), primary_key=True),
    Column("other", String(120), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection_id", String(32), nullable=False),
    Column("count", Integer, nullable=False),
    Index("ix_links_collection_name", "collection_id", "name"),
    Index("ix_links_collection_other", "collection_id", "other"),
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
    Column("status", String(20), nullable=False, server_default=""),
    # What the figures of a service are made of; null where it was kept before they were.
    Column("key_id", String(20)),
    Column("total_ms", Float),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("usd", Float),
    Column("degraded", Boolean),
    Column("cached", Boolean),
    Index("ix_queries_tenant_created_at", "tenant", "created_at"),
)

answers = Table(
    "answers",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("answer", Text, nullable=False),
)

# How each answer came about: ids, ranks and scores, in one wide text that no list of questions
# has to read past.
records = Table(
    "records",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("record", Text, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("rating", Integer, nullable=False),
    Column("comment", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
)

# Files that came over the network, from their first byte until their document's fate is known.
tasks = Table(
    "tasks",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("collection", String(100), nullable=False),
    Column("name", Text, nullable=False),
    Column("given", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("received", Integer, nullable=False),
    Column("sha256", String(64)),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("owner", String(40)),
    Column("lease_until", Float),
    Column("document_id", String(32)),
    Column("code", String(40)),
    Column("message", Text),
    Column("key_id", String(20)),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    Index("ix_tasks_state_lease_until", "state", "lease_until"),
    Index("ix_tasks_tenant_created_at", "tenant", "created_at"),
)

# Of a key and of a share only a hash is kept: who reads the database cannot use them.
keys = Table(
    "keys",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("label", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("expires_at", String(40)),
    Column("last_used", String(40)),
    Column("revoked_at", String(40)),
    Index("ix_keys_tenant", "tenant"),
)

shares = Table(
    "shares",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("tenant", String(100), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("collection", String(100), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("expires_at", String(40), nullable=False),
    Column("revoked_at", String(40)),
    Index("ix_shares_tenant", "tenant"),
)

# Who did what to which thing, never what it held; each row has the hash of the one before it.
audit = Table(
    "audit",
    metadata,
    Column("tenant", String(100), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", String(40), nullable=False),
    Column("key_id", String(20), nullable=False),
    Column("action", String(40), nullable=False),
    Column("object_id", Text, nullable=False),
    Column("result", String(20), nullable=False),
    Column("request_id", String(40), nullable=False),
    Column("address", String(60), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

# What a tenant has decided about what is kept and what may leave the machine.
privacy = Table(
    "privacy",
    metadata,
    Column("tenant", String(100), primary_key=True),
    Column("history", String(10), nullable=False),
    Column("retention_days", Integer, nullable=False),
    Column("may_leave", Boolean, nullable=False),
    Column("updated_at", String(40), nullable=False),
)
