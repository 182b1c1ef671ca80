"""The running service: one process, one loop, from the bound socket to the last answer.

bind → open → listen → warm → serve … signal → refuse → finish or interrupt → close
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from quoth.bootstrap import open_tenants
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.app import make_app
from quoth.interfaces.http.health import readings
from quoth.interfaces.http.middleware.admission import AdmissionMiddleware
from quoth.interfaces.http.middleware.audit import AuditMiddleware
from quoth.interfaces.http.middleware.auth import AuthMiddleware
from quoth.interfaces.http.middleware.concurrency_limit import Admission, Bounds, default_in_flight
from quoth.interfaces.http.middleware.credentials import Credentials
from quoth.interfaces.http.middleware.front_queue import FrontQueue
from quoth.interfaces.http.middleware.shutdown import InFlightRequests, ShutdownMiddleware
from quoth.interfaces.http.middleware.telemetry import TelemetryMiddleware
from quoth.interfaces.http.middleware.trusted_host import EVERYWHERE
from quoth.interfaces.http.server.bind_policy import check_binding
from quoth.interfaces.http.server.h11_protocol import (
    HEAD_BYTES,
    LimitedH11Protocol,
    close_slow_connections,
)
from quoth.interfaces.http.server.state import ServerState
from quoth.interfaces.http.server.warmup import warm
from quoth.operations.metrics import Metrics
from quoth.operations.retention import run_retention_daily
from quoth.operations.worker import run_workers
from quoth.store.database import MOST_WAITING
from quoth.tenants import Tenants

BACKLOG = 2048
"""Connections that the system holds for us while we are busy accepting others."""
ACCEPTED_AT_ONCE = 32
"""Of those, how many are taken in before the loop turns to something else."""
IDLE_S = 5
"""Seconds that a connection is kept between two requests."""
CLOSE_S = 3
"""Seconds for connections to close when nothing is under way any more."""
LEASES_S = 22.0
"""Seconds for workers to finish the file in hand, or to give it back."""
AT_ONCE_S = 3.0
"""Seconds after a second signal after which the process ends, whatever it still does."""
THREADS = 2 * MOST_WAITING
"""Threads for what waits for the disk: whoever waits for a turn to write leaves room to read."""
M_ARENA_MAX = -8
"""glibc's name for the number of its pools of memory, by default eight a core."""
POOLS_CHOSEN = ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")
"""Where an operator may have chosen it."""
SPARE_FILES = 256
"""Open files that are not connections, at most."""

Say = Callable[[str], None]


def operation_of(settings: Settings, *, starting: bool = False, workers: int = 0) -> ServerState:
    """Make what watches over a service with these settings."""
    writes = settings.generator not in (None, "none")
    bounds = Bounds(
        in_flight=settings.questions_at_once or default_in_flight(writes=writes),
        waiting=settings.questions_waiting,
        wait_s=settings.wait_seconds,
    )
    presence = InFlightRequests("starting" if starting else "serving")
    return ServerState(Admission(bounds), presence, Metrics(), workers=workers)


def create_server_app(
    tenants: Tenants,
    *,
    operation: ServerState,
    settings: Settings,
    bound: str = "127.0.0.1",
    credentials: Credentials | None = None,
) -> FastAPI:
    """Make the application with all its walls; ``bound`` is the address that is listened on."""
    operation.metrics.add_collector(partial(readings, tenants, operation))
    return make_app(
        tenants,
        around=(
            partial(TelemetryMiddleware, metrics=operation.metrics),
            partial(ShutdownMiddleware, presence=operation.presence),
            partial(AuditMiddleware, tenants=tenants),
            partial(
                AuthMiddleware,
                tenants=tenants,
                settings=settings,
                bound=bound,
                credentials=credentials,
            ),
            AdmissionMiddleware,
        ),
        state={"operation": operation},
    )


async def serve(
    settings: Settings, *, host: str, port: int, workers: int = 1, say: Say = lambda _line: None
) -> None:
    """Serve until a signal ends it; ``workers`` take in files that were uploaded.

    ``say`` gets what people want to know, the address first. Raises ConfigError, MissingExtra
    and StorageFull.
    """
    raise_file_limit()
    limit_malloc_arenas()
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="quoth")
    asyncio.get_running_loop().set_default_executor(threads)
    operation = operation_of(settings, starting=True, workers=workers)
    with listening(host, port) as bound, ExitStack() as last:
        async with open_tenants(settings, progress=say, observe=operation.observe) as tenants:
            check_binding(host, database=tenants.database, settings=settings)
            # Entered once all is open, and left when all is closed.
            ending = last.enter_context(signals(operation.presence, say=say))
            await _serve(tenants, operation, bound=bound, host=host, ending=ending, say=say)
    say("Stopped.")


