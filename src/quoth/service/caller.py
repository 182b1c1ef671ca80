"""Who asks, and what they may do: made by the gate, asked for by every route.

A route reaches documents, questions and everything else only through ``caller.engine``, which
knows no tenant but the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from quoth.catalogue.keys import SCOPES, Scope
from quoth.engine import Engine
from quoth.errors import Denied

__all__ = ["SCOPES", "Caller", "Scope", "allowed"]


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's caller.

    ``key_id`` is "local" where the service runs without keys, and begins with ``sh_`` for a
    share, which reads one ``collection`` and nothing else.
    """

    tenant: str
    key_id: str
    scopes: frozenset[Scope]
    engine: Engine
    request_id: str
    address: str
    collection: str | None = None


def allowed(scope: Scope) -> Callable[[Request], Caller]:
    """Make the dependency that gives a route its caller; raises Denied without this scope."""

    def caller(request: Request) -> Caller:
        found: Caller | None = getattr(request.state, "caller", None)
        if found is None:
            raise Denied("This needs a key. Send it as: Authorization: Bearer KEY", status=401)
        if scope not in found.scopes:
            raise Denied(f"This key may not do that: it lacks the scope '{scope}'.")
        return found

    return caller
