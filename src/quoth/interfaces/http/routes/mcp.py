"""MCP tools over HTTP, with the same authentication as every route. Stateless: each request is
authenticated separately.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quoth.core.errors import NotFound
from quoth.core.extras import is_installed
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.requests import recorder_for
from quoth.interfaces.http.responses import service_address

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from quoth.interfaces.mcp.server import ToolContext


@asynccontextmanager
async def serve_mcp(app: FastAPI) -> AsyncIterator[None]:
    """Serve MCP while the application runs, if its packages are installed."""
    app.state.mcp = None
    if not is_installed("mcp.server.mcpserver"):
        yield
        return
    from mcp.server.transport_security import TransportSecuritySettings

    from quoth.interfaces.mcp.server import make_server

    server = make_server(context_of)
    # The middleware has checked Host and Origin already.
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=checked)
    async with server.session_manager.run():
        app.state.mcp = server.session_manager
        yield
        app.state.mcp = None


router = APIRouter(lifespan=serve_mcp, tags=["others"])


class ForwardedRequest(Response):
    """A response that forwards the request to the MCP server."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self.manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        await self.manager.handle_request(scope, receive, send)


MESSAGE = {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
"""A message of JSON-RPC; the protocol describes itself."""


@router.post(
    "/mcp",
    summary="Speak the Model Context Protocol",
    response_class=ForwardedRequest,
    status_code=200,
    openapi_extra={"requestBody": {"required": True, "content": MESSAGE}},
    responses={
        200: {"description": "The reply.", "content": MESSAGE},
        202: {"description": "The message needs no reply."},
    },
)
async def call(request: Request, _caller: Reader) -> Response:
    """Speak the Model Context Protocol (streamable HTTP, without sessions)."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise HTTPException(400)
    manager = getattr(request.app.state, "mcp", None)
    if manager is None:
        raise NotFound("The packages for agents are not installed: pip install 'quoth[mcp]'")
    return ForwardedRequest(manager)


async def context_of(request: Any) -> ToolContext:
    """Return the tools' context of a request's caller."""
    from quoth.interfaces.mcp.server import ToolContext

    caller = request_state(request.scope).principal
    assert caller is not None  # the route requires one
    return ToolContext(
        caller.engine,
        service_address(request),
        collection=caller.collection,
        keep=recorder_for(caller),
    )
