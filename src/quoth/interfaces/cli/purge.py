"""`quoth purge`: no byte is left of what was removed."""

from __future__ import annotations

import typer

from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    engine_of,
    run,
)
from quoth.text.json_codec import to_json


def purge(context: typer.Context) -> None:
    """Leave no trace of removed documents: old versions, quotes in the history, free pages."""
    session: CliSession = context.obj

    async def work() -> int:
        from quoth.operations.purge import purge as leave_nothing

        async with engine_of(session) as engine:
            done = await leave_nothing(engine.parts)
        if session.json:
            session.put({"complete": done.complete, **to_json(done)})
        session.say(
            f"Wrote {done.indexes} indexes, redacted {done.questions} questions, deleted "
            f"{done.files} files."
        )
        for each in done.left:
            session.err.print(each, highlight=False, markup=False, style="red", soft_wrap=True)
        return DONE if done.complete else FAILED

    run(session, work)
