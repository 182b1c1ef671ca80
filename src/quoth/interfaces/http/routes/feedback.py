"""The route for feedback on answers."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.schemas import FeedbackRequest
from quoth.pipeline.components import Components
from quoth.pipeline.egress import read_privacy
from quoth.store.analytics import AnalyticsReader

router = APIRouter(tags=["use"])

EXAMPLE = {"good": {"value": {"query_id": "q_8f3a2b1c4d5e", "rating": 1, "comment": "Just so."}}}


@router.post("/v1/feedback", summary="Rate an answer", status_code=204)
async def feedback(
    body: Annotated[FeedbackRequest, Body(openapi_examples=EXAMPLE)], caller: Owner
) -> Response:
    """Store the rating of an answer, 1 or -1, with a comment; the last one counts.

    Where no texts of queries are stored, the comment is not either.
    """
    await asyncio.to_thread(_rate, caller.engine.parts, body)
    return Response(status_code=204)


def _rate(parts: Components, body: FeedbackRequest) -> None:
    comment = body.comment if read_privacy(parts).history == "full" else ""
    AnalyticsReader.of(parts.catalogue).rate(body.query_id, rating=body.rating, comment=comment)
