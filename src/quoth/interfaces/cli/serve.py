"""Commands that run until they are stopped: `quoth serve`, `quoth worker` and `quoth mcp`."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quoth.core.extras import require_extra
from quoth.interfaces.cli.session import CliSession, Llm, at_stop_signals, command, with_model

if TYPE_CHECKING:
    from quoth.interfaces.mcp.server import ToolContext


@command
async def serve(
    session: CliSession,
    host: Annotated[
        str, typer.Option(help="Address to listen on; beyond this machine keys are needed.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 takes one that is free.")
    ] = 8765,
    workers: Annotated[
        int, typer.Option(min=0, max=64, help="Files that are taken in at the same time.")
    ] = 1,
    watch: Annotated[
        Path | None, typer.Option(help="A folder that the collection is kept equal to.")
    ] = None,
    certfile: Annotated[
        Path | None, typer.Option(help="A certificate in PEM: the service speaks HTTPS itself.")
    ] = None,
    keyfile: Annotated[
        Path | None, typer.Option(help="The certificate's key, where it is in another file.")
    ] = None,
    llm: Llm = None,
) -> None:
    """Serve the library over HTTP until Ctrl-C or SIGTERM; --json writes the log as JSON."""
    from quoth.interfaces.http.server.run import serve as serve_until_told
    from quoth.interfaces.http.server.start import read_certificate
    from quoth.operations.logging import configure_logging

    configure_logging(as_json=session.json or not sys.stderr.isatty())
    settings = with_model(session, llm).settings
    if watch is not None:
        watched = {**settings.watched, settings.collection: watch.absolute()}
        settings = settings.model_copy(update={"watched": watched})
    await serve_until_told(
        settings,
        host=host,
        port=port,
        workers=workers,
        certificate=read_certificate(certfile, keyfile),
        say=session.say,
    )
    # All is closed: a late signal must not turn a clean exit into a failure.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)


@command
async def worker(
    session: CliSession,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Files that are taken in at the same time.")
    ] = 1,
) -> None:
    """Take in uploaded files until Ctrl-C or SIGTERM; any number of these may run at once."""
    from quoth.bootstrap import open_tenants
    from quoth.interfaces.isolated_add import IsolatedAdder
    from quoth.operations.logging import configure_logging
    from quoth.operations.worker import run_workers

    configure_logging(as_json=session.json or not sys.stderr.isatty())
    stop = asyncio.Event()
    with at_stop_signals(stop.set):
        async with (
            open_tenants(session.settings, progress=session.say) as tenants,
            IsolatedAdder(session.settings) as isolated,
        ):
            session.say("Waiting for uploads. Ctrl-C stops after the current file.")
            await run_workers(tenants, count=workers, stop=stop, isolate=isolated.add)
        session.say("Stopped.")


@command
async def mcp(session: CliSession, llm: Llm = None) -> None:
    """Serve agents over the Model Context Protocol; stdin and stdout are the protocol's."""
    require_extra("mcp", module="mcp.server.mcpserver", what="Serving agents (quoth mcp)")
    await serve_agents(with_model(session, llm))


async def serve_agents(session: CliSession) -> None:
    """Serve until the other side hangs up; the library is opened at the first call."""
    from quoth.interfaces.mcp.server import ToolContext, make_server

    seats: list[ToolContext] = []
    alone = asyncio.Lock()
    async with AsyncExitStack() as closing:

        async def seat_of(_request: Any) -> ToolContext:
            async with alone:
                if not seats:
                    from quoth.bootstrap import open_engine

                    opening = open_engine(session.settings, progress=session.say)
                    engine = await closing.enter_async_context(opening)
                    seats.append(ToolContext(engine, session.settings.public_url))
            return seats[0]

        await make_server(seat_of).run_stdio_async()
