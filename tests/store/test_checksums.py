"""Every row has a checksum, whichever database holds it and however it was written."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from quoth.core.errors import NotFound, StoreDown
from quoth.operations.integrity import damaged_rows, find_damage
from quoth.store.catalogue import Catalogue
from quoth.store.copy import snapshot
from quoth.store.database import Database, open_database
from quoth.store.history import QueryCost, StoredRecord
from quoth.store.keys import Keys, find_key
from quoth.store.lectures import Lectures
from quoth.store.privacy_settings import DailyUsage, PrivacyStore
from quoth.store.schema import CHECKSUMS, keys, privacy, queries
from quoth.store.wal_check import damaged_frame
from tests.support.made_documents import entry, open_catalogue

RECORD = StoredRecord(
    "q_1",
    "default",
    "What?",
    "{}",
    '{"text":"That."}',
    "v1",
    record="{}",
    spent=QueryCost(usd=1, total_ms=12, degraded=True),
)


@pytest.fixture
def filled(address: Path | str) -> Iterator[Database]:
    catalogue, collection = open_catalogue(address)
    catalogue.commit(collection, [entry("d1", chunks=3)])
    catalogue.record(RECORD)
    catalogue.rename("q_1", "Named")
    PrivacyStore.of(catalogue).decide(history="full", retention_days=9, may_leave=True)
    PrivacyStore.of(catalogue).decide(history="full", retention_days=8, may_leave=True)
    DailyUsage.of(catalogue).add(tokens=3)
    DailyUsage.of(catalogue).add(tokens=4)
    lectures = Lectures.of(catalogue)
    lectures.change(lectures.start(title="A", collections=["default"]).session_id, title="B")
    yield catalogue.database
    catalogue.close()


def test_rows_are_whole_however_they_were_written(filled: Database, tmp_path: Path) -> None:
    assert find_damage(filled, home=tmp_path) == []
    copied = tmp_path / "copy.sqlite"
    snapshot(filled, copied)
    with closing(sqlite3.connect(copied)) as catalogue:
        for each in CHECKSUMS:
            name, column = each.table.name, each.column.name
            none = f"SELECT count(*) FROM {name} WHERE {column} IS NULL"
            assert catalogue.execute(none).fetchone() == (0,)


def test_a_changed_value_in_any_column_is_named(filled: Database, tmp_path: Path) -> None:
    snapshot(filled, tmp_path / "whole.sqlite")
    tried = 0
    for at in range(max(len(each.covered) for each in CHECKSUMS)):
        file = shutil.copyfile(tmp_path / "whole.sqlite", tmp_path / "spoilt.sqlite")
        changed = set()
        with closing(sqlite3.connect(file)) as catalogue, catalogue:
            for each in CHECKSUMS:
                name, column = each.table.name, each.covered[at % len(each.covered)].name
                spoil = f"UPDATE OR IGNORE {name} SET \"{column}\" = '7x'"
                changed |= {name} if catalogue.execute(spoil).rowcount > 0 else set()
        named = {damage.what.partition(":")[0].split()[-1] for damage in damaged_rows(file)}
        assert named >= changed, at
        tried += len(changed)
    assert tried > 100


def _damage(database: Database, table: Any, **values: Any) -> None:
    """Change a row as a disk does: its checksum stays."""
    with database.writing("local") as connection:
        connection.execute(update(table).values(**values, checksum=table.c.checksum))


def test_damaged_rows_are_not_read(filled: Database) -> None:
    catalogue = Catalogue(filled, tenant="local")
    made = Keys.of(catalogue).add(label="a", scopes=["read"])
    assert find_key(filled, made.token) == made.key
    _damage(filled, keys, scopes="read admin")
    assert find_key(filled, made.token) is None
    _damage(filled, queries, text="Who?")
    assert catalogue.asked(limit=9) == []
    with pytest.raises(StoreDown, match="q_1 is damaged"):
        catalogue.recorded("q_1")
    assert catalogue.answer("q_1") == RECORD.answer
    with pytest.raises(NotFound):
        catalogue.answer("q_2")
    _damage(filled, privacy, may_leave=True, retention_days=3650)
    assert PrivacyStore.of(catalogue).current(most="full").may_leave is False
    assert PrivacyStore.of(catalogue).current(most="full").history == "off"


def test_a_reader_sees_checksums_only_with_their_rows(filled: Database) -> None:
    for each in CHECKSUMS:
        with filled.reading() as connection:
            rows = connection.execute(select(*each.covered, each.column)).all()
        assert all(each.of(row[:-1]) == row[-1] for row in rows)


def test_a_damaged_log_is_kept_and_named(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.sqlite"
    open_database(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as catalogue:
        for number in range(20):
            catalogue.execute("INSERT INTO spending VALUES ('local', ?, 1, 1, 0)", (str(number),))
        log = (tmp_path / "catalogue.sqlite-wal").read_bytes()
        whole = file.read_bytes()
    wal = tmp_path / "catalogue.sqlite-wal"
    for at in (0, 16, 24, 33, 41, 50, 60, 5000, len(log) // 2, len(log) - 1):
        file.write_bytes(whole)
        wal.write_bytes(log[:at] + bytes([log[at] ^ 4]) + log[at + 1 :])
        assert damaged_frame(wal) == (0 if at < 32 else 1 + (at - 32) // 4120)
    for whole in (log, log[:32], log[:50]):  # 32: the log has just begun anew
        wal.write_bytes(whole)
        assert damaged_frame(wal) is None
    wal.write_bytes(log[:9000] + b"?" + log[9001:])
    database = open_database(file)
    (named, *_rest) = find_damage(database, home=tmp_path)
    database.close()
    assert "catalogue.sqlite-wal.damaged" in named.what
