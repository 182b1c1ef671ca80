"""Principal and state of a request, shared by the middleware and routes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any, Literal, cast
from uuid import uuid4

from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from quoth.core.errors import Denied, QuothError
from quoth.core.translations import preferred_language
from quoth.engine import Engine
from quoth.store import sessions
from quoth.store.keys import Scope

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
QUERY_PATHS = frozenset(
    {"/v1/query", "/v1/search", "/v1/chat/completions", "/v1/embeddings", "/mcp"}
)
"""Paths at which an engine answers a query or embeds texts."""
FILE_PATHS = ("/v1/uploads", "/v1/documents")
"""Paths to which files are sent."""

LINKS_PATH = "/v1/links/"
"""Below it, the signed part of a path admits every bearer."""
SESSION_PATH = "/v1/session"
"""Where a browser signs in and out; it may ask without a key who it is."""
SESSION_COOKIE = "quoth_session"
"""The cookie of a browser that signed in."""

NO_KEY = "This needs a key. Send it as: Authorization: Bearer KEY"
LOCAL = "local"
"""The key id of a request from this machine while no key is needed."""
SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""The request ids of clients that are kept."""

RequestKind = Literal["read", "files", "query", "change"]


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller of a request.

    ``key_id`` is "local" where the service runs without keys, and begins with ``sh_`` for a
    share, which reads one ``collection``, or follows one live session (``lecture``), and nothing
    else; a signed link reads one ``document``. A route reaches documents and
    queries only through ``engine``, which knows no tenant but the caller's own. ``language`` is the
    one in which messages are read, None where the client names none.
    """

    tenant: str
    key_id: str
    scopes: frozenset[Scope]
    engine: Engine
    address: str
    collection: str | None = None
    lecture: str | None = None
    document: str | None = None
    language: str | None = None


@dataclass
class RequestState:
    """One request, shared by all middleware and its route.

    ``began`` is in seconds by `time.monotonic`; ``principal`` is set by authentication;
    ``refusal`` is the error that ended the request while its body was read or its response
    was sent; ``body_complete`` is set once the whole body came in; ``object_id`` is the id of
    what a route created, for the audit log; ``sign_in`` authenticates a key that came in the body.
    """

    path: str
    method: str
    headers: Headers
    began: float = field(default_factory=monotonic)
    principal: Principal | None = None
    refusal: QuothError | None = None
    body_complete: bool = False
    object_id: str | None = None
    sign_in: Callable[[str], Awaitable[Principal]] | None = None

    @cached_property
    def request_id(self) -> str:
        """Return the id sent with the request, or a new one."""
        given = self.headers.get("x-request-id", "")
        return given if SAFE_ID.fullmatch(given) else uuid4().hex

    @cached_property
    def language(self) -> str | None:
        """Return the language in which messages are read, None where the client names none."""
        return preferred_language(self.headers.get("accept-language", ""))

    @cached_property
    def token(self) -> str:
        """Return the token of the request, or ""; raises Denied for more than one."""
        values = [self.headers.getlist(name) for name in ("authorization", "x-api-key")]
        scheme, _blank, token = (values[0] or [""])[0].partition(" ")
        bearer = token.strip() if scheme.casefold() == "bearer" else ""
        own = (values[1] or [""])[0].strip()
        if any(len(each) > 1 for each in values) or (bearer and own and bearer != own):
            # A proxy may have verified the other one.
            raise Denied("This request has more than one key. Send one.", status=401)
        return bearer or own

    @cached_property
    def session_token(self) -> str:
        """Return the token in the cookie of a browser's session, or ""."""
        cookies = cookie_parser("; ".join(self.headers.getlist("cookie")))
        token = cookies.get(SESSION_COOKIE, "")
        return token if token.startswith(sessions.LABEL) else ""

    @property
    def credential(self) -> str:
        """Return the token of the request, else that of its session; raises Denied."""
        return self.token or self.session_token

    @cached_property
    def kind(self) -> RequestKind:
        """Return the kind of request, by its method and path."""
        if any(self.path == prefix or self.path.startswith(f"{prefix}/") for prefix in FILE_PATHS):
            return "files"
        if self.method in (*READING_METHODS, "WEBSOCKET"):
            return "read"
        asks = self.path in QUERY_PATHS or self.path.endswith("/replay")
        return "query" if self.method == "POST" and asks else "change"


def routes_at(scope: Mapping[str, Any]) -> Iterator[tuple[RouteContext, re.Match[str]]]:
    """Yield the routes that have the path of a request, whatever its method, and their matches."""
    for route in iter_route_contexts(scope["app"].routes):
        pattern = getattr(route.original_route, "path_regex", None)
        if pattern is not None and (found := pattern.match(scope["path"])):
            yield route, found


def request_state(scope: MutableMapping[str, Any]) -> RequestState:
    """Return the state of a request or WebSocket, created on the first call."""
    # Inner layers may copy the scope; this dictionary is shared by the copies.
    shared = scope.setdefault("state", {})
    if "request" not in shared:
        method = scope["method"].upper() if scope["type"] == "http" else "WEBSOCKET"
        shared["request"] = RequestState(scope["path"], method, Headers(scope=scope))
    return cast("RequestState", shared["request"])
