"""The running service: one process, one loop, from the bound socket to the last answer.

bind → open → listen → warm → serve … signal → refuse → finish or interrupt → close
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from quoth.bootstrap import open_tenants
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.app import make_app
from quoth.interfaces.http.health import server_metrics
from quoth.interfaces.http.middleware.concurrency_limit import (
    Bounds,
    ConcurrencyLimit,
    default_in_flight,
)
from quoth.interfaces.http.middleware.shutdown import InFlightRequests
from quoth.interfaces.http.middleware.stack import service_middleware
from quoth.interfaces.http.middleware.trusted_host import ALL_INTERFACES, MAX_HEAD_BYTES
from quoth.interfaces.http.server.h11_protocol import LimitedH11Protocol, close_slow_connections
from quoth.interfaces.http.server.start import Certificate, check_binding, warm
from quoth.interfaces.http.server.state import ServerState
from quoth.interfaces.isolated_add import IsolatedAdder
from quoth.operations.integrity import run_integrity_checks
from quoth.operations.metrics import Metrics
from quoth.operations.purge import run_retention_daily
from quoth.operations.watched import run_watched_folders
from quoth.operations.worker import Isolate, run_workers
from quoth.store.database import MAX_WAITING
from quoth.tenants import Tenants

MAX_MESSAGE_BYTES = 1_000_000
"""Size of one message of a live session's WebSocket."""
BACKLOG = 2048
"""Connections that the system holds until they are accepted."""
KEEP_ALIVE_S = 5
"""Seconds that a connection is kept between two requests."""
CLOSE_S = 1
"""Seconds for connections to close when no request is in flight any more."""
WORKER_STOP_S = 5.0
"""Seconds for workers to finish the file in hand, or to give it back to the queue."""
FORCED_EXIT_S = 2.0
"""Seconds after a second signal, or after all that a first one waits for, after which the process
ends, whatever a thread still does: what is not written is done again."""
THREADS = 2 * MAX_WAITING
"""Threads for blocking calls: writers that wait for their turn leave threads to readers."""
SPARE_FILES = 256
"""Open files that are not connections, at most."""

Notify = Callable[[str], None]


def server_state(settings: Settings, *, starting: bool = False, workers: int = 0) -> ServerState:
    """Return the state of a service with these settings."""
    generates = settings.generator not in (None, "none")
    bounds = Bounds(
        in_flight=settings.questions_at_once or default_in_flight(generates=generates),
        waiting=settings.questions_waiting,
        wait_s=settings.wait_seconds,
    )
    requests = InFlightRequests("starting" if starting else "serving")
    return ServerState(ConcurrencyLimit(bounds), requests, Metrics(), workers=workers)


def create_server_app(
    tenants: Tenants, *, state: ServerState, settings: Settings, bound: str = "127.0.0.1"
) -> FastAPI:
    """Return the application with all middleware; ``bound`` is the address listened on."""
    state.metrics.add_collector(partial(server_metrics, tenants, state))
    middleware = service_middleware(tenants, state=state, settings=settings, bound=bound)
    return make_app(tenants, middleware=middleware, state={"server": state})


async def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    workers: int,
    certificate: Certificate | None,
    say: Notify,
) -> None:
    """Serve until a signal arrives, over TLS with a ``certificate``; ``workers`` process uploads.

    ``say`` receives messages for the operator, the address first. Raises ConfigError, MissingExtra
    and StorageFull.
    """
    raise_file_limit()
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="quoth")
    asyncio.get_running_loop().set_default_executor(threads)
    state = server_state(settings, starting=True, workers=workers)
    with listening(host, port) as bound, ExitStack() as stack:
        async with (
            open_tenants(settings, progress=say, observe=state.observe) as tenants,
            IsolatedAdder(settings) as isolated,
        ):
            check_binding(host, database=tenants.database, settings=settings)
            # Entered once everything is open, exited when everything is closed.
            ending = stack.enter_context(
                signals(state.requests, within_s=settings.stop_seconds, say=say)
            )
            await _serve(
                tenants,
                state,
                bound=bound,
                host=host,
                certificate=certificate,
                ending=ending,
                say=say,
                isolate=isolated.add,
            )
    say("Stopped.")


