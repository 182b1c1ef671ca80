"""Routes for the keys and shares of a tenant; they need the scope ``admin``."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Denied
from quoth.interfaces.http.dependencies import Admin
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import (
    Body,
    CollectionName,
    OneId,
)
from quoth.interfaces.http.text_rules import Line
from quoth.store.keys import (
    MAX_DAYS,
    MAX_LABEL_LENGTH,
    ApiKey,
    Keys,
    NewKey,
    Scope,
)
from quoth.store.shares import MAX_DAYS as MOST_DAYS_OF_A_SHARE
from quoth.store.shares import NewShare, Share, Shares

router = APIRouter(tags=["keys"])


class KeyRequest(Body):
    """A new key: its label, its scopes, and days until it expires."""

    label: Annotated[Line, Field(min_length=1, max_length=MAX_LABEL_LENGTH, examples=["intranet"])]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4, examples=[["read"]])]
    expires_days: Annotated[float | None, Field(gt=0, le=MAX_DAYS, allow_inf_nan=False)] = None


class ShareRequest(Body):
    """A new share: the one collection that it opens, and days until it expires."""

    collection: CollectionName
    expires_days: Annotated[
        float, Field(gt=0, le=MOST_DAYS_OF_A_SHARE, allow_inf_nan=False, examples=[7])
    ] = 7


@router.post("/v1/keys", status_code=201, summary="Make a key", responses={201: {"model": NewKey}})
async def make_key(request: Request, caller: Admin, wanted: KeyRequest) -> ApiResponse:
    """Create a key; its token is in this response and nowhere else."""
    beyond = set(wanted.scopes) - caller.scopes
    if beyond:
        missing = ", ".join(sorted(beyond))
        raise Denied(f"A key cannot grant scopes that it does not have: {missing}.")
    made = await asyncio.to_thread(
        _keys(caller).add,
        label=wanted.label,
        scopes=wanted.scopes,
        expires_days=wanted.expires_days,
    )
    request_state(request.scope).object_id = made.key.key_id
    return ApiResponse(made, 201)


@router.get("/v1/keys", summary="List the keys", response_model=list[ApiKey])
async def list_keys(caller: Admin) -> ApiResponse:
    """List the keys of this tenant without their secrets, the newest first."""
    return ApiResponse(await asyncio.to_thread(_keys(caller).all))


@router.delete("/v1/keys/{key_id}", status_code=204, summary="Revoke a key")
async def revoke_key(caller: Admin, key_id: OneId) -> Response:
    """Revoke a key within a second."""
    await asyncio.to_thread(_keys(caller).revoke, key_id)
    return Response(status_code=204)


@router.post(
    "/v1/shares",
    status_code=201,
    summary="Share a collection",
    responses={201: {"model": NewShare}},
)
async def make_share(request: Request, caller: Admin, wanted: ShareRequest) -> ApiResponse:
    """Create a token that opens one collection for reading; it is in this response only."""
    if "read" not in caller.scopes:
        raise Denied("A share grants the scope 'read', which this key does not have.")
    made = await asyncio.to_thread(
        _shares(caller).add, collection=wanted.collection, expires_days=wanted.expires_days
    )
    request_state(request.scope).object_id = made.share.share_id
    return ApiResponse(made, 201)


@router.get("/v1/shares", summary="List the shares", response_model=list[Share])
async def list_shares(caller: Admin) -> ApiResponse:
    """List the shares of this tenant without their tokens, the newest first."""
    return ApiResponse(await asyncio.to_thread(_shares(caller).all))


@router.delete("/v1/shares/{share_id}", status_code=204, summary="Revoke a share")
async def revoke_share(caller: Admin, share_id: OneId) -> Response:
    """Revoke a share within a second."""
    await asyncio.to_thread(_shares(caller).revoke, share_id)
    return Response(status_code=204)


def _keys(caller: Principal) -> Keys:
    return Keys.of(caller.engine.parts.catalogue)


def _shares(caller: Principal) -> Shares:
    return Shares.of(caller.engine.parts.catalogue)
