"""`quoth mcp`: the tools for agents over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from quoth.core.extras import require_extra
from quoth.interfaces.cli.session import DONE, CliSession, command

if TYPE_CHECKING:
    from quoth.interfaces.mcp.server import ToolContext


@command
async def mcp(session: CliSession) -> int:
    """Serve agents over the Model Context Protocol; stdin and stdout are the protocol's."""
    require_extra("mcp", module="mcp.server.mcpserver", what="Serving agents (quoth mcp)")
    await serve(session)
    return DONE


async def serve(session: CliSession) -> None:
    """Serve until the other side hangs up; the library is opened at the first call."""
    from quoth.interfaces.markdown import web_link
    from quoth.interfaces.mcp.server import ToolContext, make_server

    seats: list[ToolContext] = []
    alone = asyncio.Lock()
    async with AsyncExitStack() as closing:

        async def seat_of(_request: Any) -> ToolContext:
            async with alone:
                if not seats:
                    from quoth.bootstrap import open_engine

                    opening = open_engine(session.settings, progress=session.say)
                    seats.append(ToolContext(await closing.enter_async_context(opening), web_link))
            return seats[0]

        await make_server(seat_of).run_stdio_async()
