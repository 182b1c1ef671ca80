"""Requests and responses of live sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from quoth.core.lecture import (
    Lecture,
    LiveCitation,
    SpeechState,
    TranscriptSegment,
    WindowRecord,
)
from quoth.interfaces.http.schemas import Body, CollectionName, Id
from quoth.interfaces.http.text_rules import Line, Text
from quoth.live.segments import MAX_CHARACTERS, MAX_SECONDS
from quoth.store.shares import MAX_DAYS

MAX_SEGMENTS = 500
"""Segments of one request."""
MAX_DOCUMENTS = 100
"""Documents attached to a session one by one; more are a collection."""
MAX_WINDOW = 1_000_000
Second = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]


class NewSessionRequest(Body):
    """A new live session, with the collections and single documents that it cites."""

    title: Annotated[Line, Field(min_length=1, max_length=300)] = "Lecture"
    collections: Annotated[list[CollectionName], Field(max_length=20, default_factory=list)]
    documents: Annotated[list[Id], Field(max_length=MAX_DOCUMENTS, default_factory=list)]
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2}$")] = None


class SessionChange(Body):
    """Another title, or other collections and documents to cite from now on."""

    title: Annotated[Line, Field(min_length=1, max_length=300)] | None = None
    collections: Annotated[list[CollectionName] | None, Field(max_length=20)] = None
    documents: Annotated[list[Id] | None, Field(max_length=MAX_DOCUMENTS)] = None


class SegmentRequest(Body):
    """Words from `start` to `end` seconds; the same id with a higher revision replaces them."""

    segment_id: Annotated[Line, Field(min_length=1, max_length=100)] | None = None
    start: Second
    end: Second
    text: Annotated[Text, Field(max_length=MAX_CHARACTERS)]
    final: bool = True
    revision: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    speaker: Annotated[Line, Field(max_length=100)] | None = None
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2}$")] = None

    def value(self) -> TranscriptSegment:
        """Return the segment; one without an id is named by its time."""
        name = self.segment_id or f"t{self.start:012.3f}"
        given = self.model_dump(exclude={"segment_id"})
        return TranscriptSegment(segment_id=name, **given)


class SegmentsRequest(Body):
    """Segments in any order; those known already are ignored."""

    segments: Annotated[list[SegmentRequest], Field(min_length=1, max_length=MAX_SEGMENTS)]


class RagRequest(Body):
    """A window of a session whose windows the caller numbers."""

    session_id: Id
    transcript_text: Annotated[Text, Field(min_length=1, max_length=20_000)]
    window_index: Annotated[int, Field(ge=0, le=MAX_WINDOW)]


class LectureShareRequest(Body):
    """Days until the share of a session expires."""

    expires_days: Annotated[float, Field(gt=0, le=MAX_DAYS, allow_inf_nan=False)] = 1


@dataclass(frozen=True, slots=True)
class LectureView:
    """A session with everything said and cited so far; events follow from ``last_event_id``.

    ``translates`` is whether there is a language model for translated captions.
    """

    session: Lecture
    segments: list[TranscriptSegment]
    windows: list[WindowRecord]
    last_event_id: int
    speech: SpeechState = field(default_factory=SpeechState)
    translates: bool = False


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, the newest first."""

    sessions: list[Lecture]
    total: int
    skip: int
    limit: int


@dataclass(frozen=True, slots=True)
class QueryMetadata:
    """What a window was about, and the time of its look-up."""

    keywords: tuple[str, ...]
    expanded_concepts: tuple[str, ...]
    processing_time_ms: int


@dataclass(frozen=True, slots=True)
class RagResult:
    """The citations of a window, perhaps none."""

    window_index: int
    citations: tuple[LiveCitation, ...]
    query_metadata: QueryMetadata


@dataclass(frozen=True, slots=True)
class LiveCitations:
    """The citations of a session, by window and rank."""

    citations: list[LiveCitation]


@dataclass(frozen=True, slots=True)
class AcceptedSegments:
    """How many segments are stored."""

    accepted: int


@dataclass(frozen=True, slots=True)
class FullLiveCitation(LiveCitation):
    """A citation of a session with the whole text of its chunk, empty where it is gone."""

    full_chunk_text: str = ""
