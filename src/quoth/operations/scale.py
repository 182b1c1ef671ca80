"""Reading and embedding on a Ray cluster; all else, commits above all, stays in this process.

A task is one file, or some chunks of a batch. A worker that dies costs the tasks that it was at:
Ray runs them again. The vectors do not depend on who computes them.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import numpy as np

from quoth.core.errors import DocumentCode, DocumentError, EmbeddingError, QuothError
from quoth.core.extras import require_extra
from quoth.core.protocols import Embedder, Matrix, TokenRows, TokenVectorStore
from quoth.core.settings import Settings
from quoth.core.types import Chunk, ParsedDocument
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.pipeline.commit import embed_here
from quoth.pipeline.components import FileParser

RETRIES = 3
"""How often a task is run again after its worker died."""
SILENT = {"log_to_driver": False, "logging_level": "ERROR"}


@dataclass(frozen=True, slots=True)
class IngestParts:
    """What a worker needs: the models, and the sandbox of the parsers."""

    embedder: Embedder
    tokens: TokenVectorStore | None
    readers: FileParser


OpenParts = Callable[[Settings], IngestParts]


@dataclass(frozen=True, slots=True)
class Job:
    """How a worker opens its components; jobs of the same ``key`` share them."""

    key: str
    open_parts: OpenParts = field(compare=False)
    settings: Settings = field(compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of a task, which does not pass between processes as an exception."""

    message: str
    code: str | None = None
    retryable: bool = False


@asynccontextmanager
async def open_workers(
    settings: Settings, open_parts: OpenParts, *, local: FileParser
) -> AsyncIterator[RayWorkers | None]:
    """Open the workers that the settings name, None for this process; raises MissingExtra.

    Nothing is started before there is something to do.
    """
    if not settings.on:
        yield None
        return
    require_extra("ray", module="ray", what="Adding on a cluster")
    address = settings.on.partition("://")[2]
    workers = RayWorkers(settings, address=address, open_parts=open_parts, local=local)
    try:
        yield workers
    finally:
        await workers.close()


@dataclass(slots=True)
class RayWorkers:
    """The workers of a cluster; without ``address`` one is started on this machine.

    Files are read by their paths, which a shared folder has in common on all machines; what a
    worker does not find there, ``local`` reads.
    """

    settings: Settings
    address: str
    open_parts: OpenParts
    local: FileParser
    _ray: Any = None
    _job: Job | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        """Parse one file; raises DocumentError."""
        try:
            found = await self._run(read_file, await asyncio.to_thread(path.absolute), given)
        except EmbeddingError:  # the cluster failed
            return await self.local.read(path, given)
        if isinstance(found, Failure) and found.code in (None, "not_found", "unsupported"):
            return await self.local.read(path, given)
        if isinstance(found, Failure):
            raise DocumentError(cast(DocumentCode, found.code), found.message)
        parsed: ParsedDocument = found
        return parsed

    async def embed(self, chunks: Sequence[Chunk]) -> tuple[Matrix, list[TokenRows]]:
        """Return vectors and token vectors of chunks, in their order; raises EmbeddingError."""
        await self._started()
        workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        size = -(-len(chunks) // workers)
        parts = [chunks[at : at + size] for at in range(0, len(chunks), size)]
        found = await asyncio.gather(*(self._run(embed_part, list(part)) for part in parts))
        for each in found:
            if isinstance(each, Failure):
                raise EmbeddingError(each.message, retryable=each.retryable)
        rows = np.concatenate([rows for rows, _ in found])
        return rows, [tokens for _, part in found for tokens in part]

    async def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        if self._ray is not None:
            await asyncio.to_thread(self._ray.shutdown)
            self._ray = None

    async def _run(self, task: Callable[..., Any], *given: Any) -> Any:
        await self._started()
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES)(task)
        try:
            return await asyncio.wrap_future(remote.remote(self._job, *given).future())
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            if isinstance(error, ConnectionError):
                self._ray = None  # the next task connects anew
            first = str(error).partition("\n")[0]
            raise EmbeddingError(
                f"The workers of the cluster failed: {first}", retryable=True
            ) from error

    async def _started(self) -> None:
        async with self._starting:
            if self._ray is None:
                try:
                    self._ray = await asyncio.to_thread(self._start)
                except ConnectionError as error:
                    raise EmbeddingError(
                        f"The Ray cluster cannot be reached: {error}", retryable=True
                    ) from error

    def _start(self) -> Any:
        # Its ports are open to the network: the token that Ray makes and asks for stays on.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        # Each worker computes on one thread: a cluster's processors are its workers.
        own = self.settings.model_copy(update={"threads": 1, "on": ""})
        self._job = Job(uuid4().hex, self.open_parts, own)
        with warnings.catch_warnings():
            # The processes that Ray forks have no use for LanceDB.
            warnings.filterwarnings("ignore", message="lancedb fork", category=RuntimeWarning)
            if self.address:
                ray.init(address=f"ray://{self.address}", **SILENT)
            else:
                ray.init(num_cpus=self.settings.threads, include_dashboard=False, **SILENT)
        return ray


def read_file(job: Job, path: Path, given: Metadata) -> ParsedDocument | Failure:
    """Parse one file in a worker."""
    runner, parts = _opened(job)
    try:
        return runner.run(parts.readers.read(path, given))
    except DocumentError as error:
        return Failure(str(error), code=error.code)


def embed_part(job: Job, chunks: Sequence[Chunk]) -> tuple[Matrix, list[TokenRows]] | Failure:
    """Embed some chunks in a worker."""
    runner, parts = _opened(job)
    try:
        return runner.run(embed_here(chunks, embedder=parts.embedder, tokens=parts.tokens))
    except QuothError as error:
        return Failure(str(error), retryable=getattr(error, "retryable", False))


@cache
def _opened(job: Job) -> tuple[asyncio.Runner, IngestParts]:
    """Return the components of a worker, opened once in its process, and their event loop."""
    return asyncio.Runner(), job.open_parts(job.settings)
