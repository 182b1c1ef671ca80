"""Privacy settings of each tenant: what is stored and what may leave the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Column, and_, func, insert, select, update

from quoth.core.errors import InputError
from quoth.store.checksums import first_intact
from quoth.store.database import Database, TenantConnection
from quoth.store.rows import now
from quoth.store.schema import privacy, spending

HistoryLevel = Literal["off", "hash", "full"]
"""What is stored of a query: nothing, no texts, everything."""
ORDER: tuple[HistoryLevel, ...] = ("off", "hash", "full")

RETENTION_DAYS = 90
"""Days after which what was asked goes, where a tenant has decided nothing else."""
AUDIT_DAYS = 365
MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """Privacy settings of a tenant; ``decided_at`` is None for the operator's defaults."""

    history: HistoryLevel
    retention_days: int = RETENTION_DAYS
    may_leave: bool = True
    decided_at: str | None = None


class PrivacyStore(TenantConnection):
    """Privacy settings store of one tenant. ``most`` is the operator's maximum history level."""

    def current(self, *, most: HistoryLevel) -> PrivacySettings:
        """Return the current settings: the tenant's decision, limited to ``most``."""
        decided = select(privacy).where(privacy.c.tenant == self.tenant)
        with self.reading() as connection:
            row = connection.execute(decided).first()
        if row is None:
            return PrivacySettings(history=most)
        if first_intact([row]) is None:
            return PrivacySettings(history="off", may_leave=False)  # the strictest choice
        return PrivacySettings(
            history=min(most, row.history, key=ORDER.index),
            retention_days=row.retention_days,
            may_leave=row.may_leave,
            decided_at=row.updated_at,
        )

    def decide(self, *, history: HistoryLevel, retention_days: int, may_leave: bool) -> None:
        """Store new settings; raises InputError."""
        if not 1 <= retention_days <= MAX_DAYS:
            raise InputError(
                f"Questions can be stored for 1 to {MAX_DAYS} days, not {retention_days}."
            )
        values = {
            "history": history,
            "retention_days": retention_days,
            "may_leave": may_leave,
            "updated_at": now(),
        }
        own = privacy.c.tenant == self.tenant
        with self.writing("set privacy") as connection:
            if not connection.execute(update(privacy).where(own).values(values)).rowcount:
                connection.execute(insert(privacy).values(tenant=self.tenant, **values))


def _now() -> datetime:
    return datetime.now(UTC)


class DailyUsage(TenantConnection):
    """What one tenant has used today; a day begins at midnight UTC, by ``clock``."""

    def __init__(
        self, database: Database, *, tenant: str, clock: Callable[[], datetime] = _now
    ) -> None:
        super().__init__(database, tenant=tenant)
        self._clock = clock

    def tokens(self) -> int:
        """Return the input and output tokens."""
        return self._today(spending.c.tokens)

    def questions(self) -> int:
        """Return the counted questions."""
        return self._today(spending.c.questions)

    def add(self, *, tokens: int = 0, questions: int = 0) -> None:
        """Count tokens and questions, whichever process used them."""
        asked = func.coalesce(spending.c.questions, 0) + questions
        more = {"tokens": spending.c.tokens + tokens, "questions": asked}
        day = self._day()
        row = and_(spending.c.tenant == self.tenant, spending.c.day == day)
        with self.writing("count usage") as connection:
            if not connection.execute(update(spending).where(row).values(more)).rowcount:
                first = {"tokens": tokens, "questions": questions}
                connection.execute(insert(spending).values(tenant=self.tenant, day=day, **first))

    def _today(self, column: Column[int]) -> int:
        row = and_(spending.c.tenant == self.tenant, spending.c.day == self._day())
        with self.reading() as connection:
            return connection.execute(select(column).where(row)).scalar() or 0

    def _day(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()
