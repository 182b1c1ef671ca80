"""Signing in: a browser sends a key once, and gets a cookie that stands for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Denied
from quoth.interfaces.http.dependencies import is_operator
from quoth.interfaces.http.middleware.client_address import base_path
from quoth.interfaces.http.request_state import LOCAL, SESSION_COOKIE, Principal, request_state
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import Body
from quoth.store.keys import SCOPES, Scope
from quoth.store.sessions import LIFETIME, Sessions

router = APIRouter(tags=["keys"])


class SignIn(Body):
    """A key or the token of a share."""

    key: Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class SessionView:
    """Who asks: without a tenant a key is needed first.

    ``key_needed`` is False for the owner of this machine, who may do all without a key;
    ``collection`` is the only one that a share reads, ``operator`` whether the key may see all
    tenants.
    """

    key_needed: bool
    tenant: str | None
    scopes: tuple[Scope, ...]
    collection: str | None
    operator: bool


@router.get("/v1/session", summary="Show who is signed in", response_model=SessionView)
async def show_session(request: Request) -> Response:
    """Say whether a key is needed, and what the one in use may do."""
    return ApiResponse(_view(request, request_state(request.scope).principal))


@router.post(
    "/v1/session",
    status_code=201,
    summary="Sign in",
    responses={201: {"model": SessionView}},
)
async def sign_in(request: Request, wanted: SignIn) -> Response:
    """Begin a session with the scopes of a key: its cookie is unreadable for scripts.

    It ends after seven days, when it is ended, or with its key.
    """
    state = request_state(request.scope)
    if state.sign_in is None:
        raise Denied("This service takes no sessions.")
    caller = await state.sign_in(wanted.key.strip())
    state.principal = caller
    answer = ApiResponse(_view(request, caller), 201)
    if caller.key_id != LOCAL:
        made = await asyncio.to_thread(_sessions(caller).add, caller.key_id)
        _set_cookie(request, answer, made.token, seconds=int(LIFETIME.total_seconds()))
    return answer


@router.delete("/v1/session", status_code=204, summary="Sign out")
async def sign_out(request: Request) -> Response:
    """End the session of this browser at once."""
    state = request_state(request.scope)
    if state.principal is not None and state.session_token:
        await asyncio.to_thread(_sessions(state.principal).end, state.session_token)
    answer = Response(status_code=204)
    _set_cookie(request, answer, "", seconds=0)
    return answer


def _set_cookie(request: Request, answer: Response, value: str, *, seconds: int) -> None:
    answer.set_cookie(
        SESSION_COOKIE,
        value,
        max_age=seconds,
        path=base_path(request.app.state.tenants.settings) or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _view(request: Request, caller: Principal | None) -> SessionView:
    if caller is None:
        return SessionView(True, None, (), None, False)
    scopes = tuple(scope for scope in SCOPES if scope in caller.scopes)
    key_needed = caller.key_id != LOCAL
    return SessionView(
        key_needed, caller.tenant, scopes, caller.collection, is_operator(request, caller)
    )


def _sessions(caller: Principal) -> Sessions:
    return Sessions.of(caller.engine.parts.catalogue)
