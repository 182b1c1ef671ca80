"""The service as an ASGI application: routes, middleware and error handler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.core.errors import QuothError
from quoth.interfaces.http.health import ReadinessProbe
from quoth.interfaces.http.live_sessions import RunningSessions
from quoth.interfaces.http.middleware.stack import AddMiddleware
from quoth.interfaces.http.openai_schemas import problem_for_path
from quoth.interfaces.http.openapi import ABOUT, TAGS, add_problems, operation_id
from quoth.interfaces.http.originals import UnchangedFiles
from quoth.interfaces.http.problem_details import as_response, problem_of
from quoth.interfaces.http.routes import (
    collections,
    documents,
    embeddings,
    keys,
    lectures,
    library,
    links,
    mcp,
    microphone,
    openai,
    operator,
    pages,
    privacy,
    queries,
    reading,
    service,
    session,
    talks,
    uploads,
    use,
)
from quoth.interfaces.web import routes as web
from quoth.tenants import Tenants

ROUTERS = (
    queries.router,
    collections.router,
    documents.router,
    reading.router,
    pages.router,
    links.router,
    uploads.router,
    library.router,
    use.router,
    privacy.router,
    keys.router,
    session.router,
    lectures.router,
    microphone.router,
    talks.router,
    openai.router,
    embeddings.router,
    mcp.router,
    service.router,
    operator.router,
    web.router,
)
"""All routes, in the order of the pages that describe them."""

NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


class Application(FastAPI):
    """FastAPI inside middleware that also sees its own responses to unexpected errors."""

    def __init__(self, *, outer_middleware: Sequence[AddMiddleware], **options: Any) -> None:
        self.outer_middleware = tuple(outer_middleware)
        super().__init__(**options)

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap FastAPI's own stack in the middleware; the first is the outermost."""
        own = stack = super().build_middleware_stack()
        for add_middleware in reversed(self.outer_middleware):
            stack = add_middleware(stack)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            # The middleware is for requests, not for the start and the end of the application.
            await (own if scope["type"] == "lifespan" else stack)(scope, receive, send)

        return serve

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description, with the errors as they are sent."""
        if self.openapi_schema is None:
            self.openapi_schema = add_problems(super().openapi())
        return self.openapi_schema


def make_app(
    tenants: Tenants,
    *,
    middleware: Sequence[AddMiddleware] = (),
    state: Mapping[str, Any] | None = None,
) -> FastAPI:
    """Return the application of these tenants.

    ``middleware`` is given the outermost first; without authentication among it every route
    refuses. ``state`` is stored in ``app.state`` next to the tenants.
    """
    app = Application(
        outer_middleware=middleware,
        title="quoth",
        # FastAPI's own spans and logs hold addresses and error messages; ours do not.
        telemetry=NO_TELEMETRY,
        version=version("quoth"),
        description=ABOUT,
        openapi_tags=TAGS,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    app.state.tenants = tenants
    app.state.probe = ReadinessProbe()
    app.state.unchanged_files = UnchangedFiles()
    app.state.live = RunningSessions()
    app.state.link_signer = None  # made when the first citation is signed
    for name, value in (state or {}).items():
        setattr(app.state, name, value)
    for error in (QuothError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _problem_response)
    for router in ROUTERS:
        app.include_router(router)
    return app


def _problem_response(request: Request, error: Exception) -> Response:
    """Return the response of a request that failed; a browser gets the app's page for it."""
    unknown = isinstance(error, HTTPException) and error.status_code == 404
    if unknown and "text/html" in request.headers.get("accept", ""):
        return web.unknown_page(request)
    return as_response(problem_for_path(request.scope["path"], problem_of(request, error), error))
