"""Whether the process lives, and whether it can be asked."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.health import look
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.server.state import ServerState

router = APIRouter()


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", tags=["operation"], summary="Whether the process lives")
async def healthz() -> JSONResponse:
    """Say that the process lives and takes requests; needs no key and tells nothing else."""
    return JSONResponse({"status": "ok"})


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    tags=["operation"],
    summary="Whether questions can be answered",
    responses={503: {"description": "It starts or stops, or its store is out of reach."}},
)
async def readyz(request: Request, caller: Reader) -> ApiResponse:
    """Look at the stores, the breakers, the line and the queue; 503 where it cannot answer now."""
    server: ServerState | None = getattr(request.app.state, "server", None)
    found = await look(caller.engine, server=server)
    if caller.collection is not None:  # a share knows nothing of the tenant's other files
        found = replace(found, files={})
    headers = {} if found.ready else {"retry-after": "5"}
    return ApiResponse(found, 200 if found.ready else 503, headers=headers)
