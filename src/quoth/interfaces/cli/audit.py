"""`quoth audit`: list the audit log and verify its hash chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.interfaces.cli.session import DONE, FAILED, CliSession, catalogue_of, command
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from pathlib import Path

    from quoth.store.audit import Audit, AuditRow, ChainVerification

app = typer.Typer(
    help="Show who did what in the service, and verify that the log was not changed.",
    no_args_is_help=True,
)


@app.command("list")
@command
def list_rows(
    session: CliSession,
    number: Annotated[int, typer.Option("-n", min=1, help="How many rows.")] = 50,
) -> None:
    """List what was done, the newest first."""
    from quoth.store.audit import Audit

    with catalogue_of(session) as catalogue:
        session.show(Audit.of(catalogue).rows(limit=number), _show)


@app.command()
@command
def verify(
    session: CliSession,
    head: Annotated[
        str | None,
        typer.Option(help="NUMBER:HASH from an earlier check, stored in a safe place."),
    ] = None,
) -> int:
    """Check the chain of every tenant; rows that were altered, removed, added or moved are named.

    ``--head`` is of the tenant of the settings.
    """
    from quoth.store.audit import Audit, audited_tenants

    home, own_tenant = session.settings.home, session.settings.tenant
    found = {}
    with catalogue_of(session) as catalogue:
        for tenant in sorted({own_tenant, *audited_tenants(catalogue.database)}):
            audit = Audit(catalogue.database, tenant=tenant)
            named = head if tenant == own_tenant else None
            found[tenant] = _verified(audit, home=home, head=named)
    if session.json:
        for tenant, chain in found.items():
            session.put({"tenant": tenant, **to_json(chain)})
    broken = {tenant: chain for tenant, chain in found.items() if not chain.whole}
    for tenant, chain in broken.items():
        at = f"number {chain.broken_at}: {chain.reason}"
        session.warn(f"The audit of '{tenant}' is broken at {at}.")
    if broken:
        return FAILED
    own = found[own_tenant]
    rows = sum(chain.rows for chain in found.values())
    session.say(f"The audit is whole: {rows} rows of {len(found)} tenants.")
    session.say(f"Its head is {own.head.number}:{own.head.hash}")
    return DONE


def _verified(audit: Audit, *, home: Path, head: str | None) -> ChainVerification:
    """Check against the head that was named and the one in the home folder."""
    from quoth.store.audit import load_head, read_head, store_head

    tenant = audit.tenant
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
        session.out.print_line(line)
