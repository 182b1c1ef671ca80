"""Order of the middleware, the outermost first."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.audit import AuditMiddleware
from quoth.interfaces.http.middleware.auth import AuthMiddleware
from quoth.interfaces.http.middleware.body_limit import BodyLimitMiddleware
from quoth.interfaces.http.middleware.client_address import ClientAddressMiddleware
from quoth.interfaces.http.middleware.concurrency_limit import (
    ConcurrencyLimitMiddleware,
    OverloadMiddleware,
)
from quoth.interfaces.http.middleware.problems import ProblemMiddleware
from quoth.interfaces.http.middleware.rate_limit import RateLimitMiddleware
from quoth.interfaces.http.middleware.security_headers import SecurityHeadersMiddleware
from quoth.interfaces.http.middleware.shutdown import ShutdownMiddleware
from quoth.interfaces.http.middleware.telemetry import TelemetryMiddleware
from quoth.interfaces.http.middleware.trusted_host import TrustedHostMiddleware, host_names
from quoth.interfaces.http.server.state import ServerState
from quoth.tenants import Tenants

AddMiddleware = Callable[[ASGIApp], ASGIApp]
"""Wraps an application in one middleware."""


def access_control(
    tenants: Tenants,
    *,
    settings: Settings,
    bound: str = "127.0.0.1",
    clock: Callable[[], float] = time.monotonic,
) -> tuple[AddMiddleware, ...]:
    """Return the middleware that decides which requests the application sees."""
    origins = cors_origins(settings)
    return (
        SecurityHeadersMiddleware,
        *([partial(CORSMiddleware, **cors_options(origins))] if origins else []),
        ProblemMiddleware,
        partial(
            TrustedHostMiddleware,
            names=host_names(bound, settings=settings),
            public_url=settings.public_url,
            cors_origins=origins,
        ),
        partial(AuthMiddleware, tenants=tenants, settings=settings, bound=bound, clock=clock),
        partial(RateLimitMiddleware, settings=settings, database=tenants.database, clock=clock),
        partial(BodyLimitMiddleware, settings=settings),
    )


EXPOSED_HEADERS = (
    "Accept-Ranges",
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Location",
    "Retry-After",
    "Upload-Length",
    "Upload-Offset",
    "X-Request-ID",
)
"""Headers of responses that a web app of another origin may read."""


def cors_origins(settings: Settings) -> tuple[str, ...]:
    """Return the origins of web apps elsewhere; raises ConfigError for what is no origin."""
    origins = tuple(filter(None, (origin.strip() for origin in settings.cors_origins.split(","))))
    for origin in origins:
        parts = urlsplit(origin)
        if origin != "*" and f"{parts.scheme}://{parts.netloc}" != origin:
            raise ConfigError(
                f"QUOTH_CORS_ORIGINS holds '{origin}', which is no origin. Write https://HOST, or "
                "* for all; separate several with commas."
            )
    return origins


def cors_options(origins: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of CORS: any method and header, but never a cookie."""
    return {
        "allow_origins": origins,
        "allow_methods": ("GET", "POST", "PUT", "PATCH", "DELETE"),
        "allow_headers": ("*",),
        "allow_credentials": False,
        "expose_headers": EXPOSED_HEADERS,
        "max_age": 600,
    }


def service_middleware(
    tenants: Tenants, *, state: ServerState, settings: Settings, bound: str
) -> tuple[AddMiddleware, ...]:
    """Return all middleware of the running service."""
    headers, *access = access_control(tenants, settings=settings, bound=bound)
    return (
        partial(ClientAddressMiddleware, settings=settings),
        partial(TelemetryMiddleware, metrics=state.metrics),
        headers,
        partial(ShutdownMiddleware, requests=state.requests),
        partial(OverloadMiddleware, limit=state.limit),
        partial(AuditMiddleware, tenants=tenants),
        *access,
        partial(ConcurrencyLimitMiddleware, limit=state.limit),
    )
