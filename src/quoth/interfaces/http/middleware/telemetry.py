"""Request log, metrics and tracing: one line, one count and one span for every request.

It is the outermost middleware, so that refused requests are counted as well.
"""

from __future__ import annotations

import logging
from time import monotonic, time_ns

from opentelemetry import trace as telemetry
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.interfaces.http.request_state import RequestState, request_state, routes_at
from quoth.operations.logging import bind
from quoth.operations.metrics import Metrics
from quoth.operations.otel import NAME

UNKNOWN = "unknown"
"""The route of an unknown path."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNLOGGED = ("/healthz", "/readyz")
"""Routes that are requested every few seconds and are not worth a line of the log."""
CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client disconnected, as nginx counts it."""
TRACE_HEADERS = ("traceparent", "tracestate")
"""Headers of the W3C Trace Context."""

log = logging.getLogger("quoth.access")


class TelemetryMiddleware:
    """Counts each request, and writes a span and a line of the log about it."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, request = CLIENT_CLOSED_REQUEST, request_state(scope)

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        bind(request_id=request.request_id)
        headers = request.headers
        carrier = {name: headers[name] for name in TRACE_HEADERS if name in headers}
        with telemetry.get_tracer(NAME).start_as_current_span(
            "request",
            context=extract(carrier) if carrier else None,
            kind=SpanKind.SERVER,
            start_time=time_ns(),
            record_exception=False,  # its message may hold the text of a query
            set_status_on_exception=False,
        ) as span:
            span.set_attribute("quoth.request_id", request.request_id)
            try:
                await self.app(scope, receive, send_and_note)
            finally:
                self._note(scope, request, span, status=status)

    def _note(self, scope: Scope, request: RequestState, span: Span, *, status: int) -> None:
        seconds = monotonic() - request.began
        method = request.method if request.method in METHODS else "OTHER"
        route = str(getattr(scope.get("route"), "path", "")) or _route_of(scope)
        self.metrics.request(method=method, route=route, status=status, seconds=seconds)
        span.update_name(f"{method} {route}")
        span.set_attribute("http.request.method", method)
        span.set_attribute("http.route", route)
        span.set_attribute("http.response.status_code", status)
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        if route not in UNLOGGED or status >= 400:
            caller = request.principal
            who = {} if caller is None else {"tenant": caller.tenant, "key_id": caller.key_id}
            client = (scope.get("client") or ("",))[0]
            fields = {"client": client, "method": method, "route": route, "status": status, **who}
            log.info("request", extra={**fields, "ms": round(seconds * 1000, 1)})


def _route_of(scope: Scope) -> str:
    """Return the route of a request that was refused before routing."""
    found = (
        route.path for route, _ in routes_at(scope) if scope["method"] in (route.methods or ())
    )
    return str(next(found, UNKNOWN))
