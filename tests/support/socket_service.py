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

import uvicorn

from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.stack import access_control
from quoth.tenants import Tenants
from tests.support.service_client import served, shared_app
from tests.support.small_library import write_sources

SECRET = "# Bob's notes\n\nThe canary of Bob sings at midnight in the cellar.\n"


@dataclass(frozen=True, slots=True)
class House:
    """A running service: its address, the tenants behind it, and the keys of who asks by name."""

    url: str
    tenants: Tenants
    keys: Mapping[str, str]


@asynccontextmanager
async def open_house(folder: Path) -> AsyncIterator[House]:
    """Serve Ada's bees and French notes, and Bob's secret, on a free port of this machine."""
    sources = write_sources(folder / "sources")
    secret = sources / "secret.md"
    secret.write_text(SECRET, encoding="utf-8")
    async with served(folder / "home", chunk_tokens=32, hosts="quoth.example") as house:
        bees = [sources / "hive.srt", sources / "notes.md", sources / "book.pdf"]
        await house.add("ada", *bees, collection="bees")
        await house.add("ada", sources / "miel.md")
        await house.add("bob", secret)
        keys = {name: house.key(name) for name in ("ada", "bob")}
        keys["guest"] = house.share("ada", collection="bees")
        async with serving(house.tenants) as url:
            yield House(url, house.tenants, keys)


@asynccontextmanager
async def serving(tenants: Tenants, *, settings: Settings | None = None) -> AsyncIterator[str]:
    """Serve the application on a free port behind the gate, by the tenants' settings or others."""
    access = access_control(tenants, settings=settings or tenants.settings)
    app = shared_app(tenants, middleware=access)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
