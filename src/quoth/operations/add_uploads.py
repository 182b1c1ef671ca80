"""Adds uploaded files to the collections of their tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from quoth.core.errors import ConfigError, DocumentError
from quoth.core.types import Document, Problem
from quoth.engine import Engine
from quoth.pipeline.commit import IngestProgress
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.pipeline.uploads import metadata_of, tenant_blobs
from quoth.store.blobs import stored_name
from quoth.store.upload_tasks import Task

GONE = "The file of this upload is no longer there. Upload it again."

Progress = Callable[[int, int], object]
"""Called with the chunks that are embedded, and the number of all."""


async def add_batch(
    engine: Engine, tasks: Sequence[Task], *, progress: Progress
) -> AsyncGenerator[tuple[Task, Document], None]:
    """Add the files of several tasks of a collection; return each task's document.

    One pass over the index for all of them saves most of the time. A task without a document,
    because another source had added it before, must be added separately.
    """
    blobs = tenant_blobs(engine.parts)
    named: dict[str, Task] = {}
    said: dict[Path, DocumentMetadata] = {}
    for task in tasks:
        path = (await asyncio.to_thread(blobs.fetch, task.sha256 or "", name=task.name)).resolve()
        if path.name not in named and path.is_file():
            named[path.name] = task
            said[path] = metadata_of(task.given, name=task.name)
    steps = engine.add(
        list(said), given=DocumentMetadata(files=said), collection=tasks[0].collection
    )
    # An error of the collection itself is reported for each task separately.
    with suppress(ConfigError):
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, IngestProgress):
                    progress(step.chunks, step.of_chunks)
                elif (found := named.pop(stored_name(step.source) or "", None)) is not None:
                    yield found, step


def failed_document(code: str, message: str) -> Document:
    """Return the document of a file that was not added."""
    return Document("", "", kind=None, status="failed", error=Problem(code, message))


def no_progress(_chunks: int, _of_chunks: int) -> None:
    """Ignore the progress."""


async def add_file(engine: Engine, task: Task, *, progress: Progress = no_progress) -> Document:
    """Add the file of a task to its collection; return the document, which may have failed."""
    blobs = tenant_blobs(engine.parts)
    path = await asyncio.to_thread(blobs.fetch, task.sha256 or "", name=task.name)
    if not path.is_file():
        raise DocumentError("not_found", GONE)
    given = metadata_of(task.given, name=task.name)
    found: Document | None = None
    steps = engine.add([path], given=given, collection=task.collection)
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, IngestProgress):
                progress(step.chunks, step.of_chunks)
            else:
                found = step
    assert found is not None, "adding one file tells the fate of one document"
    return found
