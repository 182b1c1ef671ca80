"""What is older than it may be goes, what a tenant decided counts, and nothing else is touched."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from quoth.core.errors import InputError
from quoth.operations.purge import DAY_S, run_retention_daily
from quoth.store.audit import Audit, AuditEntry
from quoth.store.database import Database, open_database
from quoth.store.erase import RetentionReport, forget_all
from quoth.store.history import QueryHistory, StoredRecord
from quoth.store.privacy_settings import HistoryLevel, PrivacySettings, PrivacyStore
from quoth.store.schema import (
    answers,
    audit,
    feedback,
    queries,
    records,
    shares,
    tasks,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def _ago(**time: float) -> str:
    return (NOW - timedelta(**time)).isoformat(timespec="milliseconds")


def _ask(database: Database, *, tenant: str, query_id: str, at: str) -> None:
    QueryHistory(database, tenant=tenant).record(
        StoredRecord(
            query_id=query_id,
            collection="default",
            text="Why?",
            plan="{}",
            answer="{}",
            version="1",
            record="{}",
        )
    )
    with database.engine.begin() as connection:
        connection.execute(update(queries).where(queries.c.id == query_id).values(created_at=at))
        connection.execute(
            insert(feedback).values(
                query_id=query_id, tenant=tenant, rating=1, comment="good", created_at=at
            )
        )


def _ids(database: Database) -> set[str]:
    with database.engine.connect() as connection:
        return set(connection.execute(select(queries.c.id)).scalars())


def test_questions_go_after_ninety_days_with_all_that_hangs_on_them(address: str | Path) -> None:
    database = open_database(address)
    _ask(database, tenant="ada", query_id="q_old", at=_ago(days=91))
    _ask(database, tenant="ada", query_id="q_new", at=_ago(days=89))
    _ask(database, tenant="bob", query_id="q_bob", at=_ago(days=91))
    PrivacyStore(database, tenant="bob").decide(history="full", retention_days=400, may_leave=True)
    assert forget_all(database, now=NOW) == {"ada": RetentionReport(questions=1)}
    assert _ids(database) == {"q_new", "q_bob"}
    with database.engine.connect() as connection:
        for table in (answers, records, feedback):
            found = connection.execute(select(table.c.query_id)).scalars()
            assert set(found) == {"q_new", "q_bob"}
    assert forget_all(database, now=NOW) == {}
    database.close()


def test_shares_that_expired_and_tasks_that_ended_long_ago_go(tmp_path: Path) -> None:
    database = open_database(tmp_path / "c.sqlite")
    with database.engine.begin() as connection:
        for name, ends in (("over", _ago(minutes=1)), ("open", _ago(minutes=-1))):
            connection.execute(
                insert(shares).values(
                    id=name,
                    tenant="ada",
                    token_hash=name,
                    collection="default",
                    created_at=_ago(days=1),
                    expires_at=ends,
                )
            )
        for name, state, at in (
            ("ended", "ready", _ago(days=91)),
            ("failed lately", "failed", _ago(days=2)),
            ("waits", "queued", _ago(days=91)),
        ):
            connection.execute(
                insert(tasks).values(
                    id=name,
                    tenant="ada",
                    collection="default",
                    name="a.pdf",
                    given="{}",
                    size=1,
                    received=1,
                    state=state,
                    attempts=1,
                    chunks=0,
                    of_chunks=0,
                    created_at=at,
                    updated_at=at,
                )
            )
    assert forget_all(database, now=NOW) == {"ada": RetentionReport(shares=1, tasks=1)}
    with database.engine.connect() as connection:
        assert set(connection.execute(select(tasks.c.id)).scalars()) == {"failed lately", "waits"}
        assert set(connection.execute(select(shares.c.id)).scalars()) == {"open"}
    database.close()


def test_the_audit_stays_a_year_and_whole(tmp_path: Path) -> None:
    database = open_database(tmp_path / "c.sqlite")
    chain = Audit(database, tenant="ada")
    chain.add([AuditEntry("k", "ask")] * 3)
    assert forget_all(database, now=datetime.now(UTC) + timedelta(days=364)) == {}
    gone = forget_all(database, now=datetime.now(UTC) + timedelta(days=366))
    assert gone == {"ada": RetentionReport(audit=3)}
    assert chain.verify().whole
    with database.engine.connect() as connection:
        assert list(connection.execute(select(audit.c.number)).scalars()) == [4]
    database.close()


@pytest.mark.parametrize(
    ("most", "wanted", "holds"),
    [("full", "hash", "hash"), ("hash", "full", "hash"), ("off", "full", "off")],
)
def test_a_tenant_keeps_less_than_the_operator_and_never_more(
    most: HistoryLevel, wanted: HistoryLevel, holds: HistoryLevel, tmp_path: Path
) -> None:
    database = open_database(tmp_path / "c.sqlite")
    decisions = PrivacyStore(database, tenant="ada")
    assert decisions.current(most=most) == PrivacySettings(most)
    decisions.decide(history=wanted, retention_days=7, may_leave=False)
    decisions.decide(history=wanted, retention_days=8, may_leave=False)
    found = decisions.current(most=most)
    assert (found.history, found.retention_days, found.may_leave) == (holds, 8, False)
    assert PrivacyStore(database, tenant="bob").current(most=most) == PrivacySettings(most)
    with pytest.raises(InputError):
        decisions.decide(history=wanted, retention_days=0, may_leave=True)
    database.close()


async def test_it_is_done_at_once_and_every_day(tmp_path: Path) -> None:
    database = open_database(tmp_path / "c.sqlite")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        assert _ids(database) == set()
        _ask(database, tenant="ada", query_id=f"q{len(slept)}", at=_ago(days=91))
        if len(slept) == 3:
            raise asyncio.CancelledError

    _ask(database, tenant="ada", query_id="q_old", at=_ago(days=91))
    with pytest.raises(asyncio.CancelledError):
        await run_retention_daily(database, clock=lambda: NOW, sleep=sleep)
    assert slept == [DAY_S] * 3
    database.close()
