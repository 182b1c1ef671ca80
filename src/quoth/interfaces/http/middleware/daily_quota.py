"""Questions of each tenant on one day, counted in the catalogue over all processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from quoth.core.errors import Busy, QuothError
from quoth.store.database import Database
from quoth.store.privacy_settings import DailyUsage

log = logging.getLogger("quoth.interfaces.http")

SAVE_S = 5.0
"""Seconds after which questions are written: a process that ends forgets as many."""


@dataclass(slots=True)
class _Count:
    """Questions of a tenant on a day: those in the catalogue, and those since."""

    day: str
    stored: int
    unsaved: int = 0
    saving: asyncio.Task[None] | None = None


class DailyQuota:
    """Queries of each tenant on one day (UTC); None for no limit.

    A process knows the questions of others when it has written its own, after ``save_s`` seconds.
    """

    def __init__(
        self,
        limit: int | None,
        database: Database,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        save_s: float = SAVE_S,
    ) -> None:
        self._limit = limit
        self._database = database
        self._clock = clock
        self._save_s = save_s
        self._counts: dict[str, _Count] = {}

    async def take(self, tenant: str) -> None:
        """Count a query; raises Busy with status 429 until midnight beyond the limit."""
        if self._limit is None:
            return
        now = self._clock()
        count = await self._today(tenant, now.date().isoformat())
        if count.stored + count.unsaved >= self._limit:
            midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
            raise Busy(
                f"This tenant has asked {self._limit:,} questions today, which is its limit. Ask "
                "again tomorrow (UTC).",
                status=429,
                retry_after_s=(midnight - now).total_seconds(),
            )
        count.unsaved += 1
        if count.saving is None:
            count.saving = asyncio.create_task(self._save(tenant, count))

    async def _today(self, tenant: str, day: str) -> _Count:
        count = self._counts.get(tenant)
        if count is None or count.day != day:
            stored = await asyncio.to_thread(self._usage(tenant).questions)
            count = self._counts.get(tenant)  # of another query, in the meantime
            if count is None or count.day != day:
                count = self._counts[tenant] = _Count(day, stored)
        return count

    async def _save(self, tenant: str, count: _Count) -> None:
        usage = self._usage(tenant)
        try:
            while count.unsaved:
                await asyncio.sleep(self._save_s)
                asked = count.unsaved
                try:
                    await asyncio.to_thread(usage.add, questions=asked)
                    count.unsaved, count.stored = count.unsaved - asked, count.stored + asked
                    count.stored = await asyncio.to_thread(usage.questions)
                except QuothError as error:  # they are written later
                    log.warning("questions_not_written", extra={"code": error.code})
        finally:
            count.saving = None

    def _usage(self, tenant: str) -> DailyUsage:
        return DailyUsage(self._database, tenant=tenant, clock=self._clock)
