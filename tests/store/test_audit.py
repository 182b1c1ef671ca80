"""The audit: an unbroken chain, told apart from every chain that somebody has touched."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from quoth.operations.integrity import find_damage
from quoth.store.audit import (
    CHECKPOINT,
    Audit,
    AuditEntry,
    AuditRow,
    ChainTip,
    chain_row,
    hash_of,
    load_head,
    store_head,
    verify_chain,
)
from quoth.store.database import Database, open_database
from tests.support.cli import quoth

LONG = 20


def _database(address: str | Path) -> Database:
    return open_database(address)


def _filled(database: Database, *, rows: int = 6, tenant: str = "local") -> Audit:
    audit = Audit(database, tenant=tenant)
    for number in range(rows):
        audit.add(
            [AuditEntry(f"k{number}", "ask", f"object {number}", "done 200", "r1", "127.0.0.1")]
        )
    return audit


def _sql(database: Database, statement: str) -> None:
    with database.engine.begin() as connection:
        connection.execute(text(statement))


def test_a_chain_is_whole_and_numbered_without_gaps(address: str | Path) -> None:
    database = _database(address)
    audit = _filled(database)
    found = audit.verify()
    assert (found.whole, found.rows, found.first, found.head) == (True, 6, 1, audit.head())
    assert [each.number for each in audit.rows(limit=10)] == [6, 5, 4, 3, 2, 1]
    database.close()


def test_each_tenant_has_a_chain_of_its_own(address: str | Path) -> None:
    database = _database(address)
    ada, bob = _filled(database, tenant="ada"), _filled(database, rows=2, tenant="bob")
    assert (ada.verify().rows, bob.verify().rows) == (6, 2)
    assert ada.head().hash != bob.head().hash
    database.close()


TOUCHED = {
    "altered": ("UPDATE audit SET action = 'nothing' WHERE number = 3", 3),
    "altered with its key": ("UPDATE audit SET key_id = 'else' WHERE number = 1", 1),
    "removed": ("DELETE FROM audit WHERE number = 4", 4),
    "the oldest removed": ("DELETE FROM audit WHERE number <= 2", 2),
    "moved": (
        "UPDATE audit SET number = CASE number WHEN 2 THEN 50 WHEN 5 THEN 2 ELSE number END; "
        "UPDATE audit SET number = 5 WHERE number = 50",
        2,
    ),
    "put in": (
        "INSERT INTO audit SELECT tenant, 7, at, key_id, action, object_id, result, request_id, "
        "address, previous, hash FROM audit WHERE number = 6",
        7,
    ),
    "another hash": ("UPDATE audit SET hash = 'abc' WHERE number = 6", 6),
    "another tenant's": ("UPDATE audit SET tenant = 'bob' WHERE number = 5", 5),
}


@pytest.mark.parametrize("how", TOUCHED)
def test_a_row_that_was_touched_is_named(how: str, tmp_path: Path) -> None:
    database = _database(tmp_path / "c.sqlite")
    audit = _filled(database)
    statements, broken_at = TOUCHED[how]
    for each in statements.split("; "):
        _sql(database, each)
    found = audit.verify()
    assert (found.whole, found.broken_at) == (False, broken_at), found.reason
    database.close()


def test_newest_rows_that_were_removed_are_told_by_a_kept_head(tmp_path: Path) -> None:
    database = _database(tmp_path / "c.sqlite")
    audit = _filled(database)
    head = audit.head()
    _sql(database, "DELETE FROM audit WHERE number > 4")
    assert audit.verify().whole, "the chain alone cannot tell"
    found = audit.verify(kept=head)
    assert (found.whole, found.broken_at) == (False, 5)
    assert not audit.verify(kept=ChainTip(4, "forged")).whole
    _sql(database, "DELETE FROM audit")
    assert not audit.verify(kept=head).whole
    database.close()


def test_old_rows_go_and_the_rest_stays_verifiable(address: str | Path) -> None:
    database = _database(address)
    audit = _filled(database)
    _sql(database, "UPDATE audit SET at = at")  # as it is
    third = audit.rows(limit=10)[3]
    assert audit.prune(before="2000") == 0
    _wait_for_later_than(audit.rows(limit=1)[0].at)
    audit.add([AuditEntry("late", "ask")])
    cut = audit.rows(limit=1)[0].at
    assert audit.prune(before=cut) == 6
    rows = audit.rows(limit=10)
    assert [each.number for each in rows] == [8, 7]
    assert rows[0].action == CHECKPOINT
    found = audit.verify(kept=ChainTip(third.number, third.hash))
    assert (found.whole, found.first) == (True, 7), found.reason
    assert audit.prune(before="9999") == 2
    assert audit.verify().whole
    _sql(database, f"DELETE FROM audit WHERE action = '{CHECKPOINT}'")
    audit.add([AuditEntry("k", "ask")])
    database.close()


def _wait_for_later_than(when: str) -> None:
    from quoth.store.rows import now

    while now() <= when:
        pass


def test_many_writers_leave_one_chain(address: str | Path) -> None:
    database = _database(address)
    audit = Audit(database, tenant="local")

    def write(number: int) -> None:
        for at in range(LONG):
            audit.add([AuditEntry(f"k{number}", "ask", str(at))])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    found = audit.verify()
    assert (found.whole, found.rows) == (True, 6 * LONG), found.reason
    database.close()


def test_processes_share_one_chain(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    database = _database(file)
    code = (
        "import sys; from pathlib import Path; from quoth.store.audit import Audit, AuditEntry; "
        "from quoth.store.database import open_database; "
        "audit = Audit(open_database(Path(sys.argv[1])), tenant='local'); "
        f"[audit.add([AuditEntry('k', 'ask', str(n))]) for n in range({LONG})]"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(file)]) for _ in range(2)]
    assert [each.wait(60) for each in running] == [0, 0]
    found = Audit(database, tenant="local").verify()
    assert (found.whole, found.rows) == (True, 2 * LONG)
    database.close()


def _chain(count: int) -> list[AuditRow]:
    rows, head = [], ChainTip()
    for number in range(count):
        row = chain_row(AuditEntry(f"k{number}", "ask"), after=head, tenant="t", when="2026-11-22")
        rows.append(row)
        head = ChainTip(row.number, row.hash)
    return rows


@given(st.integers(1, 8), st.data())
def test_no_change_to_a_row_goes_unnoticed(count: int, data: st.DataObject) -> None:
    rows = _chain(count)
    at = data.draw(st.integers(0, count - 1))
    fields = ("number", "at", "key_id", "action", "object_id", "result", "previous", "hash")
    field = data.draw(st.sampled_from(fields))
    before = getattr(rows[at], field)
    after = before + 1 if isinstance(before, int) else f"{before}x"
    changed: dict[str, Any] = {field: after}
    rows[at] = replace(rows[at], **changed)
    found = verify_chain(iter(rows), tenant="t")
    assert not found.whole
    assert found.broken_at in (at + 1, at + 2)


def test_a_row_with_a_recomputed_hash_breaks_the_chain_behind_it() -> None:
    rows = _chain(4)
    forged = replace(rows[1], object_id="something else", hash="")
    rows[1] = replace(forged, hash=hash_of(forged, tenant="t"))
    found = verify_chain(iter(rows), tenant="t")
    assert (found.whole, found.broken_at) == (False, rows[2].number)


def test_what_no_database_takes_is_replaced(address: str | Path) -> None:
    database = _database(address)
    audit = Audit(database, tenant="local")
    audit.add([AuditEntry("k" * 99, "a\nb", "\x00\ud800" * 300, "done", "\u202e", "1.2.3.4")])
    (row,) = audit.rows(limit=1)
    assert row.action == "a\ufffdb"
    assert len(row.key_id) == 20
    assert audit.verify().whole
    database.close()


def test_a_newer_head_stays_in_its_file(tmp_path: Path) -> None:
    assert load_head(tmp_path, "ada") is None
    assert store_head(tmp_path, "ada", head=ChainTip(5, "e"))
    assert store_head(tmp_path, "ada", head=ChainTip(3, "c"))
    assert load_head(tmp_path, "ada") == ChainTip(5, "e")
    assert load_head(tmp_path, "bob") is None


def test_the_chain_of_a_tenant_without_documents_is_verified(tmp_path: Path) -> None:
    database = _database(tmp_path / "catalogue.sqlite")
    _filled(database)
    _filled(database, tenant="erased")
    said = quoth(tmp_path, "audit", "verify")
    assert "12 rows of 2 tenants" in said.err
    assert find_damage(database, home=tmp_path) == []
    _sql(database, "UPDATE audit SET action = 'no' WHERE number = 2 AND tenant = 'erased'")
    said = quoth(tmp_path, "audit", "verify")
    assert said.code == 1
    assert "The audit of 'erased' is broken at number 2" in said.err
    assert any("'erased'" in each.what for each in find_damage(database, home=tmp_path))
    database.close()


def test_the_command_line_lists_and_verifies(tmp_path: Path) -> None:
    database = _database(tmp_path / "catalogue.sqlite")
    audit = _filled(database)
    said = quoth(tmp_path, "audit", "list", "-n", "2", "--json")
    assert [each["number"] for each in said.json] == [6, 5]
    assert "ask" in quoth(tmp_path, "audit", "list").out
    said = quoth(tmp_path, "audit", "verify")
    assert said.code == 0
    assert f"6:{audit.head().hash}" in said.err
    _sql(database, "DELETE FROM audit WHERE number = 6")
    said = quoth(tmp_path, "audit", "verify", "--json")
    assert (said.code, said.json["broken_at"]) == (1, 6)
    assert "broken at number 6" in said.err
    _sql(database, "UPDATE audit SET action = 'no' WHERE number = 2")
    assert quoth(tmp_path, "audit", "verify", "--json").json["broken_at"] == 2
    head = f"4:{'0' * 64}"
    assert quoth(tmp_path, "audit", "verify", "--head", head).code == 1
    assert quoth(tmp_path, "audit", "verify", "--head", "none").code == 2
    database.close()
