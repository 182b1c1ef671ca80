"""Routes for liveness and readiness."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Denied
from quoth.interfaces.http.health import Liveness, ProbeReply, Readiness, check_readiness
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.server.state import ServerState

router = APIRouter()


@router.head("/healthz", include_in_schema=False)
@router.get(
    "/healthz",
    tags=["operation"],
    summary="Show whether the process lives",
    response_model=Liveness,
)
async def healthz() -> Response:
    """Confirm that the process takes requests; needs no key and shows nothing else."""
    return ApiResponse(Liveness())


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    tags=["operation"],
    summary="Show whether questions can be answered",
    response_model=Readiness | ProbeReply,
    responses={
        503: {
            "model": Readiness | ProbeReply,
            "description": "It is starting or stopping, or its store is unavailable.",
        }
    },
)
async def readyz(request: Request) -> ApiResponse:
    """Check the stores, circuit breakers, queries and uploads; 503 where it cannot answer.

    Without a key it says ``ready`` and ``state`` only, so that a probe needs no secret.
    """
    server: ServerState | None = getattr(request.app.state, "server", None)
    caller = request_state(request.scope).principal
    if caller is None:
        return _response(await request.app.state.probe(request.app.state.tenants, server))
    if "read" not in caller.scopes:
        raise Denied("This key may not do that: it lacks the scope 'read'.")
    found = await check_readiness(caller.engine, server=server)
    if caller.collection is not None:  # a share may not see the tenant's uploads
        found = replace(found, files={})
    return _response(found)


def _response(found: Readiness | ProbeReply) -> ApiResponse:
    headers = {} if found.ready else {"retry-after": "5"}
    return ApiResponse(found, 200 if found.ready else 503, headers=headers)
