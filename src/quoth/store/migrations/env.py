"""Run migrations on the connection that the catalogue provides."""

from __future__ import annotations

from alembic import context

from quoth.store.metadata import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
