"""`quoth audit`: list the audit log and verify its hash chain."""

from __future__ import annotations

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
    with catalogue_of(session) as catalogue:
        found = _verified_all(session, catalogue, head)
    if session.json:
        for tenant, chain in found.items():
            session.put({"tenant": tenant, **to_json(chain)})
    broken = {tenant: chain for tenant, chain in found.items() if not chain.whole}
    for tenant, chain in broken.items():
        at = f"number {chain.broken_at}: {chain.reason}"
        session.warn(f"The audit of '{tenant}' is broken at {at}.")
    if broken:
        return FAILED
    own = found[session.settings.tenant]
    rows = sum(chain.rows for chain in found.values())
    session.say(f"The audit is whole: {rows} rows of {len(found)} tenants.")
    session.say(f"Its head is {own.head.number}:{own.head.hash}")
    return DONE


def _verified_all(
    session: CliSession, catalogue: Catalogue, head: str | None
) -> dict[str, ChainVerification]:
    from quoth.store.audit import audited_tenants
    from quoth.store.catalogue import Catalogue

    names = {session.settings.tenant, *audited_tenants(catalogue.database)}
    found = {}
    for tenant in sorted(names):
        own = Catalogue(catalogue.database, tenant=tenant)
        named = head if tenant == session.settings.tenant else None
        found[tenant] = _verified(session, own, named)
    return found


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
        session.out.print_line(line)
