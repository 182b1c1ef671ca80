"""Routes of the operator: tenants, their uploads, the queue, watched folders; never texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Operator
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import Limit, OneId
from quoth.interfaces.http.server.state import ServerState
from quoth.operations.watched import WatchedFolder
from quoth.store.operator_view import OperatorUpload, OperatorView
from quoth.store.upload_tasks import State
from quoth.store.uploads import TenantUsage

router = APIRouter(tags=["operation"])


@dataclass(frozen=True, slots=True)
class TenantUsages:
    """What each tenant stores."""

    tenants: list[TenantUsage]


@dataclass(frozen=True, slots=True)
class UploadQueue:
    """Uploads of all tenants, the oldest first; ``queue_age_s`` is that of the oldest queued."""

    uploads: list[OperatorUpload]
    queue_age_s: float


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    """The watched folders."""

    folders: list[WatchedFolder]


@router.get("/v1/operator/tenants", summary="List the tenants", response_model=TenantUsages)
async def tenants(request: Request, _caller: Operator) -> Response:
    """List the tenants with what they store. All routes here need a key of the operator."""
    return ApiResponse(TenantUsages(await asyncio.to_thread(_view(request).tenants)))


@router.get(
    "/v1/operator/uploads", summary="List the uploads of all tenants", response_model=UploadQueue
)
async def uploads(
    request: Request,
    _caller: Operator,
    state: Annotated[
        State | None, Query(description="Only in this state; else unfinished and failed ones.")
    ] = None,
    limit: Limit = 100,
) -> Response:
    """List the uploads of all tenants and the age of the queue."""
    view = _view(request)
    found = await asyncio.to_thread(view.uploads, state=state, limit=limit)
    return ApiResponse(UploadQueue(found, await asyncio.to_thread(view.queue_age_s)))


@router.delete(
    "/v1/operator/uploads/{upload_id}", summary="Cancel an upload of any tenant", status_code=204
)
async def cancel(request: Request, upload_id: OneId, _caller: Operator) -> Response:
    """Take an upload out of the queue; a worker stops within seconds."""
    await asyncio.to_thread(_view(request).cancel, upload_id)
    return Response(status_code=204)


@router.post(
    "/v1/operator/uploads/{upload_id}/retry",
    summary="Retry an upload of any tenant",
    status_code=204,
)
async def retry(request: Request, upload_id: OneId, _caller: Operator) -> Response:
    """Queue a failed upload again."""
    await asyncio.to_thread(_view(request).retry, upload_id)
    request_state(request.scope).object_id = upload_id
    return Response(status_code=204)


@router.get(
    "/v1/operator/watched", summary="List the watched folders", response_model=WatchedFolders
)
async def watched(request: Request, caller: Operator) -> Response:
    """List the folders that this process keeps collections equal to, with their state."""
    server: ServerState | None = getattr(request.app.state, "server", None)
    folders = [] if server is None else list(server.watched.values())
    return ApiResponse(WatchedFolders(folders), language=caller.language)


def _view(request: Request) -> OperatorView:
    return OperatorView(request.app.state.tenants.database)
