"""Whether the servers of the configured components accept connections; nothing is sent to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from quoth.backends.generators.access import is_local_url
from quoth.backends.states import names_models, part_states
from quoth.core.errors import ConfigError
from quoth.core.plan import profile

if TYPE_CHECKING:
    from quoth.core.settings import Settings

LIMIT_S = 3.0
OPTIONS = {"moderator": "QUOTH_MODERATION"}
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432}


@dataclass(frozen=True, slots=True)
class PartServer:
    """A server, what it is used as, and the option that names another one.

    ``alone`` means that no other component stands in for it, ``local`` that it is this machine.
    """

    part: str
    name: str
    host: str
    port: int
    option: str
    alone: bool
    local: bool

    async def answers(self) -> bool:
        """Return whether it accepts a connection."""
        try:
            async with asyncio.timeout(LIMIT_S):
                _reader, writer = await asyncio.open_connection(self.host, self.port)
        except (OSError, TimeoutError, UnicodeError):
            return False
        writer.close()
        return True


def servers(settings: Settings) -> list[PartServer]:
    """Return the servers of the settings' components; raises ConfigError, MissingExtra.

    Those beyond a proxy are left out: only the proxy connects to them.
    """
    found = []
    for state in part_states(settings):
        for sent in state.sends:
            alone = "," not in state.name
            option = OPTIONS.get(sent.part, f"--{sent.part}")
            found += _server(sent.part, sent.name, sent.url, option=option, alone=alone)
    if names_models(settings):
        from quoth.backends.generators.registry import model_addresses

        models = model_addresses(settings, default=profile(settings.profile).generator)
        for name, url in models:
            found += _server("generator", name, url, option="--llm", alone=len(models) == 1)
    proxied = settings.llm_proxy is not None or bool({"http", "https", "all"} & getproxies().keys())
    return [each for each in found if not proxied or each.local]


async def unreachable(of: Iterable[PartServer]) -> list[PartServer]:
    """Return those that accept no connection; all are asked at once."""
    asked = list(of)
    answers = await asyncio.gather(*(each.answers() for each in asked))
    return [each for each, there in zip(asked, answers, strict=True) if not there]


async def require_servers(settings: Settings) -> None:
    """Raise ConfigError where a new library needs a server that cannot be reached.

    A library that is there goes on without it, as its answers say; so does one whose language model
    is hosted elsewhere.
    """
    needed = (
        each
        for each in servers(settings)
        if each.alone and (each.part != "generator" or each.local)
    )
    for each in await unreachable(needed):
        raise ConfigError(
            f"The {each.part} {each.name} at {each.host}:{each.port} cannot be reached, so no "
            "library was made. Look at whether it runs and at its address, or choose another with "
            f"{each.option}."
        )


def _server(part: str, name: str, url: str, *, option: str, alone: bool) -> list[PartServer]:
    parts = urlsplit(url)
    port = parts.port or PORTS.get(parts.scheme, 0)
    if not parts.hostname or not port:  # PostgreSQL by a socket of this machine
        return []
    return [PartServer(part, name, parts.hostname, port, option, alone, is_local_url(url))]
