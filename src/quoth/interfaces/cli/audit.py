"""`quoth audit`: list the audit log and verify its hash chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.interfaces.cli.session import DONE, FAILED, CliSession, catalogue_of, command
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.store.audit import AuditRow, ChainVerification
    from quoth.store.catalogue import Catalogue

app = typer.Typer(
    help="Show who did what in the service, and verify that the log was not changed.",
    no_args_is_help=True,
)


@app.command("list")
@command
async def list_rows(
    session: CliSession,
    number: Annotated[int, typer.Option("-n", min=1, help="How many rows.")] = 50,
) -> int:
    """List what was done, the newest first."""
    from quoth.store.audit import Audit

    with catalogue_of(session) as catalogue:
        audit = Audit.of(catalogue)
        rows = await asyncio.to_thread(audit.rows, limit=number)
    session.show(rows, _show)
    return DONE


@app.command()
@command
async def verify(
    session: CliSession,
    head: Annotated[
        str | None,
        typer.Option(help="NUMBER:HASH from an earlier check, stored in a safe place."),
    ] = None,
) -> int:
    """Check the whole chain; rows that were altered, removed, added or moved are named."""
    with catalogue_of(session) as catalogue:
        found = await asyncio.to_thread(_verified, session, catalogue, head)
    if session.json:
        session.put(to_json(found))
    if found.whole:
        session.say(f"The audit is whole: {found.rows} rows.")
        session.say(f"Its head is {found.head.number}:{found.head.hash}")
        return DONE
    session.warn(f"The audit is broken at number {found.broken_at}: {found.reason}.")
    return FAILED


def _verified(session: CliSession, catalogue: Catalogue, head: str | None) -> ChainVerification:
    """Check against the head that was named and the one in the home folder."""
    from quoth.store.audit import Audit, load_head, read_head, store_head

    home, tenant = session.settings.home, catalogue.tenant
    audit = Audit(catalogue.database, tenant=tenant)
    named = [] if head is None else [read_head(head)]
    for each in (*named, load_head(home, tenant)):
        found = audit.verify(kept=each)
        if not found.whole:
            return found
    store_head(home, tenant, head=found.head)
    return found


def _show(session: CliSession, rows: list[AuditRow]) -> None:
    if not rows:
        session.say("Nothing was done through the service yet.")
    for each in rows:
        when = each.at[:19].replace("T", " ")
        line = Text(f"{each.number:>6}  {when}  ", style="dim")
        line.append(f"{each.action:<20} ", style="not dim")
        line.append(f"{each.result:<12} ", style="not dim")
        line.append(f"{each.key_id or '-'}  {each.address or '-'}  {each.object_id}")
        session.out.print(line, soft_wrap=True)