async def _serve(
    tenants: Tenants,
    operation: ServerState,
    *,
    bound: socket.socket,
    host: str,
    ending: asyncio.Event,
    say: Say,
) -> None:
    settings = tenants.settings
    known = Credentials(tenants.database)
    app = create_server_app(
        tenants, operation=operation, settings=settings, bound=host, credentials=known
    )
    porch = FrontQueue(
        behind_a_proxy(app),
        admission=operation.admission,
        credentials=known,
        most_of_a_key=settings.key_questions_at_once,
    )
    server = Listener(_config(porch))

    async def be_ready() -> None:
        await warm(tenants.engine(settings.tenant))
        freeze_gc()
        if operation.presence.state == "starting":
            operation.presence.state = "serving"
            say(f"quoth answers at {bound_address(bound, host)}")
        await ending.wait()

    listens = asyncio.create_task(server.serve(sockets=[bound]))
    watches = asyncio.create_task(close_slow_connections(server.server_state.connections))
    works = asyncio.create_task(run_workers(tenants, count=operation.workers, stop=ending))
    tidies = asyncio.create_task(run_retention_daily(tenants.database))
    tasks = [asyncio.create_task(be_ready()), listens, watches, tidies, works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ending.set()
        operation.admission.close()
        await operation.presence.stop(within_s=settings.stop_seconds)
        await asyncio.wait({works}, timeout=LEASES_S)
        server.should_exit = True
        await listens
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)
    for each in tasks:
        if not each.cancelled():
            each.result()  # what broke down, and ended the service by that, is told


def behind_a_proxy(app: ASGIApp) -> ASGIApp:
    """Let a proxy on this machine say who really asks: else everybody behind it would be local."""
    trusted = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=["127.0.0.1", "::1"])
    return cast("ASGIApp", trusted)


class Listener(uvicorn.Server):
    """uvicorn's server, which leaves the signals to us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio accepts as many at once as it believes the system to hold."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LimitedH11Protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=CLOSE_S,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Bind and listen; raises ConfigError with the way out where that cannot be."""
    try:
        family, _kind, _protocol, _name, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # Connections inherit it. asyncio sees to it only for sockets that it makes itself; without
        # it the body of an answer waits until its head was acknowledged: 40 ms, every time.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except socket.gaierror as error:
        raise ConfigError(f"There is no address '{host}' to listen on: {error.strerror}.") from None
    except OSError as error:
        raise ConfigError(_why_not(error, host=host, port=port)) from None
    with bound:
        yield bound


def _why_not(error: OSError, *, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is in use by another program. End that one, or choose another "
            f"port with: quoth serve --port {port + 1 if port < 65535 else 8765}"
        )
    if error.errno == errno.EACCES:
        return f"Port {port} may be used by administrators alone. Choose one from 1024 on."
    return f"The service cannot listen on {host}, port {port}: {error.strerror}."


def bound_address(bound: socket.socket, host: str) -> str:
    """Write the address that a browser takes."""
    name = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{bound.getsockname()[1]}"


@contextmanager
def signals(presence: InFlightRequests, *, say: Say) -> Iterator[asyncio.Event]:
    """Give the event that a signal to end sets; a second one ends what is under way at once.

    No hanging up of a terminal is heard meanwhile. Only the main thread hears signals.
    """
    ending, loop = asyncio.Event(), asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return

    def signalled() -> None:
        if not ending.is_set():
            say("Stopping. What is under way is finished first; once more ends it at once.")
            ending.set()
            return
        presence.interrupt()
        loop.call_later(AT_ONCE_S, os._exit, 1)

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, signalled)
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield ending
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
        signal.signal(signal.SIGHUP, hung_up)


def raise_file_limit() -> None:
    """Allow as many open files as the system does, and no more connections than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = LimitedH11Protocol.most + SPARE_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    LimitedH11Protocol.most = max(1, min(LimitedH11Protocol.most, soft - SPARE_FILES))


def freeze_gc() -> None:
    """Spare the garbage collector what is there by now, which stays as long as the process.

    Looking through it again and again held everything up for a quarter of a second at a time.
    """
    gc.collect()
    gc.freeze()


def limit_malloc_arenas() -> None:
    """Let threads share pools of memory, one a core and at least two, where the system has pools.

    With more of them than can compute at once each keeps what the largest question took there.
    """
    if not any(name in os.environ for name in POOLS_CHOSEN):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, max(2, os.cpu_count() or 1))
