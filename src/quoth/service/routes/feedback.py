"""What people think of the answers."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from quoth.catalogue.figures import Measured
from quoth.service.bodies import Opinion
from quoth.service.routes.queries import Owner

router = APIRouter(tags=["use"])

EXAMPLE = {"good": {"value": {"query_id": "q_8f3a2b1c4d5e", "rating": 1, "comment": "Just so."}}}


@router.post("/v1/feedback", summary="Rate an answer", status_code=204)
async def feedback(
    body: Annotated[Opinion, Body(openapi_examples=EXAMPLE)], caller: Owner
) -> Response:
    """Keep what somebody thinks of an answer: 1 or -1, and why; the last word counts."""
    catalogue = caller.engine.parts.catalogue
    measured = Measured(catalogue.database, tenant=catalogue.tenant)
    await asyncio.to_thread(measured.rate, body.query_id, rating=body.rating, comment=body.comment)
    return Response(status_code=204)