async def _serve(
    tenants: Tenants,
    state: ServerState,
    *,
    bound: socket.socket,
    host: str,
    certificate: Certificate | None,
    ending: asyncio.Event,
    say: Notify,
    isolate: Isolate,
) -> None:
    settings = tenants.settings
    app = create_server_app(tenants, state=state, settings=settings, bound=host)
    server = HttpServer(server_config(app, certificate=certificate))

    async def warm_up() -> None:
        await warm(tenants.engine(settings.tenant))
        gc.collect()
        gc.freeze()  # scanning permanent objects delayed requests by 0.25 s
        if state.requests.state == "starting":
            state.requests.state = "serving"
            say("The web app opens in a browser at this address, the API is below /v1.")
            say(f"quoth answers at {bound_address(bound, host, secure=certificate is not None)}")
        await ending.wait()

    listens = asyncio.create_task(server.serve(sockets=[bound]))
    works = asyncio.create_task(
        run_workers(tenants, count=state.workers, stop=ending, isolate=isolate)
    )
    closes = asyncio.create_task(close_slow_connections(server.server_state.connections))
    retains = asyncio.create_task(run_retention_daily(tenants.database))
    checks = asyncio.create_task(run_integrity_checks(tenants, report=state.note_damage))
    watches = asyncio.create_task(run_watched_folders(tenants, report=state.note_watched))
    tasks = [asyncio.create_task(warm_up()), listens, works, closes, retains, checks, watches]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ending.set()
        workers_stop = asyncio.wait({works}, timeout=WORKER_STOP_S)
        await asyncio.gather(state.requests.stop(within_s=settings.stop_seconds), workers_stop)
        server.should_exit = True
        await listens
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()  # raises the error that ended the service, if one did


class HttpServer(uvicorn.Server):
    """uvicorn's server without its signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def server_config(app: ASGIApp, *, certificate: Certificate | None = None) -> uvicorn.Config:
    """Return how the application is served."""
    return uvicorn.Config(
        app,
        http=LimitedH11Protocol,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=CLOSE_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ssl_certfile=None if certificate is None else certificate.certfile,
        ssl_keyfile=None if certificate is None else certificate.keyfile,
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Bind and listen; raises ConfigError where that fails."""
    try:
        family, _kind, _protocol, _name, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # Connections inherit it; asyncio sets it only on sockets that it creates itself. Without
        # it the body of a response waits until its head is acknowledged: 40 ms, every time.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except socket.gaierror as error:
        raise ConfigError(f"There is no address '{host}' to listen on: {error.strerror}.") from None
    except OSError as error:
        raise ConfigError(_listen_error(error, host=host, port=port)) from None
    with bound:
        yield bound


def _listen_error(error: OSError, *, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is in use by another program. End that one, or choose another "
            f"port with: quoth serve --port {port + 1 if port < 65535 else 8765}"
        )
    if error.errno == errno.EACCES:
        return f"Port {port} may be used by administrators alone. Choose one from 1024 on."
    return f"The service cannot listen on {host}, port {port}: {error.strerror}."


def bound_address(bound: socket.socket, host: str, *, secure: bool = False) -> str:
    """Return the address for a browser."""
    name = "localhost" if host in ALL_INTERFACES else f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{name}:{bound.getsockname()[1]}"


@contextmanager
def signals(requests: InFlightRequests, *, within_s: float, say: Notify) -> Iterator[asyncio.Event]:
    """Return the event that SIGINT or SIGTERM sets; a second one interrupts the requests.

    Requests have ``within_s`` seconds to finish.

    SIGHUP is ignored meanwhile. Only the main thread receives signals.
    """
    ending, loop = asyncio.Event(), asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return

    def on_signal() -> None:
        if not ending.is_set():
            say("Stopping. Requests in flight are finished first; a second signal ends them now.")
            ending.set()
            loop.call_later(max(within_s, WORKER_STOP_S) + FORCED_EXIT_S, os._exit, 0)
            return
        requests.interrupt()
        loop.call_later(FORCED_EXIT_S, os._exit, 1)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    hangup_handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield ending
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGHUP, hangup_handler)


def raise_file_limit() -> None:
    """Allow as many open files as the system does, and no more connections than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = LimitedH11Protocol.max_connections + SPARE_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    LimitedH11Protocol.max_connections = max(
        1, min(LimitedH11Protocol.max_connections, soft - SPARE_FILES)
    )
