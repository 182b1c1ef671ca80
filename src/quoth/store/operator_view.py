"""What the operator sees and decides: tenants and uploads of all tenants, never their texts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from quoth.core.errors import NotFound
from quoth.store.database import Database
from quoth.store.rows import from_row
from quoth.store.schema import tasks
from quoth.store.upload_queue import TenantRoundRobin
from quoth.store.uploads import TenantUsage, UploadStore

UNFINISHED = ("receiving", "queued", "running")


@dataclass(frozen=True, slots=True)
class OperatorUpload:
    """An upload of some tenant; ``age_s`` is since it came in, in seconds."""

    tenant: str
    id: str
    name: str
    state: str
    size: int
    chunks: int
    of_chunks: int
    attempts: int
    age_s: float
    code: str | None


class OperatorView:
    """All tenants of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tenants(self) -> list[TenantUsage]:
        """Return what each tenant stores, by name."""
        return [
            UploadStore(self._database, tenant=name).totals()
            for name in sorted(TenantRoundRobin(self._database).tenants())
        ]

    def uploads(self, *, state: str | None = None, limit: int = 100) -> list[OperatorUpload]:
        """Return uploads in this state, else unfinished and failed ones, the oldest first."""
        states = (state,) if state else (*UNFINISHED, "failed")
        statement = select(tasks).where(tasks.c.state.in_(states)).order_by(tasks.c.created_at)
        now = datetime.now(UTC)
        with self._database.reading() as connection:
            rows = connection.execute(statement.limit(limit)).all()
        return [
            from_row(
                OperatorUpload,
                row,
                tenant=row.tenant,
                age_s=round((now - datetime.fromisoformat(row.created_at)).total_seconds(), 1),
            )
            for row in rows
        ]

    def queue_age_s(self) -> float:
        """Return the age of the oldest queued upload in seconds, 0 where none is queued."""
        oldest = self.uploads(state="queued", limit=1)
        return oldest[0].age_s if oldest else 0.0

    def cancel(self, upload_id: str) -> None:
        """Remove an upload from the queue; raises NotFound."""
        self._store(upload_id).drop(upload_id)

    def retry(self, upload_id: str) -> None:
        """Queue a failed upload again; raises NotFound."""
        self._store(upload_id).retry(upload_id)

    def _store(self, upload_id: str) -> UploadStore:
        with self._database.reading() as connection:
            tenant = connection.execute(
                select(tasks.c.tenant).where(tasks.c.id == upload_id)
            ).scalar()
        if tenant is None:
            raise NotFound(f"There is no upload {upload_id}. List them with: quoth uploads list")
        return UploadStore(self._database, tenant=tenant)
