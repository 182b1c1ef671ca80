"""Commands about the state of a library: `quoth doctor`, `quoth profiles` and `quoth purge`."""

from __future__ import annotations

from rich.text import Text

from quoth.interfaces.cli.options import Llm, with_model
from quoth.interfaces.cli.session import DONE, FAILED, CliSession, command, engine_of
from quoth.text.json_codec import to_json


@command
async def doctor(session: CliSession, llm: Llm = None) -> int:
    """Check the set-up, the catalogue and the index, and say what to do."""
    from quoth.interfaces.cli.render import health_report

    session = with_model(session, llm)
    async with engine_of(session) as engine:
        health = await engine.health()
    session.show(health, health_report)
    return DONE if health.ok else FAILED


@command
def profiles(session: CliSession) -> int:
    """List the profiles, and what each needs that is not here."""
    from quoth.bootstrap import missing_parts
    from quoth.core.plan import PROFILES

    found = {name: missing_parts(session.settings, name) for name in PROFILES}
    if session.json:
        session.put([{"name": name, "missing": list(each)} for name, each in found.items()])
        return DONE
    for name, missing in found.items():
        line = Text(f"{name:<11}")
        line.append("needs" if missing else "ready", style="yellow" if missing else "green")
        line.append(f" {'; '.join(missing)}")
        session.out.print(line, soft_wrap=True)
    return DONE


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
