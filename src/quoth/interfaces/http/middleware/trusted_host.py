"""Host and origin checks against DNS rebinding and cross-site requests.

Any web page can make a browser send requests to any address, and can point its own host name at
this machine. It cannot choose the headers Host and Origin that the browser sends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.core.errors import ConfigError, Denied, InputError, TooLarge
from quoth.core.settings import Settings
from quoth.interfaces.http.request_state import READING_METHODS, request_state

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ALL_INTERFACES = frozenset({"", "0.0.0.0", "::"})  # noqa: S104
"""Addresses to bind that stand for all of this machine's; they are no host names."""
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
NOT_A_NAME = re.compile(r"[\s/\\@?#]")
"""Characters of a URL or of two names in one."""
MAX_HEAD_BYTES = 16_384
"""The longest head of a request, its path included."""


class MisdirectedRequest(InputError):
    """The request names another host."""

    code = "misdirected"
    status = 421


class CrossOriginRequest(Denied):
    """A page of another site made the browser send the request."""

    code = "foreign_origin"


class HeadTooLarge(TooLarge):
    """The head of a request is over the limit."""

    status = 431


class TrustedHostMiddleware:
    """Refuses requests with too long a head, for another host name or from another site's page."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        names: Collection[str],
        public_url: str | None = None,
        cors_origins: Collection[str] = (),
    ) -> None:
        self.app = app
        self.names = names
        self.cors_origins = cors_origins
        self.public_host = urlsplit(public_url or "").netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        request = request_state(scope)
        check_head(scope)
        check_host(request.headers, names=self.names, server=scope.get("server"))
        check_origin(
            request.headers,
            method=request.method,
            public_host=self.public_host,
            cors_origins=self.cors_origins,
        )
        await self.app(scope, receive, send)


def check_head(scope: Scope) -> None:
    """Refuse a head that is too long; raises HeadTooLarge."""
    path = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    if path + sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
        raise HeadTooLarge(
            "The head of a request, its address included, can have up to "
            f"{MAX_HEAD_BYTES // 1024} kB."
        )


def host_names(bound: str, *, settings: Settings) -> frozenset[str]:
    """Return the service's host names: loopback, the bound one, and those of the settings."""
    named = (bound, *settings.hosts.split(","), urlsplit(settings.public_url or "").netloc)
    given = {_host_name(part.strip()) or _bare(part) for part in named}
    return LOOPBACK | (given - ALL_INTERFACES)


def check_names(more: str) -> None:
    """Refuse names, separated by commas, that no Host header can hold; raises ConfigError."""
    for name in filter(None, (part.strip() for part in more.split(","))):
        if NOT_A_NAME.search(name):
            raise ConfigError(
                f"QUOTH_HOSTS holds '{name}', which is not a host name. Write the bare name, as in "
                "quoth.example.org; separate several with commas."
            )


def is_loopback(host: str) -> bool:
    """Return whether an address or name reaches this machine only."""
    bare = _bare(host)
    return bare in LOOPBACK or (bare.startswith("127.") and bare.replace(".", "").isdigit())


def check_host(
    headers: Headers, *, names: Collection[str], server: Sequence[object] | None = None
) -> None:
    """Refuse a request for another host name; raises MisdirectedRequest.

    ``server`` begins with the address that the connection came in on. It is accepted as a name: any
    name can be pointed at this machine, an address cannot.
    """
    given = headers.getlist("host")
    address = str(server[0]) if server else None
    name = _host_name(given[0]) if len(given) == 1 else None
    if name is None or name not in {*names, address}:
        raise MisdirectedRequest(
            "The service does not answer under this host name. Its operator can add the name to "
            "the setting QUOTH_HOSTS."
        )


def check_origin(
    headers: Headers,
    *,
    method: str,
    public_host: str = "",
    cors_origins: Collection[str] = (),
) -> None:
    """Refuse a change that a page of another site requests; raises CrossOriginRequest.

    ``method`` is in capitals; every method that is not for reading counts as a change. A page of
    ``public_host`` is our own, also where a proxy asks under another name. ``cors_origins`` may
    send what their browsers let them, which is no cookie (`require_own_page`).
    """
    if method in READING_METHODS:
        return
    origins = headers.getlist("origin")
    if origins and ("*" in cors_origins or set(origins) <= set(cors_origins)):
        return
    other_site = not origins and headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if other_site or not are_ours(origins, headers, public_host=public_host):
        raise CrossOriginRequest("A page of another site sent this request, so it was refused.")


def require_own_page(headers: Headers, *, method: str, public_host: str = "") -> None:
    """Refuse a change by cookie unless the browser names our own page as its origin.

    Raises CrossOriginRequest.
    """
    origins = headers.getlist("origin")
    named = origins or headers.get("sec-fetch-site") == "same-origin"
    ours = named and are_ours(origins, headers, public_host=public_host)
    if method not in READING_METHODS and not ours:
        raise CrossOriginRequest("A change by cookie names its origin. Send a key in its place.")


def are_ours(origins: Sequence[str], headers: Headers, *, public_host: str) -> bool:
    """Return whether all origins, none included, are of the host asked or the public address."""
    hosts = (headers.get("host", ""), *filter(None, [public_host]))
    return all(any(_same_origin(origin, host) for host in hosts) for origin in origins)


def _same_origin(origin: str, host: str) -> bool:
    try:
        page = urlsplit(origin)
        service = urlsplit(f"//{host}")
        default = DEFAULT_PORTS.get(page.scheme)
        ports = (page.port or default, service.port or default)
    except ValueError:
        return False
    return bool(default) and page.hostname == service.hostname and ports[0] == ports[1]


def _host_name(host: str) -> str | None:
    """Return the name in a Host header without its port, None for an invalid one."""
    try:
        found = urlsplit(f"//{host}")
        _port = found.port
    except ValueError:
        return None
    if found.netloc != host or "@" in host or found.hostname is None:
        return None
    return found.hostname.rstrip(".")


def _bare(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").casefold()
