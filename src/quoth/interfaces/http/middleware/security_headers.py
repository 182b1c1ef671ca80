"""What every response says to a browser: load nothing foreign, keep nothing, tell nobody."""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders

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
"""Said where a route has not said its own, which may be stricter: a file's policy, for one."""
UNKEPT = ("/v1/", "/mcp", "/openapi.json", "/metrics", "/readyz", "/healthz")
"""Addresses of which no copy may be kept, whatever a route says."""
SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id_of(headers: Headers) -> str:
    """Give the id that came with a request, or a new one where none came or it is not plain."""
    given = headers.get("x-request-id", "")
    return given if SAFE_ID.fullmatch(given) else uuid4().hex


def add_security_headers(headers: MutableHeaders, *, path: str, request_id: str) -> None:
    """Put what every response says into the headers of this one."""
    for name, value in SECURITY.items():
        headers.setdefault(name, value)
    if path.startswith(UNKEPT):
        headers["cache-control"] = SECURITY["cache-control"]
    headers["x-request-id"] = request_id
