"""Who asks, and what they may do: made by the gate, asked for by every route.

A route reaches documents, questions and everything else only through ``caller.engine``, which
knows no tenant but the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from quoth.core.errors import Denied
from quoth.engine import Engine
from quoth.store.keys import Scope


@dataclass(frozen=True, slots=True)
class Principal:
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


def allowed(scope: Scope) -> Callable[[Request], Principal]:
    """Make the dependency that gives a route its caller; raises Denied without this scope."""

    def caller(request: Request) -> Principal:
        found: Principal | None = getattr(request.state, "caller", None)
        if found is None:
            raise Denied("This needs a key. Send it as: Authorization: Bearer KEY", status=401)
        if scope not in found.scopes:
            raise Denied(f"This key may not do that: it lacks the scope '{scope}'.")
        return found

    return caller


Reader = Annotated[Principal, Depends(allowed("read"))]
"""Who may ask and read; a share, too, of its one collection."""
Writer = Annotated[Principal, Depends(allowed("ingest"))]
"""Who may change the library; no share has this scope."""
Admin = Annotated[Principal, Depends(allowed("admin"))]
"""Who decides for the tenant."""


def owner(caller: Reader) -> Principal:
    """A caller who may see what is the whole tenant's; raises Denied for a share."""
    if caller.collection is not None:
        raise Denied("A share opens one collection, and nothing else.")
    return caller


Owner = Annotated[Principal, Depends(owner)]
"""Who may read, but for shares."""
