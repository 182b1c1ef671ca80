"""Repair: what cannot be restored is set aside and named, and nothing else is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from quoth.bootstrap import open_tenants
from quoth.core.lecture import TranscriptSegment
from quoth.operations.backup import make_backup, verify_backup
from quoth.operations.integrity import READ_AGAIN, damaged_rows, find_damage
from quoth.operations.repair import repair_library
from quoth.operations.set_aside import set_aside
from quoth.store.database import open_database
from quoth.store.lectures import Lectures
from quoth.store.metadata import metadata
from quoth.store.schema import documents, replaced_documents
from tests.support.databases import Server
from tests.support.flipped_home import CATALOGUE, make_home, rows_of, settings_of
from tests.support.tiny_e5 import build_tiny

PARENTS = ("collections", "documents", "queries", "lectures")
DAMAGE = {
    "collections": "version = 77",
    "documents": "title = 'Never'",
    "chunks": "text = 'Never said.'",
    "spots": "chapter = 'x'",
    "queries": "text = 'Never asked?'",
    "answers": "answer = '{}'",
    "records": "record = '{}'",
    "feedback": "rating = -1",
    "keys": "scopes = '[\"admin\"]'",
    "shares": "collection = 'other'",
    "sessions": "key_id = 'other'",
    "tasks": "name = 'never.md'",
    "privacy": "history = 'none'",
    "spending": "tokens = 0",
    "lectures": "title = 'Never'",
    "lecture_segments": "text = 'Never said.'",
    "lecture_windows": "text = 'Never said.'",
    "lecture_citations": "rank = 9",
}


@pytest.mark.soak
@pytest.mark.parametrize("keys", [False, True])
async def test_a_repaired_library_is_backed_up(tmp_path: Path, keys: bool) -> None:
    home, model = tmp_path / "home", build_tiny(tmp_path)
    before = (await make_home(home, model)).rows
    with closing(sqlite3.connect(home / CATALOGUE)) as catalogue:
        for table in PARENTS if keys else DAMAGE:
            key = metadata.tables[table].primary_key.columns[0].name
            change = f"{key} = 'x'" if keys else DAMAGE[table]
            first = f"(SELECT min(rowid) FROM {table})"
            catalogue.execute(f"UPDATE {table} SET {change} WHERE rowid = {first}")
        catalogue.commit()
    async with open_tenants(settings_of(home, model)) as tenants:
        steps = [step async for step in repair_library(tenants)]
        assert [step async for step in repair_library(tenants)] == []
        make_backup(tenants.database, tmp_path / "backup", home=home)
        answer = await tenants.engine("local").answer("What is honey made from?")
        assert answer.citations
    assert verify_backup(tmp_path / "backup").documents == len(before["documents"])
    assert damaged_rows(home / CATALOGUE) == []
    (kept,) = home.glob("catalogue.*.damaged")
    assert any(kept.name in step.what for step in steps)
    after = rows_of(home)
    for table in ("answers", "records", "lecture_segments", "chunks", "audit"):
        assert len(before[table]) - len(after[table]) <= 1, table
    if keys:
        assert not [step for step in steps if "answers" in step.what]
    else:
        named = {step.what.split(" row of ")[-1].split(":")[0] for step in steps}
        assert set(DAMAGE) - {"documents", "chunks", "spots"} <= named


def test_a_damaged_row_on_a_server_is_set_aside(tmp_path: Path, server: Server) -> None:
    database = open_database(server.empty())
    lectures = Lectures(database, tenant="ada")
    kept, lost = (lectures.start(title=each, collections=["a"]).session_id for each in "ab")
    lectures.put_segments(lost, [TranscriptSegment("s1", 0.0, 9.0, "Bees in winter.")])
    with database.engine.begin() as connection:
        connection.execute(text(f"UPDATE lectures SET title = 'Never' WHERE id = '{lost}'"))
    damage = {each.row: each for each in find_damage(database, home=tmp_path) if each.row}
    assert len(damage) == 1
    assert len(list(set_aside(database, damage, home=tmp_path))) == 2
    assert find_damage(database, home=tmp_path) == []
    assert lectures.lecture(kept).title == "a"
    assert lectures.lecture(lost).title.startswith("recovered-")
    assert len(lectures.segments(lost)) == 1
    database.close()


def test_all_rows_that_are_made_from_a_file_are_read_again() -> None:
    made = {
        table
        for table in metadata.sorted_tables
        if any(key.column.table is documents for key in table.foreign_keys)
    }
    assert {*READ_AGAIN} == {documents, *made} - {replaced_documents}
