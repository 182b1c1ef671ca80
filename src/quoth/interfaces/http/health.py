"""Readiness and metrics of the service: stores, circuit breakers, queries and memory."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sys
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal, Protocol, get_args, runtime_checkable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from quoth.core.circuit_breaker import State as Circuit
from quoth.core.errors import QuothError
from quoth.engine import Engine
from quoth.interfaces.http.middleware.shutdown import State
from quoth.interfaces.http.server.state import ServerState
from quoth.pipeline.components import Components, model_names
from quoth.store.operator_view import OperatorView
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.store.upload_tasks import State as FileState
from quoth.tenants import Tenants

CHECK_S = 3.0
"""Seconds that a store has to respond; the first time, an index is opened in them."""
PROBE_S = 1.0
PROBE = "index"
"""A word to search for; only that the index responds counts."""

FILE_STATES: tuple[FileState, ...] = ("queued", "running", "failed")
"""The uploads that are counted."""

HealthState = Literal["ok", "down"]
TriState = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The sandbox of the readers, with its limits for each file.

    ``offline`` says whether it has no network, which is unknown before the first file.
    """

    offline: TriState
    seconds: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the service can answer, and its components.

    ``breakers`` are the circuit breakers with their states; ``models`` the
    embedder, reranker, generator, judge and page model in use; ``tokens`` are the stored token
    vectors, without which passages are only ranked less well; ``files`` counts the caller's own
    uploads by their state; ``rss_mb`` is the resident memory of the process.
    """

    ready: bool
    state: State
    catalogue: HealthState
    index: HealthState
    tokens: HealthState
    breakers: Mapping[str, Circuit]
    models: Mapping[str, str]
    in_flight: int
    waiting: int
    files: Mapping[str, int]
    workers: int
    sandbox: Sandbox
    rss_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Liveness:
    """That the process takes requests."""

    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """What a probe without a key sees."""

    ready: bool
    state: State


class ReadinessProbe:
    """Readiness for probes without a key: checked at most once in `PROBE_S` seconds."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._checked_at = -PROBE_S
        self._stores_ok = False

    async def __call__(self, tenants: Tenants, server: ServerState | None) -> ProbeReply:
        """Check the stores of the settings' own tenant."""
        async with self._lock:
            if monotonic() - self._checked_at >= PROBE_S:
                engine = await asyncio.to_thread(tenants.engine, tenants.settings.tenant)
                found = await check_readiness(engine)
                self._stores_ok, self._checked_at = found.ready, monotonic()
        state: State = "serving" if server is None else server.requests.state
        return ProbeReply(self._stores_ok and state == "serving", state)


async def check_readiness(engine: Engine, *, server: ServerState | None = None) -> Readiness:
    """Check whether queries of the engine's tenant can be answered now."""
    parts = engine.parts
    catalogue, index, files = await asyncio.gather(
        _state_of(asyncio.to_thread(parts.catalogue.collections)),
        _state_of(_search_index(parts)),
        _files(parts),
    )
    if server is not None and any(damage.structural for damage in server.damage):
        catalogue = "down"
    state: State = "serving" if server is None else server.requests.state
    return Readiness(
        ready=state == "serving" and catalogue == "ok" and index == "ok",
        state=state,
        catalogue=catalogue,
        index=index,
        tokens="down" if server is not None and any(d.tokens for d in server.damage) else "ok",
        breakers={breaker.name: breaker.state for breaker in parts.breakers},
        models=_models(parts),
        in_flight=0 if server is None else server.limit.in_flight,
        waiting=0 if server is None else server.limit.waiting,
        files=files,
        workers=0 if server is None else server.workers,
        sandbox=_sandbox(parts),
        rss_mb=round(resident_bytes() / 1e6, 1),
    )


