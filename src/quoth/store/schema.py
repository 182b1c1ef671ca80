"""Tables of the catalogue, the source of truth; indexes are derived from it."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)

import quoth.store.lecture_tables  # noqa: F401 - its tables have checksums, too
from quoth.store.checksums import add_checksum
from quoth.store.metadata import metadata
from quoth.store.rows import words

HEAD = "0019"
"""The newest migration; a catalogue that already stands at it is opened without Alembic."""

collections = Table(
    "collections",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("name", words(100), nullable=False),
    Column("index_table", words(80), nullable=False),
    Column("identity", words(), nullable=False),
    Column("version", Integer, nullable=False, default=0),
    Column("tuning", words()),
    Column("created_at", words(40), nullable=False),
    Column("embedder", words()),
    Column("kept", words()),
    UniqueConstraint("tenant", "name"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection_id", ForeignKey("collections.id", ondelete="CASCADE"), nullable=False),
    Column("sha256", words(64), nullable=False),
    Column("source", words(), nullable=False),
    Column("title", words(), nullable=False),
    Column("kind", words(20), nullable=False),
    Column("language", words(10), nullable=False),
    Column("url", words()),
    Column("speaker", words()),
    Column("pages", Integer),
    Column("labels", words(), nullable=False),
    Column("seconds", Float),
    Column("chunks", Integer, nullable=False),
    Column("warnings", words(), nullable=False),
    Column("added_at", words(40), nullable=False),
    Column("date", words(40)),
    Column("metadata", words()),
    Index("ix_documents_collection_source", "collection_id", "source"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("text", words(), nullable=False),
    Column("prefix", words(), nullable=False),
    Column("section", words(), nullable=False),
    Column("kind", words(20), nullable=False),
    Column("language", words(10), nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("locator", words(), nullable=False),
    Column("places", words(), nullable=False),
    Column("chapter", words(20), nullable=False, server_default=""),
    Column("segment", words(20), nullable=False, server_default=""),
    Column("date", words(40)),
    UniqueConstraint("document_id", "ordinal"),
)

spots = Table(  # places of chunks, in narrow rows that a look-up by place can scan
    "spots",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("speaker", words(), nullable=False),
    Column("labels", words(), nullable=False),
    Column("page_first", Integer),
    Column("page_last", Integer),
    Column("second_start", Float),
    Column("second_end", Float),
    Column("chapter", words(20), nullable=False),
    Column("segment", words(20), nullable=False),
    Column("sections", words(), nullable=False),
)

headings = Table(
    "headings",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection_id", words(32), nullable=False),
    Column("path", words(), nullable=False),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("chapter", words(20), nullable=False),
    Column("segment", words(20), nullable=False),
    Column("leads", Boolean, nullable=False),
    Index("ix_headings_collection_order", "collection_id", "leads", "document_id", "number"),
)

speakers = Table(  # who speaks in a document, as its passages name them
    "speakers",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("name", words(200), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection_id", words(32), nullable=False),
    Index("ix_speakers_collection", "collection_id"),
)

summaries = Table(
    "summaries",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection_id", words(32), nullable=False),
    Column("level", Integer, nullable=False),
    Column("path", words(), nullable=False),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("leaves", words(), nullable=False),
)

# The ids of documents that were replaced, and up to where the text of the present one is the same.
replaced_documents = Table(
    "replaced_documents",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("same_until", Integer, nullable=False),
    Index("ix_replaced_documents_document", "document_id"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("document_id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection_id", ForeignKey("collections.id", ondelete="CASCADE"), nullable=False),
    Column("source", words(), nullable=False),
    Column("title", words(), nullable=False),
    Column("state", words(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("owner", words(40), nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("code", words(40)),
    Column("message", words()),
)

queries = Table(
    "queries",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection", words(100), nullable=False),
    Column("text", words(), nullable=False),
    Column("plan", words(), nullable=False),
    Column("index_version", words(120), nullable=False),
    Column("created_at", words(40), nullable=False),
    Column("status", words(20), nullable=False, server_default=""),
    # Source of the analytics, null in older rows; title and folded are for the history search.
    Column("key_id", words(20)),
    Column("upload_id", words(32)),
    Column("total_ms", Float),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("usd", Float),
    Column("degraded", Boolean),
    Column("cached", Boolean),
    Column("title", words()),
    Column("folded", words(), nullable=False, server_default=""),
    *(Column(name, Integer) for name in ("sentences_checked", "sentences_supported")),
    *(Column(name, Integer) for name in ("passages_in_context", "passages_cited")),
    Index("ix_queries_tenant_created_at", "tenant", "created_at"),
)

answers = Table(
    "answers",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("answer", words(), nullable=False),
)

# Explanation of each answer, in a wide text that no list of queries has to read past.
records = Table(
    "records",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("record", words(), nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("query_id", ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("rating", Integer, nullable=False),
    Column("comment", words(), nullable=False),
    Column("created_at", words(40), nullable=False),
    Column("satisfaction", Integer),
)

tasks = Table(  # uploaded files, from their first byte to their final state
    "tasks",
    metadata,
    Column("id", words(32), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("collection", words(100), nullable=False),
    Column("name", words(), nullable=False),
    Column("given", words(), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("received", BigInteger, nullable=False),
    Column("sha256", words(64)),
    Column("state", words(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("owner", words(40)),
    Column("lease_until", Float),
    Column("document_id", words(32)),
    Column("chunks", Integer, nullable=False),
    Column("of_chunks", Integer, nullable=False),
    Column("code", words(40)),
    Column("message", words()),
    Column("key_id", words(20)),
    Column("created_at", words(40), nullable=False),
    Column("updated_at", words(40), nullable=False),
    # The next tenant and its oldest file are found without scanning the rows of others.
    Index("ix_tasks_state_tenant", "state", "tenant", "created_at"),
    Index("ix_tasks_tenant_created_at", "tenant", "created_at"),
)

# Keys and shares are stored as hashes: a reader of the database cannot use them.
keys = Table(
    "keys",
    metadata,
    Column("id", words(20), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("secret_hash", words(64), nullable=False),
    Column("label", words(), nullable=False),
    Column("scopes", words(), nullable=False),
    Column("created_at", words(40), nullable=False),
    Column("expires_at", words(40)),
    Column("last_used", words(40)),
    Column("revoked_at", words(40)),
    Index("ix_keys_tenant", "tenant"),
)

shares = Table(
    "shares",
    metadata,
    Column("id", words(20), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("token_hash", words(64), nullable=False, unique=True),
    Column("collection", words(100), nullable=False),
    Column("created_at", words(40), nullable=False),
    Column("expires_at", words(40), nullable=False),
    Column("revoked_at", words(40)),
    Column("lecture_id", words(36)),  # null for the share of a collection
    Index("ix_shares_tenant", "tenant"),
)

sessions = Table(  # of browsers: each stands for a key or a share
    "sessions",
    metadata,
    Column("token_hash", words(64), primary_key=True),
    Column("tenant", words(100), nullable=False),
    Column("key_id", words(20), nullable=False),
    Column("created_at", words(40), nullable=False),
    Column("expires_at", words(40), nullable=False),
    Index("ix_sessions_tenant", "tenant"),
)

# Audit log: actor, action and object, never contents; rows are chained by hash.
audit = Table(
    "audit",
    metadata,
    Column("tenant", words(100), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", words(40), nullable=False),
    Column("key_id", words(20), nullable=False),
    Column("action", words(40), nullable=False),
    Column("object_id", words(), nullable=False),
    Column("result", words(20), nullable=False),
    Column("request_id", words(64), nullable=False),
    Column("address", words(60), nullable=False),
    Column("previous", words(64), nullable=False),
    Column("hash", words(64), nullable=False),
)

privacy = Table(  # of a tenant: what is stored and what may leave the machine
    "privacy",
    metadata,
    Column("tenant", words(100), primary_key=True),
    Column("history", words(10), nullable=False),
    Column("retention_days", Integer, nullable=False),
    Column("may_leave", Boolean, nullable=False),
    Column("updated_at", words(40), nullable=False),
)

spending = Table(  # by day, for quotas: queries may be deleted earlier
    "spending",
    metadata,
    Column("tenant", words(100), primary_key=True),
    Column("day", words(10), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("questions", BigInteger),
)

SHOWN = (
    "id title kind chunks pages seconds language source url speaker date warnings metadata"
).split()
"""What answers show of a document. Page labels are wide, so the rest has another checksum."""
CHECKSUMS = (  # of all but the audit log, whose rows are chained by hash
    add_checksum(documents, covered=SHOWN),
    add_checksum(documents, name="rest_checksum"),
    *(add_checksum(table) for table in metadata.sorted_tables if table not in (documents, audit)),
)
