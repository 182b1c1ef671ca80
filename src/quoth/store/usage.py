"""Language model tokens used per tenant and day.

Stored separately from the queries: tokens of deleted, unstored or aborted queries also count.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import and_, insert, select, update

from quoth.store.database import Database
from quoth.store.schema import spending
from quoth.store.tenant_connection import TenantConnection


def _now() -> datetime:
    return datetime.now(UTC)


class TokenQuota(TenantConnection):
    """Token usage of one tenant; a day begins at midnight UTC, by ``clock``."""

    def __init__(
        self, database: Database, *, tenant: str, clock: Callable[[], datetime] = _now
    ) -> None:
        super().__init__(database, tenant=tenant)
        self._clock = clock

    def today(self) -> int:
        """Return the input and output tokens of today."""
        today = and_(spending.c.tenant == self.tenant, spending.c.day == self._day())
        with self.reading() as connection:
            found = connection.execute(select(spending.c.tokens).where(today)).scalar()
        return int(found or 0)

    def add(self, tokens: int) -> None:
        """Count tokens as used today, whichever process used them."""
        day = self._day()
        today = and_(spending.c.tenant == self.tenant, spending.c.day == day)
        with self.writing("count tokens") as connection:
            more = update(spending).where(today).values(tokens=spending.c.tokens + tokens)
            if not connection.execute(more).rowcount:
                row = {"tenant": self.tenant, "day": day, "tokens": tokens}
                connection.execute(insert(spending).values(row))

    def _day(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()
