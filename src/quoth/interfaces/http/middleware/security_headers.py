"""Security headers of every response: no external resources, no caching, no referrer."""

from __future__ import annotations

import re
from typing import cast

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.interfaces.http.request_state import request_state

SELF = "'self'"
POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src {SELF}" for kind in ("script", "style", "img", "font", "connect")),
        *(f"{kind}-src {SELF}" for kind in ("media", "frame")),
        "object-src 'none'",
        "base-uri 'none'",
        f"form-action {SELF}",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "private, no-store",
}
"""Defaults; a route may set a stricter value, as for a file's content security policy."""
NEVER_CACHED = ("/v1/", "/mcp", "/openapi.json", "/metrics", "/readyz", "/healthz")
"""Paths whose responses may not be cached, whatever a route says."""
CACHED = re.compile(r"/v1/documents/[^/]+/(?:original|media|pages/[0-9]+/image)")
"""Files and pictures of pages, which a route may let its client's browser keep."""
RESPONSE_STARTS = ("http.response.start", "websocket.http.response.start", "websocket.accept")


class SecurityHeadersMiddleware:
    """Adds the security headers and the request id to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        request = request_state(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in RESPONSE_STARTS:
                raw = cast("list[tuple[bytes, bytes]]", list(message.get("headers", [])))
                headers = MutableHeaders(raw=raw)
                add_security_headers(headers, path=request.path, request_id=request.request_id)
                message = {**message, "headers": headers.raw}
            await send(message)

        await self.app(scope, receive, send_with_headers)


def add_security_headers(headers: MutableHeaders, *, path: str, request_id: str) -> None:
    """Add the headers of every response to the headers of one."""
    for name, value in SECURITY.items():
        headers.setdefault(name, value)
    kept = CACHED.fullmatch(path) and headers["cache-control"].startswith("private")
    if path.startswith(NEVER_CACHED) and not kept:
        headers["cache-control"] = SECURITY["cache-control"]
    headers["x-request-id"] = request_id
