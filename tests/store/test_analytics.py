"""Figures of running metrics, from rows of the catalogue, on each database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from quoth.store.analytics import AnalyticsReader, Feedback, Satisfaction
from quoth.store.checksums import intact, row_checksum
from quoth.store.database import open_database
from quoth.store.history import AnswerMeasures, StoredRecord
from quoth.store.schema import feedback, queries
from tests.support.made_documents import open_catalogue
from tests.support.old_catalogues import unpack

ROW = StoredRecord("q_1", "default", "Who?", "{}", "{}", "1", status="answered")


def test_shares_are_over_all_sentences_and_passages(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    reader = AnalyticsReader.of(catalogue)
    measured = [None, AnswerMeasures(1, 1, 4, 2), AnswerMeasures(7, 5, 6, 2)]
    measured += [AnswerMeasures(0, 0, 0, 0)]
    for number, measures in enumerate(measured):
        catalogue.record(replace(ROW, query_id=f"q_{number}", measures=measures))
        found = reader.figures(days=1)
        if number == 0:
            assert (found.citation_accuracy, found.precision_at_k) == (None, None)
            assert found.satisfaction == Satisfaction(None, 0)
    found = reader.figures(days=1)
    assert (found.queries, found.citation_accuracy, found.precision_at_k) == (4, 0.75, 0.4)
    assert reader.figures(days=1, collection="other").citation_accuracy is None
    for number, satisfaction in enumerate((1, 5, 5, None)):
        reader.rate(f"q_{number}", rating=1, comment="", satisfaction=satisfaction)
    found = reader.figures(days=1)
    assert (found.satisfaction, found.liked, found.disliked) == (Satisfaction(3.67, 3), 4, 0)
    with catalogue.reading() as connection:
        rows = connection.execute(select(feedback).order_by(feedback.c.query_id)).all()
        assert len(list(intact(rows))) == 4
    at = [column.name for column in feedback.columns].index("satisfaction")
    assert list(intact([(*row[:at], 2, *row[at + 1 :]) for row in rows])) == []
    catalogue.close()


def test_feedback_of_an_earlier_version_stays_intact(tmp_path: Path) -> None:
    file = unpack("0017", tmp_path)
    with closing(sqlite3.connect(file)) as catalogue, catalogue:
        (query_id, tenant) = catalogue.execute("SELECT id, tenant FROM queries").fetchone()
        given = (query_id, tenant, -1, "Too long.", "2026-01-01T00:00:00.000+00:00")
        columns = "query_id, tenant, rating, comment, created_at, checksum"
        catalogue.execute(
            f"INSERT INTO feedback ({columns}) VALUES (?, ?, ?, ?, ?, ?)",
            (*given, row_checksum(given)),
        )
    database = open_database(file)
    with database.reading() as connection:
        assert len([*intact(connection.execute(select(feedback)).all())]) == 1
    kept = AnalyticsReader(database, tenant=tenant).feedback(query_id)
    assert kept == Feedback(-1, "Too long.", given[-1], None)
    database.close()


@pytest.mark.parametrize("version", ["0004", "0017"])
def test_rows_of_an_earlier_version_are_not_measured(tmp_path: Path, version: str) -> None:
    database = open_database(unpack(version, tmp_path))
    with database.reading() as connection:
        (row,) = intact(connection.execute(select(queries)).all())
    assert [getattr(row, name) for name in AnswerMeasures.__slots__] == [None] * 4
    found = AnalyticsReader(database, tenant=row.tenant).figures(days=366)
    assert (found.citation_accuracy, found.precision_at_k) == (None, None)
    database.close()
