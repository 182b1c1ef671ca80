"""Routes for suggested questions, feedback on answers, and statistics of queries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Body, Query
from starlette.requests import Request
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.requests import find_collection, require_collection
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.routes.queries import load_query
from quoth.interfaces.http.schemas import FeedbackRequest, Id, InCollection
from quoth.interfaces.http.server.state import ServerState
from quoth.interfaces.http.text_rules import Text
from quoth.pipeline.components import Components
from quoth.pipeline.egress import read_privacy
from quoth.store.analytics import Analytics, AnalyticsReader

router = APIRouter(tags=["use"])

EXAMPLE = {
    "good": {"value": {"query_id": "q_8f3a2b1c4d5e", "rating": 1, "comment": "Just so."}},
    "satisfied": {"value": {"query_id": "q_8f3a2b1c4d5e", "satisfaction": 4}},
}
NEITHER = 3
"""The satisfaction that is neither liked nor disliked."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggested questions, the most probable first."""

    suggestions: tuple[str, ...]


@router.get("/v1/suggestions", summary="Suggest questions", response_model=Suggestions)
async def suggestions(
    caller: Owner,
    beginning: Annotated[
        Text,
        Query(alias="q", max_length=200, description="The text typed so far."),
    ] = "",
    after: Annotated[
        Id | None, Query(description="The id of a question that was answered.")
    ] = None,
    collection: InCollection = None,
) -> Response:
    """Suggest completions of the text typed so far, or questions after an answer.

    Without either they are about the documents, in the language that the request names.
    """
    found = await asyncio.to_thread(find_collection, caller, collection)
    if found is None:
        return ApiResponse(Suggestions(()))
    if after is not None:
        record = await load_query(after, caller)
        suggested = await caller.engine.suggest(
            record.answer, collection=found.name, history=record.request.history
        )
        return ApiResponse(Suggestions(suggested))
    outline = await asyncio.to_thread(caller.engine.parts.catalogue.collection_outline, found)
    if not outline.documents:
        return ApiResponse(Suggestions(()))
    suggested = await caller.engine.suggest(
        beginning, collection=found.name, language=caller.language
    )
    return ApiResponse(Suggestions(suggested))


@router.post("/v1/feedback", summary="Rate an answer", status_code=204)
async def feedback(
    body: Annotated[FeedbackRequest, Body(openapi_examples=EXAMPLE)], caller: Owner, http: Request
) -> Response:
    """Store the rating of an answer, 1 or -1, its satisfaction, 1 to 5, and a comment.

    The last feedback on an answer counts. Where no texts of queries are stored, the comment is not
    either.
    """
    await asyncio.to_thread(_rate, caller.engine.parts, body)
    server: ServerState | None = getattr(http.app.state, "server", None)
    if server is not None and body.satisfaction is not None:
        server.metrics.rate(body.satisfaction)
    return Response(status_code=204)


def _rate(parts: Components, body: FeedbackRequest) -> None:
    comment = body.comment if read_privacy(parts).history == "full" else ""
    rating: int | None = body.rating
    if rating is None:
        satisfaction = body.satisfaction or NEITHER
        rating = (satisfaction > NEITHER) - (satisfaction < NEITHER)
    AnalyticsReader.of(parts.catalogue).rate(
        body.query_id, rating=rating, comment=comment, satisfaction=body.satisfaction
    )


@router.get("/v1/analytics", summary="Show figures", response_model=Analytics)
async def analytics(
    caller: Owner,
    days: Annotated[int, Query(ge=1, le=366, description="The number of days to include.")] = 30,
    collection: InCollection = None,
) -> Response:
    """Count queries, latencies, cost, quality and feedback, and list queries without an answer.

    Only what was kept counts: not what was asked with `store: false` or while no history is kept.
    """
    if collection is not None:
        await asyncio.to_thread(require_collection, caller, collection)
    measured = AnalyticsReader.of(caller.engine.parts.catalogue)
    return ApiResponse(await asyncio.to_thread(measured.figures, days=days, collection=collection))
