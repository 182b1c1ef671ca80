"""Turns errors that middleware raises into problem responses (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import QuothError
from quoth.interfaces.http.openai_schemas import problem_for_path
from quoth.interfaces.http.problem_details import problem
from quoth.interfaces.http.request_state import request_state

POLICY_VIOLATION = 1008
"""Close code of a WebSocket that may not be opened (RFC 6455)."""
MAX_UNREAD = 65_536
"""Bytes of a refused request that are read in vain, so that its connection can be used again."""


class ProblemMiddleware:
    """Answers a refused request with its problem, without reading the rest of its body.

    A refusal while the body is read (`RequestState.refusal`) replaces the response that the
    application makes of the incomplete body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        request, started = request_state(scope), False

        async def send_unless_refused(message: Message) -> None:
            nonlocal started
            if request.refusal is None or started:
                started = True
                await send(message)

        try:
            await self.app(scope, receive, send_unless_refused)
        except QuothError as error:
            if started:
                raise
            request.refusal = request.refusal or error
        if request.refusal is not None and not started:
            await send_problem(scope, receive, send, error=request.refusal)


async def send_problem(
    scope: Scope, receive: Receive, send: Send, *, error: QuothError, close: bool = False
) -> None:
    """Send an error as a problem response; on a WebSocket, refuse to open it.

    ``close`` ends the connection after it.
    """
    request = request_state(scope)
    prefix = "http"
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        prefix = "websocket.http"
    found = problem(error, request_id=request.request_id, language=request.language)
    found = problem_for_path(request.path, found, error)
    headers = {**found.headers, "content-length": str(len(found.body))}
    if close or (_sends_much(request.headers) and not request.body_complete):
        # Otherwise the server would read the rest of the body before the next request.
        headers["connection"] = "close"
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": f"{prefix}.response.start", "status": found.status, "headers": raw})
    body = b"" if request.method == "HEAD" else found.body
    await send({"type": f"{prefix}.response.body", "body": body})


def _sends_much(headers: Mapping[str, str]) -> bool:
    """Return whether a request's body may be longer than the server should read in vain."""
    length = headers.get("content-length", "0")
    return "transfer-encoding" in headers or not length.isdecimal() or int(length) > MAX_UNREAD
