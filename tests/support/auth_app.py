"""A house with a gate before it, and a small application behind that says who came through."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import event
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.stack import AddMiddleware, access_control
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.store.database import Database
from quoth.store.keys import Keys, NewKey
from quoth.tenants import Tenants
from tests.support.clock import Clock
from tests.support.made_documents import put_catalogue

ALL = ("read", "ingest", "live", "admin")


@dataclass
class Inside:
    """Reads what is sent and says who sent it; ``calls`` counts how often it was reached."""

    calls: int = 0
    received: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close"})
            return
        more = True
        while more:
            message = await receive()
            self.received += len(message.get("body", b""))
            more = message.get("more_body", False)
        caller = request_state(scope).principal
        said = {"caller": None} if caller is None else told(caller)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})


def told(caller: Principal) -> dict[str, Any]:
    return {
        "tenant": caller.tenant,
        "key_id": caller.key_id,
        "scopes": sorted(caller.scopes),
        "collection": caller.collection,
        "engine": caller.engine.parts.catalogue.tenant,
        "address": caller.address,
    }


@dataclass
class House:
    """The gate, what stands behind it, and its keys."""

    tenants: Tenants
    gate: ASGIApp
    inside: Inside
    clock: Clock
    writes: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    """Statements that look a key up."""

    def key(self, tenant: str = "ada", *, scopes: tuple[str, ...] = ALL, **more: Any) -> NewKey:
        return Keys(self.tenants.database, tenant=tenant).add(label="x", scopes=scopes, **more)

    def client(self, token: str = "", *, host: str = "127.0.0.1", **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            given["authorization"] = f"Bearer {token}"
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.gate, client=(host, 1234)),
            base_url="http://127.0.0.1:8765",
            headers=given,
        )


def protected(app: ASGIApp, middleware: Sequence[AddMiddleware]) -> ASGIApp:
    """Wrap an application in middleware, given the outermost first."""
    for add_middleware in reversed(middleware):
        app = add_middleware(app)
    return app


@asynccontextmanager
async def gated(
    home: Path,
    *,
    app: ASGIApp | None = None,
    make: Callable[[Tenants], ASGIApp] | None = None,
    bound: str = "127.0.0.1",
    **settings: Any,
) -> AsyncIterator[House]:
    """Serve ``app``, or what ``make`` makes of the tenants, else `Inside`, behind the checks."""
    inside, clock = Inside(), Clock()
    chosen = Settings(home=home, embedder="fake", **settings)
    writes: list[str] = []
    looks: list[str] = []
    put_catalogue(home / "catalogue.sqlite")
    async with open_tenants(chosen) as opened:
        database = Database(opened.database.engine, writes.append)
        tenants = Tenants(chosen, database=database, open_tenant=opened.engine)
        access = access_control(tenants, settings=chosen, bound=bound, clock=clock)
        gate = protected(app or (make(tenants) if make else inside), access)

        @event.listens_for(database.engine, "before_cursor_execute")
        def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            if "FROM keys" in statement and "secret_hash" in statement:
                looks.append(statement)

        yield House(tenants, gate, inside, clock, writes, looks)
