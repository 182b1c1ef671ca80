"""Many users: keys, shares, uploads, privacy settings and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quoth.store.rows import words

revision = "0004"
down_revision = "0003"

FIGURES = (
    ("key_id", words(20)),
    ("upload_id", words(32)),
    ("total_ms", sa.Float()),
    ("input_tokens", sa.Integer()),
    ("output_tokens", sa.Integer()),
    ("usd", sa.Float()),
    ("degraded", sa.Boolean()),
    ("cached", sa.Boolean()),
)


def upgrade() -> None:
    """Bring the catalogue one step forward; what is there stays as it is."""
    for name, kind in FIGURES:
        op.add_column("queries", sa.Column(name, kind, nullable=True))
    op.create_table(
        "feedback",
        sa.Column("query_id", words(32), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("comment", words(), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("query_id", name=op.f("pk_feedback")),
        sa.ForeignKeyConstraint(
            ["query_id"],
            ["queries.id"],
            name=op.f("fk_feedback_query_id_queries"),
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "tasks",
        sa.Column("id", words(32), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("collection", words(100), nullable=False),
        sa.Column("name", words(), nullable=False),
        sa.Column("given", words(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("sha256", words(64), nullable=True),
        sa.Column("state", words(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", words(40), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.Column("document_id", words(32), nullable=True),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("of_chunks", sa.Integer(), nullable=False),
        sa.Column("code", words(40), nullable=True),
        sa.Column("message", words(), nullable=True),
        sa.Column("key_id", words(20), nullable=True),
        sa.Column("created_at", words(40), nullable=False),
        sa.Column("updated_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index("ix_tasks_state_tenant", "tasks", ["state", "tenant", "created_at"])
    op.create_index("ix_tasks_tenant_created_at", "tasks", ["tenant", "created_at"])
    op.create_table(
        "keys",
        sa.Column("id", words(20), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("secret_hash", words(64), nullable=False),
        sa.Column("label", words(), nullable=False),
        sa.Column("scopes", words(), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.Column("expires_at", words(40), nullable=True),
        sa.Column("last_used", words(40), nullable=True),
        sa.Column("revoked_at", words(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
    )
    op.create_index("ix_keys_tenant", "keys", ["tenant"])
    op.create_table(
        "shares",
        sa.Column("id", words(20), nullable=False),
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("token_hash", words(64), nullable=False),
        sa.Column("collection", words(100), nullable=False),
        sa.Column("created_at", words(40), nullable=False),
        sa.Column("expires_at", words(40), nullable=False),
        sa.Column("revoked_at", words(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shares")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_shares_token_hash")),
    )
    op.create_index("ix_shares_tenant", "shares", ["tenant"])
    op.create_table(
        "audit",
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", words(40), nullable=False),
        sa.Column("key_id", words(20), nullable=False),
        sa.Column("action", words(40), nullable=False),
        sa.Column("object_id", words(), nullable=False),
        sa.Column("result", words(20), nullable=False),
        sa.Column("request_id", words(64), nullable=False),
        sa.Column("address", words(60), nullable=False),
        sa.Column("previous", words(64), nullable=False),
        sa.Column("hash", words(64), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "number", name=op.f("pk_audit")),
    )
    op.create_table(
        "privacy",
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("history", words(10), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=False),
        sa.Column("may_leave", sa.Boolean(), nullable=False),
        sa.Column("updated_at", words(40), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name=op.f("pk_privacy")),
    )
    op.create_table(
        "spending",
        sa.Column("tenant", words(100), nullable=False),
        sa.Column("day", words(10), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day", name=op.f("pk_spending")),
    )
