"""What `/readyz` says: the stores, the parts that fail, who waits, and what it takes."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from quoth.core.circuit_breaker import State as Circuit
from quoth.core.errors import QuothError
from quoth.engine import Engine
from quoth.interfaces.http.middleware.shutdown import State
from quoth.interfaces.http.server.state import ServerState
from quoth.operations.metrics import MetricDefinition
from quoth.pipeline.components import Components, model_names
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.store.upload_tasks import State as FileState
from quoth.tenants import Tenants

LOOK_S = 1.0
"""Seconds that a store has to answer."""
PROBE = "index"
"""A word to look for: that the index answers is what counts."""

Found = Literal["ok", "down"]
Known = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How files are read: in processes with limits, ``seconds`` and ``memory_mb`` for each file.

    ``offline`` says whether they have no network, which is unknown before the first file.
    """

    offline: Known
    seconds: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the service can answer, and what it would answer with.

    ``breakers`` names the parts that fail, with what would happen to a call now; ``models`` the
    embedder, reranker, generator and judge in use; ``files`` counts the caller's own uploads by
    their state; ``rss_mb`` is the resident memory of the process.
    """

    ready: bool
    state: State
    catalogue: Found
    index: Found
    breakers: Mapping[str, Circuit]
    models: Mapping[str, str]
    in_flight: int
    waiting: int
    files: Mapping[str, int]
    workers: int
    sandbox: Sandbox
    rss_mb: float = 0.0


async def look(engine: Engine, *, server: ServerState | None = None) -> Readiness:
    """Find out whether questions of the engine's tenant can be answered now."""
    parts = engine.parts
    catalogue, index, files = await asyncio.gather(_catalogue(parts), _index(parts), _files(parts))
    state: State = "serving" if server is None else server.requests.state
    return Readiness(
        ready=state == "serving" and catalogue == "ok" and index == "ok",
        state=state,
        catalogue=catalogue,
        index=index,
        breakers={each.name: each.state for each in parts.breakers},
        models=_models(parts),
        in_flight=0 if server is None else server.limit.in_flight,
        waiting=0 if server is None else server.limit.waiting,
        files=files,
        workers=0 if server is None else server.workers,
        sandbox=_sandbox(parts),
        rss_mb=round(resident_bytes() / 1e6, 1),
    )


def readings(tenants: Tenants, server: ServerState) -> Iterator[MetricDefinition]:
    """Give the figures that others keep, for the counters of the process."""
    limit = server.limit
    yield _one("quoth_in_flight", "Questions being answered.", limit.in_flight)
    yield _one("quoth_waiting", "Questions waiting for their turn.", limit.waiting)
    yield _one("quoth_admitted_total", "Questions that got their turn.", limit.admitted)
    yield _one("quoth_shed_total", "Questions told to come again.", limit.shed)
    yield _one("quoth_workers", "Workers that take in files.", server.workers)
    yield _one("quoth_open_tenants", "Tenants whose files are open.", len(tenants.opened))
    yield _one("quoth_resident_bytes", "Resident memory.", resident_bytes())
    yield from _queued(tenants)
    # Models, caches and breakers are shared by all tenants.
    for engine in list(tenants.opened.values())[:1]:
        parts = engine.parts
        yield _looked("quoth_answer_cache_total", "Look-ups of answers.", parts.cache)
        yield _one("quoth_answer_cache_size", "Answers kept.", len(parts.cache))
        yield _looked("quoth_vector_cache_total", "Look-ups of questions' vectors.", parts.embedder)
        open_now = [((each.name,), float(each.state != "closed")) for each in parts.breakers]
        about = "Whether a part is left alone because it kept failing."
        yield MetricDefinition("quoth_breaker_open", about, open_now, ("part",))
        models = [((what, name), 1.0) for what, name in _models(parts).items()]
        yield MetricDefinition("quoth_model", "The models in use.", models, ("part", "name"))


def _queued(tenants: Tenants) -> Iterator[MetricDefinition]:
    """Count the files of all tenants; nothing is said where they cannot be counted now."""
    with suppress(QuothError):
        found = TenantRoundRobin(tenants.database).depths()
        values = [((state,), float(found.get(state, 0))) for state in get_args(FileState)]
        yield MetricDefinition(
            "quoth_files", "Files that were sent, by their state.", values, ("state",)
        )


def _one(name: str, about: str, value: float) -> MetricDefinition:
    return MetricDefinition(name, about, [((), float(value))])


def _looked(name: str, about: str, cache: object) -> MetricDefinition:
    counts = [(("hit",), "hits"), (("miss",), "misses")]
    values = [(labels, float(getattr(cache, field, 0))) for labels, field in counts]
    return MetricDefinition(name, about, values, ("result",))


def _models(parts: Components) -> dict[str, str]:
    names = zip(("embedder", "reranker", "generator", "judge"), model_names(parts), strict=True)
    return {what: name for what, name in names if name}


def _sandbox(parts: Components) -> Sandbox:
    known: Mapping[bool | None, Known] = {True: "yes", False: "no", None: "unknown"}
    settings = parts.settings
    return Sandbox(
        offline=known[getattr(parts.readers, "offline", None)],
        seconds=settings.parser_seconds,
        memory_mb=settings.parser_memory_mb,
    )


def resident_bytes() -> int:
    """The resident memory of this process; where the platform keeps no count, the most it had."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


async def _catalogue(parts: Components) -> Found:
    try:
        async with asyncio.timeout(LOOK_S):
            await asyncio.to_thread(parts.catalogue.collections)
    except (QuothError, TimeoutError):
        return "down"
    return "ok"


async def _index(parts: Components) -> Found:
    name = parts.settings.collection
    try:
        async with asyncio.timeout(LOOK_S):
            found = await asyncio.to_thread(parts.catalogue.find_collection, name)
            if found is not None:
                await parts.open_index(found.table).match(PROBE, languages=("en",), limit=1)
    except (QuothError, TimeoutError):
        return "down"
    return "ok"


async def _files(parts: Components) -> dict[str, int]:
    queue = Queue.of(parts.catalogue)
    try:
        async with asyncio.timeout(LOOK_S):
            return {
                "queued": await asyncio.to_thread(queue.count, state="queued"),
                "running": await asyncio.to_thread(queue.count, state="running"),
                "failed": await asyncio.to_thread(queue.count, state="failed"),
            }
    except (QuothError, TimeoutError):
        return {}
