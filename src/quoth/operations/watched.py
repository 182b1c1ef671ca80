"""Watched folders: the service keeps a collection equal to each of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from quoth.core.errors import QuothError
from quoth.core.extras import require_extra
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.pipeline.sync import check_folder
from quoth.store.rows import now
from quoth.tenants import Tenants

log = logging.getLogger("quoth.operations.watched")

RETRY_S = 30.0
"""Seconds until a folder that could not be read is tried again."""
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A file that could not be read, and why."""

    source: str
    message: str


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """The state of a watched folder.

    ``added``, ``removed`` and ``failed`` are documents of the last change; ``failures`` are the
    first of these files. ``problem`` says why a folder is unavailable; nothing is removed then.
    """

    collection: str
    folder: str
    state: Literal["reading", "watching", "unavailable"] = "reading"
    added: int = 0
    removed: int = 0
    failed: int = 0
    failures: tuple[FileFailure, ...] = ()
    checked_at: str | None = None
    problem: str | None = None


Report = Callable[[WatchedFolder], None]


async def run_watched_folders(tenants: Tenants, *, report: Report) -> None:
    """Keep collections equal to the folders of the settings until cancelled.

    ``report`` receives every state. Raises MissingExtra.
    """
    settings = tenants.settings
    if settings.watched:
        require_extra("watch", module="watchfiles", what="Watching folders")
    engine = tenants.engine(settings.tenant)
    async with asyncio.TaskGroup() as group:
        for collection, folder in settings.watched.items():
            watched = WatchedFolder(collection, str(folder))
            group.create_task(_keep_equal(engine, watched, report=report))
        await asyncio.Event().wait()


async def _keep_equal(engine: Engine, watched: WatchedFolder, *, report: Report) -> None:
    from quoth.ingest.sources.watch import folder_changed

    folder, settings = Path(watched.folder), engine.parts.settings
    while True:
        try:
            check_folder(folder, settings, collection=watched.collection)
            async with aclosing(folder_changed([folder])) as changes:
                async for _ in changes:
                    report(replace(watched, state="reading"))
                    check_folder(folder, settings, collection=watched.collection)
                    report(await synchronize(engine, watched))
        except (QuothError, OSError, RuntimeError, ExceptionGroup) as error:
            # A watcher that breaks down, as at the limit of watched folders, must not end the rest.
            log.warning("watched_folder_failed", extra={"collection": watched.collection})
            report(replace(watched, state="unavailable", checked_at=now(), problem=str(error)))
        await asyncio.sleep(RETRY_S)


async def synchronize(engine: Engine, watched: WatchedFolder) -> WatchedFolder:
    """Add what is new or changed in a folder, remove what is gone; return the new state."""
    collection, folder = watched.collection, Path(watched.folder)
    documents: list[Document] = []
    async with aclosing(engine.add([folder], collection=collection)) as steps:
        async for step in steps:
            if isinstance(step, Document):
                documents.append(step)
    gone = await engine.remove_gone([folder], collection=collection)
    await engine.settle(collection=collection)
    failures = [
        FileFailure(each.source, each.error.message) for each in documents if each.error is not None
    ]
    return replace(
        watched,
        state="watching",
        added=sum(each.status == "ready" for each in documents),
        removed=len(gone),
        failed=len(failures),
        failures=tuple(failures[:MAX_LISTED]),
        checked_at=now(),
    )
