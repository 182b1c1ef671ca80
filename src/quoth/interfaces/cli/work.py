"""`quoth work`: ingest uploaded files in a process next to `quoth serve`."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import Annotated

import typer

from quoth.interfaces.cli.session import DONE, CliSession, command


@command
async def work(
    session: CliSession,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Files that are taken in at the same time.")
    ] = 1,
) -> int:
    """Take in uploaded files until Ctrl-C or SIGTERM; any number of these may run at once."""
    from quoth.bootstrap import open_tenants
    from quoth.interfaces.isolated_add import add_in_child
    from quoth.operations.logging import configure_logging
    from quoth.operations.worker import run_workers

    configure_logging(as_json=session.json or not sys.stderr.isatty())
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        # Windows has no such handlers; Ctrl-C ends the work at once there, and loses nothing.
        with suppress(NotImplementedError):
            loop.add_signal_handler(each, stop.set)
    async with open_tenants(session.settings, progress=session.say) as tenants:
        session.say("Waiting for uploads. Ctrl-C stops after the current file.")
        await run_workers(tenants, count=workers, stop=stop, isolate=add_in_child)
    session.say("Stopped.")
    return DONE
