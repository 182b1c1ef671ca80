"""The route for the metrics of the process, for Prometheus."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import NotFound
from quoth.interfaces.http.dependencies import Operator
from quoth.interfaces.http.schemas import text_content
from quoth.interfaces.http.server.state import ServerState
from quoth.operations.metrics import FORMAT

router = APIRouter()


@router.get(
    "/metrics",
    tags=["operation"],
    summary="Show metrics",
    response_class=Response,
    responses={
        200: {"content": text_content([FORMAT])},
        404: {"description": "This process counts nothing."},
    },
)
async def metrics(request: Request, _caller: Operator) -> Response:
    """Return all counters and histograms of this process.

    They are of all tenants, so they need the operator's key: one with the scope ``admin`` of the
    tenant that the service itself is set to.
    """
    server: ServerState | None = getattr(request.app.state, "server", None)
    if server is None:
        raise NotFound("This application counts nothing.")
    # In a thread: the uploads are counted in the catalogue.
    return Response(await asyncio.to_thread(server.metrics.text), media_type=FORMAT)
