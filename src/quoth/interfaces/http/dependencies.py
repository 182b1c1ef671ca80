"""Route dependencies: the authenticated caller, with the required scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from quoth.core.errors import Denied
from quoth.interfaces.http.request_state import NO_KEY, Principal, request_state
from quoth.store.keys import Scope


def require_scopes(caller: Principal | None, *scopes: Scope) -> Principal:
    """Return a caller who has these scopes; raises Denied."""
    if caller is None:
        raise Denied(NO_KEY, status=401)
    for scope in scopes:
        if scope not in caller.scopes:
            raise Denied(f"This key may not do that: it lacks the scope '{scope}'.")
    return caller


def allowed(*scopes: Scope) -> Callable[[Request], Principal]:
    """Return the dependency for a route's caller; it raises Denied without the scopes."""

    def caller(request: Request) -> Principal:
        state = request_state(request.scope)
        return replace(require_scopes(state.principal, *scopes), language=state.language)

    return caller


Reader = Annotated[Principal, Depends(allowed("read"))]
"""A caller who may query and read; also a share, for its one collection."""
Writer = Annotated[Principal, Depends(allowed("ingest"))]
"""A caller who may change the library; no share has this scope."""
Admin = Annotated[Principal, Depends(allowed("admin"))]
"""A caller who may decide for the tenant."""
Speaker = Annotated[Principal, Depends(allowed("live"))]
"""A caller who may speak into live sessions."""
TalkKeeper = Annotated[Principal, Depends(allowed("live", "ingest"))]
"""A caller who may also add documents."""


def is_operator(request: Request, caller: Principal) -> bool:
    """Return whether a caller is the operator: an admin of the service's own tenant."""
    own = request.app.state.tenants.settings.tenant
    return "admin" in caller.scopes and caller.tenant == own


def operator(caller: Admin, request: Request) -> Principal:
    """Return the operator; raises Denied for any other."""
    if not is_operator(request, caller):
        raise Denied("This is about all tenants: it needs a key of the operator.")
    return caller


Operator = Annotated[Principal, Depends(operator)]
"""A caller who may see and decide for all tenants, but never reads their texts."""


def owner(caller: Reader) -> Principal:
    """Return a caller with full access to the tenant; raises Denied for a share."""
    if caller.collection is not None:
        raise Denied("A share gives access to one collection only.")
    return caller


Owner = Annotated[Principal, Depends(owner)]
"""A caller who may read, but not a share."""
