"""The service as one application: every route, one error mapper, one gate in front of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from quoth.core.errors import QuothError
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.openai_schemas import spoken_at
from quoth.interfaces.http.openapi import ABOUT, TAGS, described
from quoth.interfaces.http.problem_details import as_response, problem_of
from quoth.interfaces.http.routes import (
    analytics,
    collections,
    documents,
    export,
    feedback,
    health,
    keys,
    mcp,
    metrics,
    openai,
    privacy,
    queries,
    search,
    suggestions,
    uploads,
)
from quoth.tenants import Tenants

Around = Callable[[ASGIApp], ASGIApp]
"""What makes an application of one that it stands around."""
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Mapping[str, Any] | None]]

ROUTERS = (
    queries.router,
    search.router,
    export.router,
    collections.router,
    documents.router,
    uploads.router,
    suggestions.router,
    feedback.router,
    analytics.router,
    privacy.router,
    keys.router,
    openai.router,
    mcp.router,
    health.router,
    metrics.router,
)
"""All routes, in the order of the pages that describe them."""

NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


class Application(FastAPI):
    """FastAPI within the walls that stand before everything, its own error page included."""

    def __init__(self, *, around: Sequence[Around], **choices: Any) -> None:
        self.around = tuple(around)
        super().__init__(**choices)

    def build_middleware_stack(self) -> ASGIApp:
        """Put the walls around all that FastAPI builds; the first is the outermost."""
        stack = super().build_middleware_stack()
        for wall in reversed(self.around):
            stack = wall(stack)
        return stack

    def openapi(self) -> dict[str, Any]:
        """Describe the service, with the errors as they are sent."""
        if self.openapi_schema is None:
            self.openapi_schema = described(super().openapi())
        return self.openapi_schema


def make_app(
    tenants: Tenants,
    *,
    around: Sequence[Around] = (),
    lifespan: Lifespan | None = None,
    state: Mapping[str, Any] | None = None,
) -> FastAPI:
    """Make the application of these tenants.

    ``around`` are the walls before it, the outermost first: the gate makes the caller, without
    whom every route refuses. ``state`` is put into ``app.state`` beside the tenants.
    """
    app = Application(
        around=around,
        title="quoth",
        # Its own spans and logs hold addresses and what errors say; ours do not.
        telemetry=NO_TELEMETRY,
        version=version("quoth"),
        description=ABOUT,
        openapi_tags=TAGS,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.tenants = tenants
    for name, value in (state or {}).items():
        setattr(app.state, name, value)
    for error in (QuothError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _answer)
    for router in ROUTERS:
        app.include_router(router)
    app.add_api_route("/openapi.json", _description, include_in_schema=False)
    return app


def _answer(request: Request, error: Exception) -> Response:
    """Answer a request with what its error is; the handler of every error of the service."""
    return as_response(spoken_at(request.scope["path"], problem_of(request, error)))


def _description(request: Request, _caller: Reader) -> JSONResponse:
    return JSONResponse(request.app.openapi())
