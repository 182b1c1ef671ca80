"""The service on a real socket for the tests of its doors: two tenants, real index, fake embedder.

Who asks is told by the key alone: ``ada`` and ``bob`` are tenants, ``guest`` holds a share of
Ada's collection "bees".
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.add import Given
from quoth.service.app import Around, make_app
from quoth.service.caller import SCOPES, Caller
from quoth.settings import Settings
from quoth.tenants import Tenants
from quoth.types import Document
from quoth.wiring import open_tenants
from tests.tour import FRENCH, write_sources

SECRET = "# Bob's notes\n\nThe canary of Bob sings at midnight in the cellar.\n"


class Callers:
    """Stands where the gate stands: makes a caller of the key and nothing else."""

    def __init__(self, app: ASGIApp, *, tenants: Tenants) -> None:
        self.app = app
        self.tenants = tenants

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            key = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
            if key in ("ada", "bob", "guest"):
                tenant = "ada" if key == "guest" else key
                scope.setdefault("state", {})["caller"] = Caller(
                    tenant=tenant,
                    key_id="sh_1" if key == "guest" else key,
                    scopes=frozenset({"read"}) if key == "guest" else frozenset(SCOPES),
                    engine=self.tenants.engine(tenant),
                    request_id="r1",
                    address="127.0.0.1",
                    collection="bees" if key == "guest" else None,
                )
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class House:
    """A running service: its address, and the tenants behind it."""

    url: str
    tenants: Tenants


async def add(tenants: Tenants, tenant: str, *paths: Path, collection: str) -> list[Document]:
    """Add files to a tenant's collection."""
    steps = tenants.engine(tenant).add(list(paths), given=Given(), collection=collection)
    return [step async for step in steps if isinstance(step, Document)]


@asynccontextmanager
async def open_house(folder: Path, *, settings: Settings | None = None) -> AsyncIterator[House]:
    """Serve Ada's bees and French notes, and Bob's secret, on a free port of this machine."""
    sources = write_sources(folder / "sources")
    secret = sources / "secret.md"
    secret.write_text(SECRET, encoding="utf-8")
    (sources / "french").mkdir()
    (sources / "french" / "miel.md").write_text(FRENCH, encoding="utf-8")
    home = folder / "home"
    chosen = settings or Settings(home=home, embedder="fake", chunk_tokens=32)
    async with open_tenants(chosen) as tenants:
        bees = [sources / "hive.srt", sources / "notes.md", sources / "book.pdf"]
        await add(tenants, "ada", *bees, collection="bees")
        await add(tenants, "ada", sources / "french" / "miel.md", collection="default")
        await add(tenants, "bob", secret, collection="default")
        async with serving(tenants) as url:
            yield House(url, tenants)


@asynccontextmanager
async def serving(tenants: Tenants, *, around: Around | None = None) -> AsyncIterator[str]:
    """Serve the application on a free port, with `Callers` before it or ``around``."""
    app = make_app(tenants, around=[around or (lambda inner: Callers(inner, tenants=tenants))])
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        if task.done():
            task.result()
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task
        listening.close()
