"""Routes for live sessions as talks: what was said can be asked; a page names who explained it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.lecture import Lecture
from quoth.history.talk import ExplainedMoment, explained_moments, keep_as_talk
from quoth.interfaces.http.dependencies import TalkKeeper
from quoth.interfaces.http.live_sessions import require_viewer
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.requests import listing_of
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import Body, OneId
from quoth.interfaces.http.text_rules import NewCollectionName
from quoth.pipeline.live_session import LiveSession

router = APIRouter(tags=["live"])


class TalkRequest(Body):
    """The collection that a transcript is added to; it is made where there is none."""

    collection: NewCollectionName = "talks"


@router.post(
    "/v1/sessions/{session_id}/talk",
    summary="Keep a live session as a talk",
    response_model=Lecture,
)
async def keep(
    request: Request, session_id: OneId, body: TalkRequest, caller: TalkKeeper
) -> Response:
    """Add what was said so far to a collection; it is then a talk like any other.

    It takes the place of what was added earlier. What is said afterwards is added when this is
    called again, and when the session ends.
    """
    running: LiveSession = await request.app.state.live.of(caller, session_id)
    document = await keep_as_talk(caller.engine, session_id, collection=body.collection)
    running.lecture = replace(running.lecture, document_id=document.document_id)
    request_state(request.scope).object_id = document.document_id
    return ApiResponse(running.lecture)


@router.get(
    "/v1/documents/{document_id}/explained",
    summary="Find who explained a page",
    response_model=dict[str, list[ExplainedMoment]],
)
async def explained(
    request: Request,
    document_id: OneId,
    page_number: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> Response:
    """List the moments of all sessions that cite a document, or one PDF page of it."""
    caller = require_viewer(request_state(request.scope).principal, "")
    found = await asyncio.to_thread(listing_of(caller.engine).present, document_id)
    moments = await asyncio.to_thread(
        explained_moments,
        caller.engine.parts.catalogue,
        found.document_id,
        page_number=page_number,
    )
    return ApiResponse({"moments": moments})
