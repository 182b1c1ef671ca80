"""Query statistics and feedback on answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, func, insert, select

from quoth.core.errors import NotFound
from quoth.store.database import TenantConnection
from quoth.store.history import AnswerMeasures
from quoth.store.rows import now
from quoth.store.schema import feedback, queries

MAX_LATENCIES = 10_000
"""Number of the newest queries whose latencies count for the quantiles."""
LISTED = 20
UNANSWERED = ("no_results",)
"""How questions end that got no citation; every other status comes with some."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on an answer: 1 for good, -1 for bad, 0 for neither, and a comment.

    ``satisfaction`` is from 1 to 5, None where it was not given.
    """

    rating: int
    comment: str
    created_at: str
    satisfaction: int | None


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds within which half, and 95 of 100 questions were answered; None without any."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """The mean of how satisfied readers are, 1 to 5, None without any, and of how many answers."""

    mean: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A query without answer, how often it was asked, and when last."""

    question: str
    times: int
    last_asked: str


@dataclass(frozen=True, slots=True)
class Analytics:
    """Statistics since a time. Shares are between 0 and 1, None without queries.

    ``found`` is the share of queries that were answered at least in part; ``cached`` that of
    answers from the cache. ``citation_accuracy`` is the share of supported sentences among those of
    answers whose support was decided; ``precision_at_k`` that of cited passages among those in the
    contexts of answers. Both are None without any; cached answers do not count again.
    """

    since: str
    queries: int
    statuses: dict[str, int]
    latency_ms: Latency
    found: float | None
    cached: float | None
    degraded: float | None
    input_tokens: int
    output_tokens: int
    usd: float
    liked: int
    disliked: int
    satisfaction: Satisfaction
    citation_accuracy: float | None
    precision_at_k: float | None
    unanswered: tuple[Unanswered, ...]


class AnalyticsReader(TenantConnection):
    """Query statistics and feedback of one tenant."""

    def figures(self, *, days: int, collection: str | None = None) -> Analytics:
        """Return the statistics of the last days."""
        since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
        wanted = and_(queries.c.tenant == self.tenant, queries.c.created_at >= since)
        if collection is not None:
            wanted = and_(wanted, queries.c.collection == collection)
        with self.reading() as connection:
            statuses = {
                row.status: int(row.n)
                for row in connection.execute(
                    select(queries.c.status, func.count().label("n"))
                    .where(wanted)
                    .group_by(queries.c.status)
                )
            }
            sums = connection.execute(_sums(wanted)).one()
            times = connection.execute(
                select(queries.c.total_ms)
                .where(wanted, queries.c.total_ms.is_not(None))
                .order_by(queries.c.created_at.desc())
                .limit(MAX_LATENCIES)
            ).scalars()
            spent = sorted(float(time) for time in times)
            rated = connection.execute(_rated(wanted, self.tenant)).one()
            missed = connection.execute(_missed(wanted)).all()
        total = sum(statuses.values())
        return Analytics(
            since=since,
            queries=total,
            statuses=statuses,
            latency_ms=Latency(_quantile(spent, 0.5), _quantile(spent, 0.95)),
            found=_share(total - sum(statuses.get(each, 0) for each in UNANSWERED), total),
            cached=_share(sums.cached or 0, total),
            degraded=_share(sums.degraded or 0, total),
            input_tokens=int(sums.input_tokens or 0),
            output_tokens=int(sums.output_tokens or 0),
            usd=float(sums.usd or 0),
            liked=rated.liked,
            disliked=rated.disliked,
            satisfaction=Satisfaction(
                None if rated.mean is None else round(float(rated.mean), 2), rated.satisfied
            ),
            citation_accuracy=_share(sums.sentences_supported or 0, sums.sentences_checked or 0),
            precision_at_k=_share(sums.passages_cited or 0, sums.passages_in_context or 0),
            unanswered=tuple(Unanswered(row.text, int(row.n), row.last) for row in missed),
        )

    def rate(
        self, query_id: str, *, rating: int, comment: str, satisfaction: int | None = None
    ) -> None:
        """Store feedback on an answer, in place of earlier feedback.

        Raises NotFound.
        """
        with self.writing("rate answer") as connection:
            own = select(queries.c.id).where(
                queries.c.tenant == self.tenant, queries.c.id == query_id
            )
            if connection.execute(own).first() is None:
                raise NotFound(f"There is no question with the id '{query_id}'.")
            connection.execute(delete(feedback).where(self._about(query_id)))
            connection.execute(
                insert(feedback).values(
                    query_id=query_id,
                    tenant=self.tenant,
                    rating=rating,
                    comment=comment,
                    created_at=now(),
                    satisfaction=satisfaction,
                )
            )

    def feedback(self, query_id: str) -> Feedback | None:
        """Return the feedback on an answer."""
        statement = select(*(feedback.c[each.name] for each in fields(Feedback)))
        with self.reading() as connection:
            row = connection.execute(statement.where(self._about(query_id))).first()
        return None if row is None else Feedback(*row)

    def _about(self, query_id: str) -> Any:
        return and_(feedback.c.tenant == self.tenant, feedback.c.query_id == query_id)


def _sums(wanted: Any) -> Any:
    return select(
        func.sum(queries.c.input_tokens).label("input_tokens"),
        func.sum(queries.c.output_tokens).label("output_tokens"),
        func.sum(queries.c.usd).label("usd"),
        func.count().filter(queries.c.cached).label("cached"),
        func.count().filter(queries.c.degraded).label("degraded"),
        *(func.sum(queries.c[each.name]).label(each.name) for each in fields(AnswerMeasures)),
    ).where(wanted)


def _rated(wanted: Any, tenant: str) -> Any:
    return (
        select(
            func.count().filter(feedback.c.rating > 0).label("liked"),
            func.count().filter(feedback.c.rating < 0).label("disliked"),
            func.avg(feedback.c.satisfaction).label("mean"),
            func.count(feedback.c.satisfaction).label("satisfied"),
        )
        .join_from(feedback, queries, feedback.c.query_id == queries.c.id)
        .where(wanted, feedback.c.tenant == tenant)
    )


def _missed(wanted: Any) -> Any:
    times, last = func.count().label("n"), func.max(queries.c.created_at).label("last")
    return (
        select(queries.c.text, times, last)
        .where(wanted, queries.c.status.in_(UNANSWERED))
        .group_by(queries.c.text)
        .order_by(times.desc(), last.desc())
        .limit(LISTED)
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """Return the nearest-rank quantile of sorted numbers."""
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)
