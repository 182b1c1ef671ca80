"""`quoth doctor`, `quoth profiles`: whether everything is as it should be, and what could be."""

from __future__ import annotations

from rich.text import Text

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


@command
def profiles(session: CliSession) -> int:
    """List the profiles with their components, and what each needs that is not here."""
    from quoth.bootstrap import profile_parts

    found = profile_parts(session.settings)
    if session.json:
        session.put(
            [
                {
                    "name": name,
                    "missing": [str(each.error) for each in parts if each.error is not None],
                    "parts": [
                        {
                            "part": each.part,
                            "name": each.name,
                            "ready": each.error is None,
                            "receives": [
                                f"{to.endpoint}: {', '.join(to.what)}" for to in each.sends
                            ],
                        }
                        for each in parts
                    ],
                }
                for name, parts in found.items()
            ]
        )
        return DONE
    for name, parts in found.items():
        missing = [each for each in parts if each.error is not None]
        line = Text(f"{name:<11}")
        line.append("needs" if missing else "ready", style="yellow" if missing else "green")
        line.append(f" {', '.join(each.name for each in parts)}")
        session.out.print(line, soft_wrap=True)
        for each in missing:
            session.out.print(
                f"{'':<11}{each.error}", markup=False, highlight=False, soft_wrap=True
            )
    return DONE
