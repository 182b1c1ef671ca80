"""The counters of the process, for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from quoth.errors import NotFound
from quoth.service.caller import Caller, allowed
from quoth.service.operation import Operation
from quoth.telling.metrics import FORMAT

router = APIRouter()


@router.get(
    "/metrics",
    tags=["operation"],
    summary="Counters in Prometheus' text format",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
async def metrics(
    request: Request, _caller: Annotated[Caller, Depends(allowed("admin"))]
) -> Response:
    """Give all counters and histograms of this process; needs the scope ``admin``."""
    operation: Operation | None = getattr(request.app.state, "operation", None)
    if operation is None:
        raise NotFound("This application counts nothing.")
    return Response(operation.metrics.text(), media_type=FORMAT)