def server_metrics(tenants: Tenants, server: ServerState) -> Iterator[Metric]:
    """Yield the metrics of other components of the process."""
    limit = server.limit
    yield _gauge("quoth_in_flight", "Queries being answered.", limit.in_flight)
    yield _gauge("quoth_waiting", "Queries waiting in the queue.", limit.waiting)
    yield _gauge("quoth_admitted_total", "Queries admitted.", limit.admitted)
    yield _gauge("quoth_shed_total", "Queries refused by admission control.", limit.shed)
    yield _gauge("quoth_workers", "Workers that process uploads.", server.workers)
    yield _gauge("quoth_open_tenants", "Tenants whose stores are open.", len(tenants.opened))
    yield _gauge("quoth_damaged", "Damaged parts of the stored data.", len(server.damage))
    yield _gauge("quoth_free_bytes", "Free disk of the home folder.", _free_bytes(tenants))
    yield _gauge("quoth_resident_bytes", "Resident memory.", resident_bytes())
    yield from _uploads(tenants)
    # Models, caches and breakers are shared by all tenants.
    for engine in list(tenants.opened.values())[:1]:
        parts = engine.parts
        yield _look_ups("quoth_answer_cache_total", "Look-ups of cached answers.", parts.cache)
        yield _gauge("quoth_answer_cache_size", "Cached answers.", len(parts.cache))
        if isinstance(parts.embedder, CountsLookUps):
            about = "Look-ups of cached query vectors."
            yield _look_ups("quoth_vector_cache_total", about, parts.embedder)
        open_now = [
            ((breaker.name,), float(breaker.state != "closed")) for breaker in parts.breakers
        ]
        about = "Whether the circuit breaker of a component is open."
        yield _metric("quoth_breaker_open", about, open_now, ("part",))
        models = [((what, name), 1.0) for what, name in _models(parts).items()]
        yield _metric("quoth_model", "The models in use.", models, ("part", "name"))


def _uploads(tenants: Tenants) -> Iterator[Metric]:
    """Count the uploads of all tenants; yield nothing where the store is down."""
    with suppress(QuothError):
        found = TenantRoundRobin(tenants.database).depths()
        values = [((state,), float(found.get(state, 0))) for state in get_args(FileState)]
        age_s = OperatorView(tenants.database).queue_age_s()
        about = "Age of the oldest queued upload."
        yield _gauge("quoth_queue_age_seconds", about, age_s)
        yield _metric("quoth_files", "Uploads by their state.", values, ("state",))


def _free_bytes(tenants: Tenants) -> float:
    try:
        return shutil.disk_usage(tenants.settings.home).free
    except OSError:
        return 0.0


def _metric(
    name: str,
    about: str,
    values: Sequence[tuple[tuple[str, ...], float]],
    labels: tuple[str, ...] = (),
) -> Metric:
    """Return a counter where the name ends in ``_total``, else a gauge."""
    made = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
    family = made(name, about, labels=labels)
    for each, value in values:
        family.add_metric(each, value)
    return family


def _gauge(name: str, about: str, value: float) -> Metric:
    return _metric(name, about, [((), float(value))])


@runtime_checkable
class CountsLookUps(Protocol):
    """A cache that counts its look-ups."""

    hits: int
    misses: int


def _look_ups(name: str, about: str, cache: CountsLookUps) -> Metric:
    values = [(("hit",), float(cache.hits)), (("miss",), float(cache.misses))]
    return _metric(name, about, values, ("result",))


def _models(parts: Components) -> dict[str, str]:
    kinds = ("embedder", "reranker", "generator", "judge", "page_embedder")
    names = zip(kinds, model_names(parts), strict=True)
    return {what: name for what, name in names if name}


def _sandbox(parts: Components) -> Sandbox:
    known: Mapping[bool | None, TriState] = {True: "yes", False: "no", None: "unknown"}
    settings = parts.settings
    return Sandbox(
        offline=known[getattr(parts.readers(), "offline", None)],
        seconds=settings.parser_seconds,
        memory_mb=settings.parser_memory_mb,
    )


def resident_bytes() -> int:
    """Return the resident memory of this process, or its maximum where that is unknown."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024


async def _state_of(check: Awaitable[object]) -> HealthState:
    """Return whether a check of a store succeeds in time."""
    with suppress(QuothError, TimeoutError):
        async with asyncio.timeout(CHECK_S):
            await check
            return "ok"
    return "down"


async def _search_index(parts: Components) -> None:
    name = parts.settings.collection
    found = await asyncio.to_thread(parts.catalogue.find_collection, name)
    if found is None:
        return
    if await asyncio.to_thread(parts.catalogue.passages, found):
        hits = await parts.open_index(found.table).match(PROBE, languages=("en",), limit=3)
        await asyncio.to_thread(parts.catalogue.chunks, [key for key, _score in hits])


async def _files(parts: Components) -> dict[str, int]:
    queue = Queue.of(parts.catalogue)
    with suppress(QuothError, TimeoutError):
        async with asyncio.timeout(CHECK_S):
            return {
                state: await asyncio.to_thread(queue.count, state=state) for state in FILE_STATES
            }
    return {}
