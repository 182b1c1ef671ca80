"""`quoth serve`: the library for many, over HTTP."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from quoth.interfaces.cli.session import DONE, CliSession, command


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
) -> int:
    """Serve the library over HTTP until Ctrl-C or SIGTERM; --json writes the log as JSON."""
    from quoth.interfaces.http.server.run import serve as serve_until_told
    from quoth.operations.logging import configure_logging

    configure_logging(as_json=session.json or not sys.stderr.isatty())
    await serve_until_told(session.settings, host=host, port=port, workers=workers, say=session.say)
    # All is closed: a late signal must not turn a clean exit into a failure.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    return DONE
