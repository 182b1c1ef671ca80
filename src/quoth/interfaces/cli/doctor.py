"""`quoth doctor`: whether everything is as it should be."""

from __future__ import annotations

from quoth.interfaces.cli.options import Llm, with_model
from quoth.interfaces.cli.session import DONE, FAILED, CliSession, command, engine_of


@command
async def doctor(session: CliSession, llm: Llm = None) -> int:
    """Check the set-up, the catalogue and the index, and say what to do."""
    from quoth.interfaces.cli.render import health_report

    session = with_model(session, llm)
    async with engine_of(session) as engine:
        health = await engine.health()
    session.show(health, health_report)
    return DONE if health.ok else FAILED
