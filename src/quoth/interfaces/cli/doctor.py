"""`quoth doctor`: whether everything is as it should be."""

from __future__ import annotations

import typer

from quoth.interfaces.cli.options import Llm, with_model
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    engine_of,
    run,
)
from quoth.text.json_codec import to_json


def doctor(context: typer.Context, llm: Llm = None) -> None:
    """Check the set-up, the catalogue and the index, and say what to do."""
    from quoth.interfaces.cli.render import health_report

    session: CliSession = with_model(context.obj, llm)

    async def work() -> int:
        async with engine_of(session) as engine:
            health = await engine.health()
        if session.json:
            session.put(to_json(health))
        else:
            health_report(session, health)
        return DONE if health.ok else FAILED

    run(session, work)
