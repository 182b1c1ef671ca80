"""Address of the client behind trusted proxies, and paths below the public base path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.core.settings import Settings

Network = IPv4Network | IPv6Network
FORWARDED_PAIR = re.compile(r'(for|proto)=("[^"]*"|[^;,\s]+)', re.IGNORECASE)
SCHEMES = ("http", "https")


class ClientAddressMiddleware:
    """Sets a request's client and scheme to those that its trusted proxies name.

    The last address that is not a trusted proxy's counts, so that a client cannot choose its own.
    A path below the base path of ``public_url`` is served as if it were below the root.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self._proxies = proxy_networks(settings.trusted_proxies)
        self._base = base_path(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        await self.app(self._without_base(self._behind_proxies(scope)), receive, send)

    def _behind_proxies(self, scope: Scope) -> Scope:
        peer = scope.get("client")
        if not peer or not is_trusted(peer[0], self._proxies):
            return scope
        headers = Headers(scope=scope)
        addresses, scheme = _forwarded(headers)
        named = next((a for a in reversed(addresses) if not is_trusted(a, self._proxies)), None)
        if named or addresses:
            scope = {**scope, "client": (named or addresses[0], 0)}
        if scheme in SCHEMES and scope["type"] == "http":
            scope = {**scope, "scheme": scheme}
        return scope

    def _without_base(self, scope: Scope) -> Scope:
        path = scope["path"]
        if not self._base or not f"{path}/".startswith(f"{self._base}/"):
            return scope
        return {**scope, "path": path[len(self._base) :] or "/"}


def base_path(settings: Settings) -> str:
    """Return the path of the public address, without a slash at its end."""
    return urlsplit(settings.public_url or "").path.rstrip("/")


def proxy_networks(given: str) -> tuple[Network, ...]:
    """Return the networks of trusted proxies, separated by commas; the settings checked them."""
    parts = (part.strip() for part in given.split(","))
    return tuple(ip_network(part, strict=False) for part in parts if part)


def is_trusted(address: str, proxies: Sequence[Network]) -> bool:
    """Return whether an address is that of a trusted proxy."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in proxies)


def _forwarded(headers: Headers) -> tuple[list[str], str]:
    """Return the forwarded addresses, the client's first, and the scheme of the nearest proxy.

    ``X-Forwarded-For`` counts before ``Forwarded`` (RFC 7239) where both are sent.
    """
    plain = ",".join(headers.getlist("x-forwarded-for"))
    if plain:
        protocols = headers.get("x-forwarded-proto", "").split(",")
        return list(map(_bare, plain.split(","))), protocols[-1].strip().lower()
    addresses, scheme = [], ""
    for name, value in FORWARDED_PAIR.findall(",".join(headers.getlist("forwarded"))):
        if name.lower() == "for":
            addresses.append(_bare(value.strip('"')))
        else:
            scheme = value.strip('"').lower()
    return addresses, scheme


def _bare(address: str) -> str:
    """Return an address without its port and brackets."""
    text = address.strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
