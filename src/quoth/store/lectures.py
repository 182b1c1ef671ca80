"""Live sessions in the catalogue: the transcript, the windows and their citations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, insert, select, update

from quoth.core.errors import NotFound
from quoth.core.lecture import Lecture, LiveCitation, Numbering, TranscriptSegment, WindowRecord
from quoth.store import schema
from quoth.store.checksums import first_intact, intact
from quoth.store.database import TenantConnection
from quoth.store.lecture_tables import (
    lecture_citations,
    lecture_segments,
    lecture_windows,
    lectures,
)
from quoth.store.rows import from_row, now
from quoth.text.json_codec import dump

_CITATION: TypeAdapter[LiveCitation] = TypeAdapter(LiveCitation)


class Lectures(TenantConnection):
    """The live sessions of one tenant."""

    def start(
        self,
        *,
        title: str,
        collections: Sequence[str] = (),
        documents: Sequence[str] = (),
        language: str | None = None,
    ) -> Lecture:
        """Store a new session without words."""
        lecture = Lecture(
            str(uuid4()), title, language, tuple(collections), "", "open", now(),
            documents=tuple(documents),
        )  # fmt: skip
        with self.writing("start lecture") as connection:
            connection.execute(
                insert(lectures).values(
                    id=lecture.session_id,
                    tenant=self.tenant,
                    title=title,
                    language=language,
                    collections=dump(list(collections)),
                    documents=dump(list(documents)) if documents else None,
                    numbering="",
                    state="open",
                    created_at=lecture.created_at,
                )
            )
        return lecture

    def lecture(self, session_id: str) -> Lecture:
        """Return a session; raises NotFound."""
        own = self._own(session_id)
        with self.reading() as connection:
            row = first_intact(connection.execute(select(lectures).where(own)))
        if row is None:
            raise NotFound(f"There is no session with the id '{session_id}'.")
        return _lecture(row)

    def all(self, *, skip: int = 0, limit: int = 50) -> list[Lecture]:
        """List the sessions, the newest first."""
        own = select(lectures).where(lectures.c.tenant == self.tenant)
        order = own.order_by(lectures.c.created_at.desc(), lectures.c.id)
        with self.reading() as connection:
            rows = connection.execute(order.offset(skip).limit(limit))
            return [_lecture(row) for row in intact(rows)]

    def total(self) -> int:
        """Count the sessions."""
        return self.count_rows(lectures)

    def change(self, session_id: str, **values: Any) -> Lecture:
        """Change columns of a session; raises NotFound."""
        for name in {"collections", "documents"} & values.keys():
            values[name] = dump(list(values[name]))
        own = self._own(session_id)
        with self.writing("change lecture") as connection:
            connection.execute(update(lectures).where(own).values(**values))
        return self.lecture(session_id)

    def claim(self, session_id: str, numbering: Numbering) -> Numbering:
        """Set who numbers the windows unless that is decided; return who does."""
        own = self._own(session_id) & (lectures.c.numbering == "")
        with self.writing("number lecture") as connection:
            connection.execute(update(lectures).where(own).values(numbering=numbering))
        return self.lecture(session_id).numbering

    def delete(self, session_id: str) -> None:
        """Delete a session with all that hangs on it; raises NotFound."""
        self.lecture(session_id)
        own = self._own(session_id)
        with self.writing("delete lecture") as connection:
            connection.execute(delete(lectures).where(own))

    def homes(self, document_ids: Sequence[str]) -> dict[str, str]:
        """Return the collection of each document that is there, or is still being added."""
        found: dict[str, str] = {}
        with self.reading() as connection:
            for column in (schema.jobs.c.document_id, schema.documents.c.id):
                its = (column.table.c.tenant == self.tenant) & column.in_(document_ids)
                home = column.table.c.collection_id == schema.collections.c.id
                rows = connection.execute(
                    select(column.label("id"), schema.collections.c.name).where(its, home)
                )
                found |= {row.id: row.name for row in rows}
        return found

    def talk_of(self, session_id: str) -> dict[str, str]:
        """Return the document that a session was added as and its collection, if still there."""
        return self.homes([self.lecture(session_id).document_id or ""])

    def put_segments(self, session_id: str, segments: Sequence[TranscriptSegment]) -> None:
        """Write final segments; one that is there is replaced."""
        table = lecture_segments
        with self.writing("put segments", alone=False) as connection:
            for segment in segments:
                its = (table.c.lecture_id == session_id) & (table.c.id == segment.segment_id)
                connection.execute(delete(table).where(table.c.tenant == self.tenant, its))
                connection.execute(
                    insert(table).values(
                        lecture_id=session_id,
                        id=segment.segment_id,
                        tenant=self.tenant,
                        start=segment.start,
                        end=segment.end,
                        text=segment.text,
                        revision=segment.revision,
                        speaker=segment.speaker,
                        language=segment.language,
                    )
                )

    def segments(self, session_id: str) -> list[TranscriptSegment]:
        """Return the transcript in the order of the lecture."""
        table = lecture_segments
        its = (table.c.tenant == self.tenant) & (table.c.lecture_id == session_id)
        order = select(table).where(its).order_by(table.c.start, table.c.end, table.c.id)
        with self.reading() as connection:
            return [
                from_row(TranscriptSegment, row, segment_id=row.id, final=True)
                for row in intact(connection.execute(order))
            ]

    def put_windows(
        self, session_id: str, windows: Sequence[WindowRecord], *, gone: Sequence[int] = ()
    ) -> None:
        """Write windows with their citations in place of what is there, and remove others."""
        with self.writing("put windows", alone=False) as connection:
            for number in (*gone, *(window.index for window in windows)):
                for table, column in (
                    (lecture_citations, lecture_citations.c.window_number),
                    (lecture_windows, lecture_windows.c.number),
                ):
                    its = (table.c.tenant == self.tenant) & (table.c.lecture_id == session_id)
                    connection.execute(delete(table).where(its, column == number))
            for window in windows:
                self._insert(connection, session_id, window)

    def _insert(self, connection: Connection, session_id: str, window: WindowRecord) -> None:
        owner = {"lecture_id": session_id, "tenant": self.tenant}
        connection.execute(
            insert(lecture_windows).values(
                **owner,
                number=window.index,
                start=window.start,
                end=window.end,
                text=window.text,
                transcript_id=window.transcript_id,
                created_at=window.created_at,
            )
        )
        for citation in window.citations:
            connection.execute(
                insert(lecture_citations).values(
                    **owner,
                    id=citation.id,
                    window_number=window.index,
                    rank=citation.rank,
                    document_id=citation.document_id,
                    page_number=citation.page_number,
                    citation=dump(asdict(citation)),
                    created_at=citation.created_at,
                )
            )

    def windows(self, session_id: str) -> list[WindowRecord]:
        """Return the windows with their citations, in order."""
        citations: dict[int, list[LiveCitation]] = {}
        for citation in self.citations(session_id):
            citations.setdefault(citation.window_index, []).append(citation)
        table = lecture_windows
        its = (table.c.tenant == self.tenant) & (table.c.lecture_id == session_id)
        ordered = select(table).where(its).order_by(table.c.number)
        with self.reading() as connection:
            return [
                from_row(
                    WindowRecord,
                    row,
                    index=row.number,
                    citations=tuple(citations.get(row.number, ())),
                )
                for row in intact(connection.execute(ordered))
            ]

    def citations(self, session_id: str) -> list[LiveCitation]:
        """Return the citations of a session by window and rank."""
        table = lecture_citations
        order = select(table).where(table.c.tenant == self.tenant, table.c.lecture_id == session_id)
        with self.reading() as connection:
            rows = connection.execute(order.order_by(table.c.window_number, table.c.rank))
            return [_CITATION.validate_json(row.citation) for row in intact(rows)]

    def citation(self, citation_id: str) -> LiveCitation:
        """Return a citation of any session; raises NotFound."""
        table = lecture_citations
        its = (table.c.tenant == self.tenant) & (table.c.id == citation_id)
        with self.reading() as connection:
            row = first_intact(connection.execute(select(table).where(its)))
        if row is None:
            raise NotFound(f"There is no citation with the id '{citation_id}'.")
        return _CITATION.validate_json(row.citation)

    def explained(
        self, ids: Sequence[str], *, page_number: int | None = None
    ) -> list[tuple[Lecture, WindowRecord]]:
        """Return the windows of all sessions that cite one of the documents, or one PDF page."""
        cited = lecture_citations
        its = (cited.c.tenant == self.tenant) & cited.c.document_id.in_(ids)
        if page_number is not None:
            its &= cited.c.page_number == page_number
        chosen = select(cited.c.lecture_id, cited.c.window_number).where(its).distinct()
        with self.reading() as connection:
            places = {(row.lecture_id, row.window_number) for row in connection.execute(chosen)}
        found = []
        for session_id in sorted({session for session, _ in places}):
            lecture = self.lecture(session_id)
            found += [
                (lecture, window)
                for window in self.windows(session_id)
                if (session_id, window.index) in places
            ]
        return sorted(found, key=lambda pair: (pair[0].created_at, pair[1].start))

    def forget_documents(self, living: Sequence[str]) -> int:
        """Delete the citations of documents that are no longer there; return their number."""
        table = lecture_citations
        own = table.c.tenant == self.tenant
        with self.writing("forget lecture citations") as connection:
            known = connection.execute(select(table.c.document_id).where(own).distinct())
            gone = {row.document_id for row in known} - set(living)
            return sum(
                connection.execute(delete(table).where(own, table.c.document_id == key)).rowcount
                for key in sorted(gone)
            )

    def count(self, session_id: str) -> int:
        """Return the number of windows of a session."""
        return self.count_rows(lecture_windows, lecture_windows.c.lecture_id == session_id)

    def _own(self, session_id: str) -> Any:
        return (lectures.c.tenant == self.tenant) & (lectures.c.id == session_id)


def _lecture(row: Any) -> Lecture:
    return from_row(
        Lecture,
        row,
        session_id=row.id,
        collections=tuple(json.loads(row.collections)),
        documents=tuple(json.loads(row.documents or "[]")),
    )
