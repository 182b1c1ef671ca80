"""The route for statistics of queries."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.requests import require_collection
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import InCollection
from quoth.store.analytics import Analytics, AnalyticsReader

router = APIRouter(tags=["use"])


@router.get("/v1/analytics", summary="Show figures", response_model=Analytics)
async def analytics(
    caller: Owner,
    days: Annotated[int, Query(ge=1, le=366, description="The number of days to include.")] = 30,
    collection: InCollection = None,
) -> Response:
    """Count queries, latencies, cost and feedback, and list queries without an answer.

    Only what was kept counts: not what was asked with `store: false` or while no history is kept.
    """
    if collection is not None:
        await asyncio.to_thread(require_collection, caller, collection)
    measured = AnalyticsReader.of(caller.engine.parts.catalogue)
    return ApiResponse(await asyncio.to_thread(measured.figures, days=days, collection=collection))
