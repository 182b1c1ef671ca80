"""A house that takes files in, quickly: real catalogue, index, gate and routes; files are read in
this process, which saves the start of another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from quoth.bootstrap import IndexPool
from quoth.core.protocols import Embedder
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.ingest.sandbox.parent import PdfPages
from quoth.interfaces.http.middleware.stack import access_control
from quoth.interfaces.http.uploads.receive import receive_whole
from quoth.operations.worker import Isolate, WorkerTimings, run_workers
from quoth.pipeline.components import Components, OutlineCache
from quoth.pipeline.components import FileParser as ReadsFiles
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.ingest_jobs import Jobs
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.store.upload_tasks import Task
from quoth.tenants import Tenants
from quoth.testing import HashEmbedder
from tests.support.made_documents import put_catalogue
from tests.support.service_client import PATIENT, House, shared_app
from tests.support.small_library import ReadHere

QUICK = WorkerTimings(lease_s=5, poll_s=0.01, beat_s=0.05, wait_s=0.1, grace_s=5, tidy_s=60)


def silent(_name: str) -> None:
    """Hear of an operation."""


@asynccontextmanager
async def open_house(home: Path, **choices: Any) -> AsyncIterator[House]:
    """Open the service over a folder; the choices are those of `open_quickly`."""
    async with open_quickly(home, **choices) as tenants:
        access = access_control(tenants, settings=tenants.settings)
        yield House(shared_app(tenants, middleware=access), tenants, home)


@asynccontextmanager
async def open_quickly(
    home: Path,
    *,
    embedder: Embedder | None = None,
    readers: ReadsFiles | None = None,
    on_operation: Callable[[str], None] = silent,
    patience_s: float = 30,
    **choices: Any,
) -> AsyncIterator[Tenants]:
    """Open the tenants of a folder."""
    settings = Settings(home=home, chunk_tokens=64, **{**PATIENT, **choices})
    database = open_database(
        put_catalogue(home / "catalogue.sqlite"), on_operation=on_operation, patience_s=patience_s
    )
    chosen, reads = embedder or HashEmbedder(), readers or ReadHere()
    opened: list[IndexPool] = []

    def open_tenant(tenant: str) -> Engine:
        own = settings.model_copy(update={"tenant": tenant})
        catalogue = Catalogue(database, tenant=tenant)
        indexes = IndexPool(own, dimension=chosen.dimension, on_operation=on_operation)
        opened.append(indexes)
        return Engine(
            Components(
                settings=own,
                catalogue=catalogue,
                jobs=Jobs(catalogue),
                outlines=OutlineCache(catalogue),
                embedder=chosen,
                open_index=indexes,
                readers=lambda: reads,
                pages=PdfPages,
            )
        )

    try:
        yield Tenants(settings, database=database, open_tenant=open_tenant)
    finally:
        for each in opened:
            each.close()
        database.close()


async def until(true: Callable[[], bool], *, within_s: float = 10) -> None:
    """Wait for something to become true that another task or thread does."""
    async with asyncio.timeout(within_s):
        while not await asyncio.to_thread(true):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.02)


async def one(data: bytes) -> AsyncIterator[bytes]:
    """A body that comes in one piece."""
    yield data


async def send(
    tenants: Tenants,
    text: str | bytes,
    *,
    name: str = "notes.md",
    tenant: str = "local",
    collection: str | None = None,
) -> Task:
    """Queue a file as the route does."""
    data = text if isinstance(text, bytes) else text.encode()
    task, _new = await receive_whole(
        tenants.engine(tenant).parts,
        one(data),
        about=lambda: {"name": name, "collection": collection},
        key_id="k",
    )
    return task


@asynccontextmanager
async def working(
    tenants: Tenants,
    *,
    count: int = 2,
    rhythm: WorkerTimings = QUICK,
    isolate: Isolate | None = None,
) -> AsyncIterator[asyncio.Task[None]]:
    """Let workers work."""
    stop = asyncio.Event()
    workers = asyncio.create_task(
        run_workers(tenants, count=count, stop=stop, rhythm=rhythm, isolate=isolate)
    )
    try:
        yield workers
    finally:
        stop.set()
        await workers


async def drained(tenants: Tenants, *, tenant: str = "local", within_s: float = 30) -> list[Task]:
    """Wait until every task of a tenant has ended; gives them, the oldest first."""
    queue = Queue(tenants.database, tenant=tenant)
    async with asyncio.timeout(within_s):
        while True:
            tasks = await asyncio.to_thread(queue.tasks, limit=10_000)
            if all(each.ended for each in tasks):
                return tasks[::-1]
            await asyncio.sleep(0.02)


async def work_off(tenants: Tenants, *, count: int = 2, isolate: Isolate | None = None) -> None:
    """Let workers work until nothing waits."""
    async with working(tenants, count=count, isolate=isolate):
        for tenant in await asyncio.to_thread(TenantRoundRobin(tenants.database).tenants):
            await drained(tenants, tenant=tenant, within_s=240)


def files_in(home: Path) -> list[str]:
    """The files among the blobs, by their path in the folder of blobs."""
    folder = home / "blobs"
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
