"""Routes for live sessions: segments in, citations out, while the lecture is spoken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Conflict, InputError, NotFound, QuothError
from quoth.core.lecture import Lecture, SpeechFormat, TranscriptSegment
from quoth.history.lecture_export import EXPORTS, LectureFormat
from quoth.history.talk import update_talk
from quoth.interfaces.http.dependencies import Speaker, require_scopes
from quoth.interfaces.http.lecture_schemas import (
    MAX_WINDOW,
    AcceptedSegments,
    FullLiveCitation,
    LectureShareRequest,
    LectureView,
    LiveCitations,
    NewSessionRequest,
    QueryMetadata,
    RagRequest,
    RagResult,
    SegmentsRequest,
    SessionChange,
    SessionPage,
)
from quoth.interfaces.http.live_sessions import RunningSessions, Viewer, require_viewer
from quoth.interfaces.http.problem_details import send_problem
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.interfaces.http.requests import require_collection
from quoth.interfaces.http.responses import ApiResponse, to_json, to_public
from quoth.interfaces.http.schemas import Limit, OneId, Skip, text_content
from quoth.interfaces.http.sse import EventStream, encode_event
from quoth.live.snippets import related_concepts, window_keywords
from quoth.pipeline.asked_window import ask_window
from quoth.pipeline.live_language_model import TranslatedCaption
from quoth.pipeline.live_session import LiveSession
from quoth.pipeline.uploads import upload_store
from quoth.store.lectures import Lectures
from quoth.store.shares import NewShare, Shares

router = APIRouter(tags=["live"])
ReadMessage = Callable[[Any], list[TranscriptSegment]]
"""Reads the messages of a provider."""


@router.post(
    "/v1/sessions", summary="Start a live session", status_code=201, response_model=Lecture
)
@router.post("/api/v1/sessions", include_in_schema=False, status_code=201)
async def start(request: Request, body: NewSessionRequest, caller: Speaker) -> Response:
    """Start a session that cites these collections and documents, also those still being added."""
    await asyncio.to_thread(_require_attachable, caller, body.collections, body.documents)
    made = await asyncio.to_thread(
        _store(caller).start,
        title=body.title,
        collections=body.collections,
        documents=body.documents,
        language=body.language,
    )
    request_state(request.scope).object_id = made.session_id
    return ApiResponse(made, status_code=201)


@router.get("/v1/sessions", summary="List live sessions", response_model=SessionPage)
async def sessions(caller: Speaker, skip: Skip = 0, limit: Limit = 20) -> Response:
    """List the live sessions of the tenant, the newest first."""
    found = await asyncio.to_thread(_store(caller).all, skip=skip, limit=limit)
    total = await asyncio.to_thread(_store(caller).total)
    return ApiResponse(SessionPage(found, total, skip, limit))


@router.get("/v1/sessions/{session_id}", summary="Show a live session", response_model=LectureView)
async def session(request: Request, session_id: OneId, caller: Viewer) -> Response:
    """Return the transcript, the windows and their citations so far."""
    running = await _running(request, caller, session_id)
    last = running.events.last_id
    store = _store(caller)
    # Read again, since another process may run the session.
    lecture = await asyncio.to_thread(store.lecture, session_id)
    segments = await asyncio.to_thread(store.segments, session_id)
    windows = await asyncio.to_thread(store.windows, session_id)
    speech = _sessions(request).speech_state(caller, session_id)
    translates = running.parts.task_model is not None
    return ApiResponse(LectureView(lecture, segments, windows, last, speech, translates))


@router.patch("/v1/sessions/{session_id}", summary="Change a live session", response_model=Lecture)
async def change(
    request: Request, session_id: OneId, body: SessionChange, caller: Speaker
) -> Response:
    """Change the title of a session, or attach other collections and documents.

    What was attached before and is gone since may stay.
    """
    running = await _running(request, caller, session_id)
    known = running.lecture
    names = set(body.collections or ()) - set(known.collections)
    ids = set(body.documents or ()) - set(known.documents)
    await asyncio.to_thread(_require_attachable, caller, sorted(names), sorted(ids))
    talk = await asyncio.to_thread(_store(caller).talk_of, session_id)
    if names & {*talk.values()} or ids & {*talk}:
        raise Conflict("The transcript of this session is among these: it would cite itself.")
    given = {name: value for name, value in body.model_dump().items() if value is not None}
    if given:
        running.lecture = await asyncio.to_thread(_store(caller).change, session_id, **given)
    return ApiResponse(running.lecture)


@router.delete("/v1/sessions/{session_id}", summary="Delete a live session", status_code=204)
async def delete(request: Request, session_id: OneId, caller: Speaker) -> Response:
    """Delete a session with its transcript and its citations."""
    await asyncio.to_thread(_store(caller).lecture, session_id)
    await _sessions(request).drop(caller, session_id)
    await asyncio.to_thread(_store(caller).delete, session_id)
    return Response(status_code=204)


@router.post(
    "/v1/sessions/{session_id}/segments",
    summary="Send what is said",
    status_code=202,
    response_model=AcceptedSegments,
)
async def segments(
    request: Request, session_id: OneId, body: SegmentsRequest, caller: Speaker
) -> Response:
    """Take segments, stored and acknowledged before anything is looked up."""
    running = await _running(request, caller, session_id)
    count = await running.push([segment.value() for segment in body.segments])
    return ApiResponse(AcceptedSegments(count), status_code=202)


@router.post("/v1/sessions/{session_id}/end", summary="End a live session", response_model=Lecture)
async def end(request: Request, session_id: OneId, caller: Speaker) -> Response:
    """Complete the last window and end the session; what was said and cited stays.

    A talk that the session was kept as receives its last words.
    """
    running = await _running(request, caller, session_id)
    await _sessions(request).end_speech(caller, session_id)
    await running.end()
    running.lecture = await update_talk(caller.engine, session_id)
    return ApiResponse(running.lecture)


@router.post("/v1/rag/query", summary="Look up one window", response_model=RagResult)
@router.post("/api/v1/rag/query", include_in_schema=False)
async def rag_query(request: Request, body: RagRequest, caller: Speaker) -> Response:
    """Look up a window that the caller numbers; the same again gives the stored result.

    Another text under the same number is refused (409), and so is a session that numbers its
    windows itself.
    """
    running = await _running(request, caller, body.session_id)
    began = time.perf_counter()
    cards, found = await ask_window(running, body.window_index, body.transcript_text)
    spent = round((time.perf_counter() - began) * 1000)
    passages = [found.chunk(each.chunk_id) for each in found.candidates[:3]]
    words = window_keywords(
        body.transcript_text, [each.text for each in passages], language=found.language or "en"
    )
    headings = [each.section[-1] for each in passages if each.section]
    about = QueryMetadata(words, related_concepts(headings, words), spent)
    return ApiResponse(RagResult(body.window_index, cards, about))


@router.get(
    "/v1/sessions/{session_id}/citations",
    summary="List the citations of a session",
    response_model=LiveCitations,
)
@router.get("/api/v1/sessions/{session_id}/citations", include_in_schema=False)
async def citations(session_id: OneId, caller: Viewer) -> Response:
    """Return the citations by window and rank."""
    await asyncio.to_thread(_store(caller).lecture, session_id)
    found = await asyncio.to_thread(_store(caller).citations, session_id)
    return ApiResponse(LiveCitations(found))


@router.get(
    "/v1/citations/{citation_id}",
    summary="Show a citation of a session",
    response_model=FullLiveCitation,
)
@router.get("/api/v1/citations/{citation_id}", include_in_schema=False)
async def citation(request: Request, citation_id: OneId) -> Response:
    """Return a citation with the whole text of its chunk; empty where the document is gone."""
    principal = request_state(request.scope).principal
    caller = require_viewer(principal, principal.lecture or "" if principal else "")
    found = await asyncio.to_thread(_store(caller).citation, citation_id)
    if caller.lecture not in (None, found.session_id):
        raise NotFound(f"There is no citation with the id '{citation_id}'.")
    chunks = await asyncio.to_thread(caller.engine.parts.catalogue.chunks, [found.chunk_id])
    text = chunks[found.chunk_id].text if found.chunk_id in chunks else ""
    return ApiResponse({**to_public(found), "full_chunk_text": text})


@router.get(
    "/v1/sessions/{session_id}/windows/{window_index}/caption",
    summary="Translate a window",
    response_model=TranslatedCaption,
)
async def caption(
    request: Request,
    session_id: OneId,
    window_index: Annotated[int, Path(ge=0, le=MAX_WINDOW)],
    caller: Viewer,
    language: Annotated[str, Query(pattern=r"^[a-z]{2}$")],
) -> Response:
    """Return what is said in a window in another language, as a language model translates it.

    An audience may read the languages that a caller with a key has asked for.
    """
    running = await _running(request, caller, session_id)
    if window_index >= len(running.progress.windows):
        raise NotFound(f"This session has no window {window_index}.")
    window = running.progress.windows[window_index]
    opens = caller.lecture is None
    made = running.captions.caption(running.parts, window, language=language, opens=opens)
    return ApiResponse(await made)


@router.get(
    "/v1/sessions/{session_id}/events",
    summary="Follow a live session",
    response_class=EventStream,
    responses={200: {"description": "The events, each with its number as the id."}},
)
async def events(request: Request, session_id: OneId, caller: Viewer) -> Any:
    """Stream `segment`, `window`, `citations`, `stale`, `slow`, `speech` and `end` as they come.

    With the header Last-Event-ID the stream goes on behind that event, within ten minutes.
    """
    running = await _running(request, caller, session_id)
    after = _event_number(request.headers.get("last-event-id", ""))
    return EventStream(running.events.read(after), encode=_encode)


@router.post(
    "/v1/sessions/{session_id}/share",
    summary="Share a live session",
    status_code=201,
    response_model=NewShare,
)
async def share(
    request: Request, session_id: OneId, body: LectureShareRequest, caller: Speaker
) -> Response:
    """Create a token with which an audience can follow this session, and nothing else."""
    await asyncio.to_thread(_store(caller).lecture, session_id)
    shares = Shares.of(caller.engine.parts.catalogue)
    made: NewShare = await asyncio.to_thread(
        shares.add, collection="", expires_days=body.expires_days, lecture_id=session_id
    )
    request_state(request.scope).object_id = made.share.share_id
    return ApiResponse(made, status_code=201)


@router.get(
    "/v1/sessions/{session_id}/export",
    summary="Export a live session",
    response_class=Response,
    responses={
        200: {
            "description": "The transcript with its citations, as a file.",
            "content": text_content(kind for kind, _write in EXPORTS.values()),
        }
    },
)
async def export(
    session_id: OneId,
    caller: Viewer,
    form: Annotated[LectureFormat, Query(alias="format")] = LectureFormat.vtt,
) -> Response:
    """Return the transcript with its citations as WebVTT, Markdown or HTML."""
    store = _store(caller)
    lecture = await asyncio.to_thread(store.lecture, session_id)
    said = await asyncio.to_thread(store.segments, session_id)
    windows = await asyncio.to_thread(store.windows, session_id)
    media_type, write = EXPORTS[form]
    return Response(write(lecture, said, windows), media_type=media_type)


@router.websocket("/v1/sessions/{session_id}/socket")
async def socket(
    websocket: WebSocket,
    session_id: str,
    form: Annotated[SpeechFormat, Query(alias="format")] = "quoth",
) -> None:
    """Take segments as JSON messages and send events, on one connection.

    A speaker's message is a segment, {"segments": […]} or {"end": true}; a viewer only reads.
    With ``?format=deepgram`` (or openai, livekit, zoom) it is a message of that provider.
    """
    caller = require_viewer(request_state(websocket.scope).principal, session_id)
    running = await _running(websocket, caller, session_id)
    own = form == "quoth"
    read = None if own else partial(running.source(form).read, connection=uuid4().hex)
    await websocket.accept()
    after = _event_number(websocket.query_params.get("last_event_id", ""))
    send = asyncio.create_task(_send_events(websocket, running, after))
    try:
        with suppress(WebSocketDisconnect):
            while True:
                await _take(websocket, running, caller, read)
    finally:
        send.cancel()


async def _take(
    websocket: WebSocket, running: LiveSession, caller: Principal, read: ReadMessage | None
) -> None:
    try:
        message: Any = await websocket.receive_json()
        require_scopes(caller, "live")
        if isinstance(message, dict) and message.get("end") is True:
            await websocket.app.state.live.end_speech(caller, running.lecture.session_id)
            await running.end()
            return
        count = await running.push(_segments_of(message, read))
        await websocket.send_json({"event": "accepted", "accepted": count})
    except (ValidationError, ValueError) as error:
        await send_problem(websocket, InputError(f"This message is no segment: {error}"))
    except QuothError as error:
        await send_problem(websocket, error)


def _segments_of(message: Any, read: ReadMessage | None) -> list[TranscriptSegment]:
    if read is not None:
        rows = [asdict(segment) for segment in read(message)]
        if not rows:
            return []
        message = {"segments": rows}
    listed = isinstance(message, dict) and "segments" in message
    body = SegmentsRequest.model_validate(message if listed else {"segments": [message]})
    return [segment.value() for segment in body.segments]


def _event_number(text: str) -> int | None:
    """Return the number of the last event that a client has; None where it gives none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


