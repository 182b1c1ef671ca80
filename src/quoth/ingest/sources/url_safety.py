"""URL checks against server-side request forgery: only public addresses are fetched.

A URL from a caller may target this machine or its internal network: local ports, routers and
printers, the metadata service of a cloud. The resolved IP address decides, never how the name is
written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote, urlsplit

from quoth.core.errors import InputError

PORTS = {"http": 80, "https": 443}
"""The schemes that are visited, with their usual ports; no other port is."""
MAX_URL_LENGTH = 2048
"""Characters of an address at most."""

MAX_HOST_LENGTH = 253

_CLOSED4 = tuple(
    ip_network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
_OPEN6 = ip_network("2000::/3")
# Teredo and similar, documentation, 6to4: they embed another address or are not routed.
_CLOSED6 = tuple(
    ip_network(each) for each in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAT64 = ip_network("64:ff9b::/96")
_UNPRINTABLE = re.compile(r"[^\x21-\x7e]")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9a-f:.]{2,45}")


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """An address in its parts, as they are sent; ``host`` is ASCII, without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return the host in the form of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def address(self) -> str:
        """Return the address without its fragment."""
        return f"{self.scheme}://{self.authority}{self.path}"


def target(address: str) -> ParsedUrl:
    """Parse a URL; raises InputError where it may not be fetched.

    What URL parsers interpret differently (a backslash, white space, user info) is refused rather
    than corrected.
    """
    text = address.strip(" ")
    if len(text) > MAX_URL_LENGTH:
        raise InputError(
            f"The address is longer than {MAX_URL_LENGTH} characters. Give a shorter one."
        )
    if "\\" in text or any(each.isspace() or not each.isprintable() for each in text):
        raise _refused(text, "it holds a backslash, a blank or an invisible sign")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _refused(text, "it is not written as addresses are") from None
    if parts.scheme not in PORTS:
        raise _refused(text, "only http and https are")
    if "@" in parts.netloc:
        raise _refused(text, "it holds a name or a password; leave them out")
    port = PORTS[parts.scheme] if port is None else port
    if port not in PORTS.values():
        raise _refused(text, f"its port {port} is neither 80 nor 443")
    path = _UNPRINTABLE.sub(lambda each: quote(each[0]), parts.path or "/")
    query = _UNPRINTABLE.sub(lambda each: quote(each[0]), parts.query)
    return ParsedUrl(
        scheme=parts.scheme,
        host=_host(host, text),
        port=port,
        path=f"{path}?{query}" if query else path,
    )


def is_public(number: str) -> bool:
    """Return whether an IP address belongs to the public internet; False for other text.

    An IPv4 address inside an IPv6 one counts as itself where that is in use (``::ffff:``, the
    well-known prefix of NAT64) and is refused where it no longer is (6to4, Teredo).
    """
    try:
        found = ip_address(number)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        found = _inner(found)
    if isinstance(found, IPv4Address):
        return found.is_global and not any(found in each for each in _CLOSED4)
    if found.scope_id is not None or found not in _OPEN6:
        return False
    return not any(found in each for each in _CLOSED6)


def _inner(number: IPv6Address) -> IPv4Address | IPv6Address:
    if number.ipv4_mapped is not None:
        return number.ipv4_mapped
    return IPv4Address(int(number) & 0xFFFF_FFFF) if number in _NAT64 else number


def _host(host: str, text: str) -> str:
    """Return a host as it is resolved: international names in ASCII, without a final dot."""
    try:
        name = (
            host
            if host.isascii() or len(host) > MAX_HOST_LENGTH
            else host.encode("idna").decode("ascii")
        )
    except UnicodeError:
        raise _refused(text, "its host is no name") from None
    name = name.lower().removesuffix(".")
    fits = _NUMBER if ":" in name else _NAME
    if not fits.fullmatch(name) or ".." in name:
        raise _refused(text, "its host is no name")
    return name


def _refused(text: str, reason: str) -> InputError:
    return InputError(f"The address “{display_url(text)}” is not visited: {reason}.")


def display_url(address: str) -> str:
    """Return a URL for messages, without user info and query."""
    text = "".join(each if each.isprintable() else "\ufffd" for each in address)
    scheme, slashes, rest = text.partition("//")
    head = rest.split("?")[0].split("#")[0]
    authority, slash, path = head.partition("/")
    whole = f"{scheme}{slashes}{authority.rpartition('@')[2]}{slash}{path}" if slashes else text
    return whole if len(whole) <= 100 else f"{whole[:99]}…"
