"""Live sessions in the catalogue, on both databases: kept whole, one tenant's, exported, erased."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quoth.core.errors import NotFound
from quoth.core.lecture import LiveCitation, TranscriptSegment, WindowRecord
from quoth.core.types import Pages
from quoth.operations.tenant_data import TenantData, digest_of
from quoth.store.database import open_database
from quoth.store.erase import RetentionReport, forget_all
from quoth.store.lectures import Lectures


def card(session_id: str, *, window: int, rank: int = 1, page: int = 12) -> LiveCitation:
    """A card of a book's page."""
    return LiveCitation(
        id=f"{session_id[:8]}-{window}-{rank}",
        number=rank,
        document_id="book",
        document_name="Book",
        chunk_id="c1",
        section_heading="1.1",
        locator=Pages(page, page, str(page - 10), str(page - 10)),
        page=str(page - 10),
        page_number=page,
        snippet="An eval and an apply.",
        snippet_start=3,
        snippet_end=24,
        link="book.pdf#page=12",
        relevance_score=0.93,
        support="unverified",
        support_score=None,
        retrieval_method="hybrid",
        created_at="2026-01-01T00:00:00.000+00:00",
        session_id=session_id,
        transcript_id="s1",
        window_index=window,
        rank=rank,
    )


def window(session_id: str, index: int, **options: int) -> WindowRecord:
    """A window with one card."""
    when = "2026-01-01T00:00:00.000+00:00"
    cards = (card(session_id, window=index, **options),)
    return WindowRecord(index, 10.0 * index, 10.0 * index + 9, "Words.", "s1", when, cards)


def test_a_session_keeps_its_transcript_its_windows_and_their_citations(
    address: str | Path,
) -> None:
    store = Lectures(open_database(address), tenant="ada")
    lecture = store.start(title="Calculus", collections=["books"], language="en")
    key = lecture.session_id
    first = TranscriptSegment("s1", 0, 2, "We begin.")
    store.put_segments(key, [TranscriptSegment("s2", 2, 4, "Then we go on."), first])
    store.put_segments(key, [TranscriptSegment("s2", 2, 4, "Then we went on.", revision=1)])
    assert [segment.text for segment in store.segments(key)] == ["We begin.", "Then we went on."]
    store.put_windows(key, [window(key, 0), window(key, 1), window(key, 2)])
    store.put_windows(key, [window(key, 1, page=40)], gone=[2])
    assert store.windows(key) == [window(key, 0), window(key, 1, page=40)]
    assert [shown.page_number for shown in store.citations(key)] == [12, 40]
    assert store.citation(card(key, window=0).id) == card(key, window=0)
    assert [
        (said.session_id, at.index) for said, at in store.explained(["book"], page_number=40)
    ] == [(key, 1)]
    assert store.claim(key, "caller") == "caller"
    assert store.claim(key, "server") == "caller"
    assert store.change(key, collections=["books", "notes"]).collections == ("books", "notes")
    assert store.forget_documents(["other"]) == 2
    store.delete(key)
    with pytest.raises(NotFound):
        store.lecture(key)
    assert store.segments(key) == []
    store.close()


def test_sessions_are_one_tenants_exported_erased_and_forgotten_in_time(
    address: str | Path,
) -> None:
    database = open_database(address)
    store, other = (Lectures(database, tenant=name) for name in ("ada", "bob"))
    key = store.start(title="Calculus", collections=["books"]).session_id
    store.put_segments(key, [TranscriptSegment("s1", 0, 2, "We begin.")])
    store.put_windows(key, [window(key, 0)])
    kept = other.start(title="Other", collections=[]).session_id
    assert (other.citations(key), other.windows(key), other.segments(key)) == ([], [], [])
    assert other.explained(["book"]) == []
    with pytest.raises(NotFound):
        other.citation(card(key, window=0).id)
    with pytest.raises(NotFound):
        other.delete(key)
    data = TenantData(database, tenant="ada")
    rows = list(data.rows())
    assert {row["table"] for row in rows} == {
        *("lectures", "lecture_segments", "lecture_windows", "lecture_citations"),
    }
    receipt = data.delete()
    assert receipt.rows["lecture_citations"] == 1
    assert receipt.digest == digest_of(rows)
    assert list(data.rows()) == []
    later = datetime.now(UTC) + timedelta(days=400)
    assert forget_all(database, now=later) == {"bob": RetentionReport(lectures=1)}
    with pytest.raises(NotFound):
        other.lecture(kept)
    database.close()
