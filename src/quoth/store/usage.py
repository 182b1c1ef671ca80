"""How many tokens of language models each tenant has used on each day.

It is stored separately from the questions: tokens of a deleted, unstored or aborted question count
as well.
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
    """The tokens of one tenant; a day begins at midnight UTC, by the ``clock``."""

    def __init__(
        self, database: Database, *, tenant: str, clock: Callable[[], datetime] = _now
    ) -> None:
        super().__init__(database, tenant=tenant)
        self._clock = clock

    def today(self) -> int:
        """Return the tokens that were read and written today."""
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
