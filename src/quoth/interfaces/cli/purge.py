"""`quoth purge`: no byte is left of what was removed."""

from __future__ import annotations

from quoth.interfaces.cli.session import DONE, FAILED, CliSession, command, engine_of
from quoth.text.json_codec import to_json


@command
async def purge(session: CliSession) -> int:
    """Leave no trace of removed documents: old versions, quotes in the history, free pages."""
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
        session.warn(each)
    return DONE if done.complete else FAILED
