"""Every request named, counted, timed and traced once, and told of in one line of the log.

It stands in front of everything, so that what the gate refuses is counted as well.
"""

from __future__ import annotations

import logging
from time import monotonic, time_ns
from typing import Any

from opentelemetry import trace as telemetry
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.interfaces.http.middleware.security_headers import request_id_of
from quoth.operations.logging import bind
from quoth.operations.metrics import Metrics
from quoth.operations.otel import NAME

UNKNOWN = "unknown"
"""The route of an address that there is not, and of what was refused before it was looked up."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNSAID = ("/healthz",)
"""What is asked every few seconds and is worth no line of the log."""
NOBODY_THERE = 499
"""The status of what nobody waited for any more, as nginx counts it."""
CONTEXT = ("traceparent", "tracestate")
"""The headers by which a request says what it is a part of (W3C Trace Context)."""

log = logging.getLogger("quoth.access")


class TelemetryMiddleware:
    """Gives each request its id, counts it, and makes a span and a line of the log of it."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = NOBODY_THERE
        began = scope.setdefault("state", {}).setdefault("came", monotonic())

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = Headers(scope=scope)
        request_id = request_id_of(headers)
        bind(request_id=request_id)
        others = [each for each in scope["headers"] if each[0] != b"x-request-id"]
        scope["headers"] = [*others, (b"x-request-id", request_id.encode())]
        given = {name: headers[name] for name in CONTEXT if name in headers}
        with telemetry.get_tracer(NAME).start_as_current_span(
            "request",
            context=extract(given) if given else None,
            kind=SpanKind.SERVER,
            start_time=time_ns() - round((monotonic() - began) * 1e9),
            record_exception=False,  # its message may hold what was asked
            set_status_on_exception=False,
        ) as span:
            span.set_attribute("quoth.request_id", request_id)
            try:
                await self.app(scope, receive, noting)
            finally:
                self._note(scope, span, status=status, seconds=monotonic() - began)

    def _note(self, scope: Scope, span: Span, *, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        route = route_of(scope)
        self.metrics.request(method=method, route=route, status=status, seconds=seconds)
        span.update_name(f"{method} {route}")
        span.set_attribute("http.request.method", method)
        span.set_attribute("http.route", route)
        span.set_attribute("http.response.status_code", status)
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        if route not in UNSAID:
            told = {"method": method, "route": route, "status": status}
            log.info("request", extra={**told, **_who(scope), "ms": round(seconds * 1000, 1)})


def route_of(scope: Scope) -> str:
    """Give the pattern of the route that answered, such as ``/v1/documents/{document_id}``."""
    return str(getattr(scope.get("route"), "path", UNKNOWN))


def _who(scope: Scope) -> dict[str, str]:
    state: dict[str, Any] = scope.get("state", {})
    caller = state.get("caller")
    return {} if caller is None else {"tenant": caller.tenant, "key_id": caller.key_id}
