"""The tools for agents over HTTP: one address, behind the same gate as everything else.

No session is kept: each request has a caller of its own, and reaches what that caller may.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quoth.core.errors import NotFound
from quoth.core.extras import is_installed
from quoth.interfaces.http.dependencies import Principal, Reader
from quoth.interfaces.http.requests import recorder_for
from quoth.interfaces.http.responses import shown_link

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from quoth.interfaces.mcp.server import ToolContext


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[None]:
    """Serve agents as long as the application runs, where the packages for that are installed."""
    app.state.mcp = None
    if not is_installed("mcp.server.mcpserver"):
        yield
        return
    from mcp.server.transport_security import TransportSecuritySettings

    from quoth.interfaces.mcp.server import make_server

    server = make_server(seat_of)
    # The gate has checked Host and Origin already.
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=checked)
    async with server.session_manager.run():
        app.state.mcp = server.session_manager
        yield
        app.state.mcp = None


router = APIRouter(lifespan=serving, tags=["others"])


class ForwardedRequest(Response):
    """Leaves the request to the server of the protocol."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self.manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it read the request and answer."""
        await self.manager.handle_request(scope, receive, send)


@router.post("/mcp", response_class=ForwardedRequest, status_code=200)
async def call(request: Request, _caller: Reader) -> Response:
    """Speak the Model Context Protocol (streamable HTTP, without sessions)."""
    manager = getattr(request.app.state, "mcp", None)
    if manager is None:
        raise NotFound("The packages for agents are not installed: pip install 'quoth[mcp]'")
    return ForwardedRequest(manager)


async def seat_of(request: Any) -> ToolContext:
    """Give the seat of the caller of a request."""
    from quoth.interfaces.mcp.server import ToolContext

    caller: Principal = request.state.caller
    base = str(request.base_url).rstrip("/")
    address = partial(shown_link, base)
    return ToolContext(
        caller.engine, address, collection=caller.collection, keep=recorder_for(caller)
    )
