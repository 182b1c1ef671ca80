"""The service in this process, with real keys, for tests that speak HTTP to it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from starlette.routing import BaseRoute

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.interfaces.http.app import make_app
from quoth.interfaces.http.middleware.audit import AuditMiddleware
from quoth.interfaces.http.middleware.stack import access_control
from quoth.interfaces.http.server.h11_protocol import LimitedH11Protocol
from quoth.operations.worker import run_workers
from quoth.store.audit import Audit, AuditRow
from quoth.store.keys import SCOPES, Keys
from quoth.store.shares import Shares
from quoth.tenants import Tenants
from tests.support.made_documents import put_catalogue

PATIENT: Mapping[str, Any] = {
    "key_questions_per_minute": 1_000_000,
    "key_questions_burst": 1_000_000,
    "key_questions_at_once": 1000,
    "key_requests_per_minute": 10_000_000,
    "key_requests_at_once": 1000,
    "wrong_keys_per_minute": 1_000_000,
}
"""Settings under which no test is told to slow down."""


@dataclass(frozen=True, slots=True)
class House:
    """An open service: its application, its tenants, and who may ask."""

    app: FastAPI
    tenants: Tenants
    home: Path

    def key(self, tenant: str, *, scopes: tuple[str, ...] = SCOPES) -> str:
        """Make a key of a tenant and give its token."""
        made = Keys(self.tenants.database, tenant=tenant).add(label="test", scopes=scopes)
        return made.token

    def share(self, tenant: str, *, collection: str) -> str:
        """Make a share of a tenant's collection and give its token."""
        made = Shares(self.tenants.database, tenant=tenant)
        return made.add(collection=collection, expires_days=1).token

    @asynccontextmanager
    async def client(self, key: str, *, loud: bool = True) -> AsyncIterator[httpx.AsyncClient]:
        """A client with that key; ``loud`` raises what the application did not expect."""
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=loud)
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as client:
            yield client

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """One worker, who takes in the files that were sent, as long as this lasts."""
        stop = asyncio.Event()
        working = asyncio.create_task(run_workers(self.tenants, count=1, stop=stop))
        try:
            yield
        finally:
            stop.set()
            await working

    async def add(self, tenant: str, *sources: Path, collection: str = "default") -> list[str]:
        """Add files to a tenant's collection and give the ids of the documents."""
        steps = self.tenants.engine(tenant).add(sources, collection=collection)
        return [each.document_id async for each in steps if isinstance(each, Document)]


def shared_app(tenants: Tenants, **choices: Any) -> FastAPI:
    """Return the application of these tenants, with the routes of the first one that was made.

    They hold nothing of an application, and take a second of the processor to describe.
    """
    app = make_app(tenants, **choices)
    if not _ROUTES:
        _ROUTES.extend(app.router.routes)
    app.router.routes[:] = _ROUTES
    return app


_ROUTES: list[BaseRoute] = []


@asynccontextmanager
async def served(home: Path, *, audit: bool = False, **choices: Any) -> AsyncIterator[House]:
    """Open the service over a folder, with the fake embedder; ``audit`` writes the audit log."""
    settings = Settings(home=home, embedder="fake", **{**PATIENT, **choices})
    if settings.database is None:
        put_catalogue(home / "catalogue.sqlite")
    async with open_tenants(settings) as tenants:
        headers, *access = access_control(tenants, settings=settings)
        audits = [partial(AuditMiddleware, tenants=tenants)] if audit else []
        yield House(shared_app(tenants, middleware=[headers, *audits, *access]), tenants, home)


def audit_rows(house: House, tenant: str) -> list[AuditRow]:
    """Return the rows of a tenant's audit log, the oldest first."""
    return Audit(house.tenants.database, tenant=tenant).rows(limit=10_000)[::-1]


@contextmanager
def listening(
    home: Path, prepare: Callable[[House], Awaitable[Any]], **choices: Any
) -> Iterator[tuple[str, Any, House]]:
    """Serve a house on a free port of this machine, in a thread with a loop of its own.

    Gives the address, what ``prepare`` gave, and the house.
    """
    ready: Future[tuple[uvicorn.Server, Any, House]] = Future()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the service does

    async def serve() -> None:
        async with served(home, **choices) as house:
            prepared = await prepare(house)
            config = uvicorn.Config(
                house.app, http=LimitedH11Protocol, log_config=None, timeout_graceful_shutdown=2
            )
            server = uvicorn.Server(config)
            ready.set_result((server, prepared, house))
            await server.serve(sockets=[listener])

    thread = Thread(target=asyncio.run, args=[serve()], daemon=True)
    thread.start()
    server, prepared, house = ready.result(timeout=60)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", prepared, house
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()