async def _send_events(websocket: WebSocket, running: LiveSession, after: int | None) -> None:
    async for number, event in running.events.read(after):
        await websocket.send_text(to_json({"id": number, **to_public(event)}).decode())


async def _encode(events: AsyncGenerator[Any, None]) -> AsyncGenerator[bytes, None]:
    async for number, event in events:
        data = to_json(to_public(event))
        yield b"id: %d\n" % number + encode_event(event.event, data)


def _require_attachable(
    caller: Principal, collections: Sequence[str], documents: Sequence[str]
) -> None:
    """Raise NotFound for a collection or a document that is not there, nor on its way."""
    uploads = upload_store(caller.engine.parts)
    for name in collections:
        if caller.collection not in (None, name) or not uploads.awaits(name):
            require_collection(caller, name)
    homes = _store(caller).homes(documents)
    own = {key for key, name in homes.items() if caller.collection in (None, name)}
    if missing := next((each for each in documents if each not in own), None):
        raise NotFound(f"There is no document with the id '{missing}'.")


def _sessions(request: Request | WebSocket) -> RunningSessions:
    found: RunningSessions = request.app.state.live
    return found


async def _running(request: Request | WebSocket, caller: Principal, session_id: str) -> LiveSession:
    return await _sessions(request).of(caller, session_id)


def _store(caller: Principal) -> Lectures:
    return Lectures.of(caller.engine.parts.catalogue)
