"""Routes for what the service offers, its description, whether it works, and its metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from importlib.metadata import version

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import NotFound
from quoth.interfaces.http.dependencies import Operator, Reader, require_scopes
from quoth.interfaces.http.health import Liveness, ProbeReply, Readiness, check_readiness
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.requests import allowed_profiles
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import text_content
from quoth.interfaces.http.server.state import ServerState
from quoth.operations.metrics import FORMAT
from quoth.pipeline.sample import sample_folder

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ModelView:
    """The language model in use; a local one sends nothing to another machine."""

    provider: str
    model: str
    local: bool


@dataclass(frozen=True, slots=True)
class ServiceView:
    """What the service offers.

    ``language_model`` is None where answers are in the sources' own words; ``web_pages`` is whether
    it fetches addresses, ``youtube_player`` whether its pages may embed YouTube's player,
    ``sample`` whether the sample collection can be added. ``public_url`` is the address under which
    users reach it, None where the operator has set none. ``language_models`` and ``profiles`` are
    those that a request may name.
    """

    version: str
    language_model: ModelView | None
    collection: str
    max_upload_mb: int
    web_pages: bool
    youtube_player: bool
    sample: bool
    public_url: str | None
    language_models: list[str]
    profiles: list[str]


@router.get(
    "/v1/service",
    tags=["operation"],
    summary="Show what the service offers",
    response_model=ServiceView,
)
async def service(caller: Reader) -> Response:
    """Say which model answers, which limits hold and what is switched on."""
    parts = caller.engine.parts
    model, settings = parts.generator, parts.settings
    shown = None if model is None else ModelView(model.provider, model.model, model.local)
    return ApiResponse(
        ServiceView(
            version("quoth"),
            shown,
            caller.collection or settings.collection,
            settings.max_upload_mb,
            settings.allow_urls,
            settings.youtube_player,
            await asyncio.to_thread(sample_folder) is not None,
            settings.public_url,
            [f"{each.provider}:{each.model}" for each in parts.request_models],
            allowed_profiles(settings),
        )
    )


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request, _caller: Reader) -> JSONResponse:
    """Return the description of all routes, as OpenAPI."""
    return JSONResponse(request.app.openapi())


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
    require_scopes(caller, "read")
    found = await check_readiness(caller.engine, server=server)
    if caller.collection is not None:  # a share may not see the tenant's uploads
        found = replace(found, files={})
    return _response(found)


def _response(found: Readiness | ProbeReply) -> ApiResponse:
    headers = {} if found.ready else {"retry-after": "5"}
    return ApiResponse(found, 200 if found.ready else 503, headers=headers)


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
