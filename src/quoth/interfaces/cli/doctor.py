"""Commands about the state of a library: `quoth doctor`, `repair`, `profiles` and `purge`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.core.command_line import command_line
from quoth.core.errors import BackendError, ConfigError, InputError, QuothError, StoreDown
from quoth.core.load_settings import settings_not_used
from quoth.interfaces.cli.keys import audit_action
from quoth.interfaces.cli.session import (
    CONFIGURATION,
    DONE,
    FAILED,
    CliSession,
    Llm,
    command,
    engine_of,
    error_message,
    quantity,
    with_model,
)
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.backends.states import PartState
    from quoth.pipeline.maintain import Check
    from quoth.tenants import Tenants

LINES = 20


@command
async def doctor(session: CliSession, llm: Llm = None) -> int:
    """Check every component, every stored row and file, and the indexes, and say what to do."""
    from quoth.bootstrap import is_new_library, open_tenants, part_states
    from quoth.interfaces.cli.render import health_report
    from quoth.pipeline.maintain import Check, Health

    session = with_model(session, llm)
    checks, lacking = _components(part_states(session.settings))
    checks += [
        Check("settings", True, f"not used: {each}")
        for each in settings_not_used(session.settings.home)
    ]
    if lacking is None:
        unreached = await _reached(session)
        lost = {each.name for each in unreached}
        checks = [*(each for each in checks if each.name not in lost), *unreached]
        if unreached and is_new_library(session.settings):
            lacking = ConfigError(f"The {unreached[0].name} {unreached[0].found}.")
    if lacking is not None:
        return _lacking(session, checks, lacking)
    checks += await asyncio.to_thread(_stored, session)
    try:
        async with open_tenants(session.settings, progress=session.say) as tenants:
            checks += await _opened(tenants)
    except (QuothError, OSError, ValueError, LookupError, RuntimeError) as error:
        if isinstance(error, ConfigError) and all(check.ok for check in checks):
            raise  # the settings are wrong, and nothing else is
        advice = None if _out_of_reach(error) else _mend(session)
        checks.append(Check("library", False, _line(error), advice))
    health = Health(all(check.ok for check in checks), tuple(checks))
    session.show(health, health_report)
    return DONE if health.ok else FAILED


def _components(states: Sequence[PartState]) -> tuple[list[Check], ConfigError | None]:
    """Say of each component whether it is ready, or what it needs; return the first error, too."""
    from quoth.pipeline.maintain import Check

    checks, errors = [], []
    for state in states:
        if state.error is not None:
            errors.append(state.error)
            checks.append(Check(state.part, False, str(state.error)))
            continue
        local = state.part != "generator" and all(sent.local for sent in state.sends)
        ready = f"{state.name} is ready{', on this machine' if local else ''}"
        checks.append(Check(state.part, True, ready))
    return checks, next(iter(errors), None)


def _lacking(session: CliSession, checks: Sequence[Check], error: ConfigError) -> int:
    """Show the state of every component where one lacks something; nothing is opened."""
    from quoth.interfaces.cli.render import health_report
    from quoth.pipeline.maintain import Health

    health = Health(False, tuple(checks))
    if session.json:
        session.put({**error_message(error), **to_json(health)})
        session.warn(str(error))
    else:
        health_report(session, health)
    return CONFIGURATION


async def _reached(session: CliSession) -> list[Check]:
    """Name the servers of components that accept no connection."""
    from quoth.bootstrap import servers, unreachable
    from quoth.pipeline.maintain import Check

    return [
        Check(
            each.part,
            False,
            f"{each.name} at {each.host}:{each.port} cannot be reached",
            "Look at whether it runs and at its address.",
        )
        for each in await unreachable(servers(session.settings))
    ]


@command
async def repair(session: CliSession) -> int:
    """Restore what can be made again from the files, and name what is lost."""
    from quoth.bootstrap import open_tenants
    from quoth.operations.repair import repair_library

    lost = 0
    async with open_tenants(session.settings, progress=session.say) as tenants:
        async for step in repair_library(tenants):
            lost += not step.mended
            (session.say if step.mended else session.warn)(step.what)
    session.say("Nothing is lost." if not lost else f"{lost} parts are lost.")
    return FAILED if lost else DONE


def _stored(session: CliSession) -> list[Check]:
    """Check what is stored without opening the library."""
    from quoth.operations.integrity import Damage, damaged_blobs, find_damage
    from quoth.pipeline.maintain import Check
    from quoth.store.database import open_database

    settings = session.settings
    try:
        with closing(open_database(settings.catalogue)) as database:
            damage = find_damage(database, home=settings.home, shared=settings.files is not None)
    except QuothError as error:
        if _out_of_reach(error):
            return [Check("stored data", False, _line(error))]
        damage = [Damage(_line(error)), *damaged_blobs(settings.home)]
    if not damage:
        return [Check("stored data", True, "every row and uploaded file is as it was written")]
    checks = [Check("stored data", False, each.what) for each in damage[:LINES]]
    more = f" (and {len(damage) - LINES} more)" if len(damage) > LINES else ""
    return [
        *checks,
        Check("damage", False, f"{len(damage)} parts are damaged{more}", _mend(session)),
    ]


def _mend(session: CliSession) -> str:
    return f"Mend what can be made again with: {command_line('repair', session.settings)}"


def _out_of_reach(error: BaseException) -> bool:
    """Say whether what is stored could not be read and is not known to be damaged."""
    unopened = isinstance(error, StoreDown) and not error.damaged
    return unopened or isinstance(error, BackendError)


async def _opened(tenants: Tenants) -> list[Check]:
    """Check the set-up with the collection of the settings in full, and all others in short."""
    from quoth.pipeline.maintain import Check
    from quoth.store.upload_queue import TenantRoundRobin

    own = tenants.settings
    checks = list((await tenants.engine(own.tenant).health()).checks)
    for tenant in await asyncio.to_thread(TenantRoundRobin(tenants.database).tenants):
        engine = tenants.engine(tenant)
        for found in await asyncio.to_thread(engine.parts.catalogue.collections):
            if (tenant, found.name) != (own.tenant, own.collection):
                health = await engine.health(collection=found.name)
                name = f"{tenant}/{found.name}"
                where = "" if tenant == own.tenant else f"With QUOTH_TENANT={tenant}: "
                checks += [
                    Check(
                        f"{check.name} of {name}",
                        False,
                        check.found,
                        f"{where}{check.advice}" if check.advice else None,
                    )
                    for check in health.checks
                    if not check.ok and check.name in ("identity", "interrupted", "index", "tokens")
                ]
    return checks


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


@command
def profiles(session: CliSession) -> None:
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
        return
    for name, parts in found.items():
        missing = [each for each in parts if each.error is not None]
        line = Text(f"{name:<11}")
        line.append("needs" if missing else "ready", style="yellow" if missing else "green")
        line.append(f" {', '.join(each.name for each in parts if each.name != 'none')}")
        session.out.print_line(line)
        for each in missing:
            session.out.print_message(f"{'':<11}{each.error}")


@command
async def purge(
    session: CliSession,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="Delete all documents, questions and shares of the tenant (QUOTH_TENANT), too.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that all is deleted.")] = False,
) -> int:
    """Leave no trace of removed documents: old versions, quotes in the history, free pages."""
    from quoth.operations.purge import delete_everything
    from quoth.operations.purge import purge as leave_nothing

    tenant = session.settings.tenant
    if everything and not yes:
        raise InputError(f"All that the tenant '{tenant}' stores would be deleted. Confirm: --yes")
    receipt = None
    async with engine_of(session) as engine:
        if everything:
            receipt, done = await delete_everything(engine.parts)
            audit_action(session, engine.parts.catalogue, "privacy.delete", receipt.digest)
        else:
            done = await leave_nothing(engine.parts)
    if session.json:
        deleted = {} if receipt is None else {"receipt": to_json(receipt)}
        session.put({"complete": done.complete, **to_json(done), **deleted})
    if receipt is not None:
        rows = quantity(sum(receipt.rows.values()), "row")
        session.say(f"Deleted {rows} of the tenant '{tenant}'; digest {receipt.digest}.")
    session.say(
        f"Wrote {quantity(done.indexes, 'index', 'indexes')}, redacted "
        f"{quantity(done.questions, 'question')}, deleted {quantity(done.files, 'file')}."
    )
    for each in done.left:
        session.warn(each)
    return DONE if done.complete else FAILED
