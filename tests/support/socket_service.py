"""The service on a real socket for the tests of its doors: two tenants, real index, fake embedder.

Who asks is told by the key alone: ``ada`` and ``bob`` are tenants, ``guest`` holds a share of
Ada's collection "bees".
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.interfaces.http.middleware.stack import access_control
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.store.keys import SCOPES, Keys
from quoth.store.shares import Shares
from quoth.tenants import Tenants
from tests.support.service_client import PATIENT, shared_app
from tests.support.small_library import FRENCH, write_sources

SECRET = "# Bob's notes\n\nThe canary of Bob sings at midnight in the cellar.\n"


@dataclass(frozen=True, slots=True)
class House:
    """A running service: its address, the tenants behind it, and the keys of who asks by name."""

    url: str
    tenants: Tenants
    keys: Mapping[str, str]


async def add(tenants: Tenants, tenant: str, *paths: Path, collection: str) -> list[Document]:
    """Add files to a tenant's collection."""
    steps = tenants.engine(tenant).add(list(paths), given=DocumentMetadata(), collection=collection)
    return [step async for step in steps if isinstance(step, Document)]


@asynccontextmanager
async def open_house(folder: Path) -> AsyncIterator[House]:
    """Serve Ada's bees and French notes, and Bob's secret, on a free port of this machine."""
    sources = write_sources(folder / "sources")
    secret = sources / "secret.md"
    secret.write_text(SECRET, encoding="utf-8")
    (sources / "french").mkdir()
    (sources / "french" / "miel.md").write_text(FRENCH, encoding="utf-8")
    home = folder / "home"
    quick: dict[str, Any] = {
        "home": home,
        "embedder": "fake",
        "chunk_tokens": 32,
        "hosts": "quoth.example",
    }
    async with open_tenants(Settings(**quick, **PATIENT)) as tenants:
        bees = [sources / "hive.srt", sources / "notes.md", sources / "book.pdf"]
        await add(tenants, "ada", *bees, collection="bees")
        await add(tenants, "ada", sources / "french" / "miel.md", collection="default")
        await add(tenants, "bob", secret, collection="default")
        database = tenants.database
        keys = {
            name: Keys(database, tenant=name).add(label=name, scopes=SCOPES).token
            for name in ("ada", "bob")
        }
        keys["guest"] = Shares(database, tenant="ada").add(collection="bees", expires_days=1).token
        async with serving(tenants) as url:
            yield House(url, tenants, keys)


@asynccontextmanager
async def serving(tenants: Tenants, *, settings: Settings | None = None) -> AsyncIterator[str]:
    """Serve the application on a free port behind the gate, by the tenants' settings or others."""
    access = access_control(tenants, settings=settings or tenants.settings)
    app = shared_app(tenants, middleware=access)
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
