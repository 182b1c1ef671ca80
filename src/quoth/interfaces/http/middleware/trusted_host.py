"""Under which names the service is asked, and by whose pages: what a browser can be lured into.

A page of a stranger can make a browser ask any address, this machine's included, and can make a
name of its own lead there. It cannot choose what the browser says in Host and Origin.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from quoth.core.errors import ConfigError, Denied, InputError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104
"""Addresses to bind that mean all of this machine's; nobody asks under them."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
NO_NAME = re.compile(r"[\s/\\@?#]")
"""What shows that an address was written, or two names in one."""


class MisdirectedRequest(InputError):
    """The request was meant for another host."""

    code = "misdirected"
    status = 421


class CrossOriginRequest(Denied):
    """A page of another site made the browser ask."""

    code = "foreign_origin"

    def __init__(self, message: str, *, status: Literal[401, 403] = 403) -> None:
        super().__init__(message, status=status)


def names_of(bound: str, *, more: str) -> frozenset[str]:
    """Give the names to be asked under: this machine's, the bound one, and ``more`` by commas."""
    given = {_name(each.strip()) or _bare(each) for each in (bound, *more.split(","))}
    return LOOPBACK | (given - EVERYWHERE)


def check_names(more: str) -> None:
    """Refuse names, divided by commas, that no Host header can hold; raises ConfigError."""
    for each in filter(None, (part.strip() for part in more.split(","))):
        if NO_NAME.search(each):
            raise ConfigError(
                f"QUOTH_HOSTS holds '{each}', which is no name. Write the bare name, as in "
                "quoth.example.org; several are divided by commas."
            )


def is_loopback(host: str) -> bool:
    """Whether an address or name reaches this machine only, whatever the network."""
    bare = _bare(host)
    return bare in LOOPBACK or (bare.startswith("127.") and bare.replace(".", "").isdigit())


def check_host(
    headers: Headers, *, names: Collection[str], reached: Sequence[object] | None = None
) -> None:
    """Refuse a request that was sent to another name; raises Misdirected.

    ``reached`` begins with the address at which the connection came in. It is good as a name too:
    names can be made to lead here by anybody, addresses cannot.
    """
    given = headers.getlist("host")
    address = str(reached[0]) if reached else None
    if len(given) != 1 or (name := _name(given[0])) is None or name not in {*names, address}:
        raise MisdirectedRequest(
            "The service is not asked under this name. Whoever runs it can add the name to the "
            "setting QUOTH_HOSTS."
        )


def check_origin(headers: Headers, *, method: str) -> None:
    """Refuse what a page of another site wants changed, or connected to; raises ForeignPage.

    ``method`` is the method in capitals; anything that is not for reading counts as a change.
    """
    if method in READING:
        return
    origins = headers.getlist("origin")
    foreign = any(not _same(origin, headers.get("host", "")) for origin in origins)
    if foreign or (not origins and headers.get("sec-fetch-site") in ("cross-site", "same-site")):
        raise CrossOriginRequest("A page of another site asked for this, so it was not done.")


def _same(origin: str, host: str) -> bool:
    try:
        from_page = urlsplit(origin)
        asked = urlsplit(f"//{host}")
        usual = PORTS.get(from_page.scheme)
        ports = (from_page.port or usual, asked.port or usual)
    except ValueError:
        return False
    return bool(usual) and from_page.hostname == asked.hostname and ports[0] == ports[1]


def _name(host: str) -> str | None:
    """Give the name in a Host header, without its port; None for what is none."""
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
