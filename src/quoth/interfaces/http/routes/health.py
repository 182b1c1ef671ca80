"""Routes for liveness and readiness."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.health import check_readiness
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.server.state import ServerState

router = APIRouter()


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", tags=["operation"], summary="Whether the process lives")
async def healthz() -> JSONResponse:
    """Confirm that the process takes requests; needs no key and shows nothing else."""
    return JSONResponse({"status": "ok"})


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    tags=["operation"],
    summary="Whether questions can be answered",
    responses={503: {"description": "It is starting or stopping, or its store is unavailable."}},
)
async def readyz(request: Request, caller: Reader) -> ApiResponse:
    """Check the stores, circuit breakers, queries and uploads; 503 where it cannot answer."""
    server: ServerState | None = getattr(request.app.state, "server", None)
    found = await check_readiness(caller.engine, server=server)
    if caller.collection is not None:  # a share may not see the tenant's uploads
        found = replace(found, files={})
    headers = {} if found.ready else {"retry-after": "5"}
    return ApiResponse(found, 200 if found.ready else 503, headers=headers)
