"""`quoth keys`: who may ask the service, and what they may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.core.errors import InputError
from quoth.interfaces.cli.session import CliSession, catalogue_of, command
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.store.database import TenantConnection
    from quoth.store.keys import ApiKey, Keys

LONGEST_TENANT = 100
ONCE = "This is the only time that the key is shown; only a hash of it is stored."
HOW = "Send it as: Authorization: Bearer KEY"

app = typer.Typer(help="Make, list and revoke the keys of the service.", no_args_is_help=True)

Tenant = Annotated[
    str | None, typer.Option(help="Whose key it is; without it the owner of this library.")
]


@app.command()
@command
def add(
    session: CliSession,
    label: Annotated[str, typer.Option(help="Who or what will use the key.")],
    scopes: Annotated[
        str, typer.Option(help="Any of read, ingest, live and admin, set apart by commas.")
    ] = "read",
    tenant: Tenant = None,
    expires_days: Annotated[
        float | None, typer.Option(help="Days until it runs out; without it never.")
    ] = None,
) -> None:
    """Make a key and show it, once; a new tenant begins with its first key."""
    from quoth.store.audit import audited_tenants

    with keys_of(session, tenant) as keys:
        new = keys.tenant not in audited_tenants(keys.database)
        made = keys.add(label=label, scopes=scopes.split(","), expires_days=expires_days)
        audit_action(session, keys, "key.make", made.key.key_id)
    if new and tenant is not None:
        session.say(f"The tenant '{keys.tenant}' is new: nothing of it was there before.")
    if session.json:
        session.put(to_json(made))
    else:
        session.say(f"{ONCE} {HOW}")
        session.out.print_line(made.token)


@app.command("list")
@command
def list_keys(session: CliSession, tenant: Tenant = None) -> None:
    """List the keys of a tenant, the newest first, those that were revoked too."""
    with keys_of(session, tenant) as keys:
        found = keys.all()
    if session.json:
        session.put([to_json(each) for each in found])
        return
    for each in found:
        session.out.print_line(line(each))
    if not found:
        session.say(f"'{keys.tenant}' has no keys. Make one with: quoth keys add --label NAME")


@app.command()
@command
def revoke(
    session: CliSession,
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `quoth keys list` shows it.")],
    tenant: Tenant = None,
) -> None:
    """Let a key open nothing any more; a service that is running knows within a second."""
    with keys_of(session, tenant) as keys:
        keys.revoke(key_id)
        audit_action(session, keys, "key.revoke", key_id)
    if session.json:
        session.put({"key_id": key_id, "revoked": True})
    else:
        session.say(f"The key {key_id} opens nothing any more.")


def line(key: ApiKey) -> Text:
    """Show a key on one line: its id, state, scopes, label, and when it was used."""
    state = "revoked" if key.revoked_at else "live" if key.live else "expired"
    text = Text(f"{key.key_id}  ", style="dim")
    text.append(f"{state:<8}", style=f"not dim {'green' if key.live else 'red'}")
    text.append(f"{','.join(key.scopes):<22}  {key.label}", style="not dim")
    used = f"used {key.last_used[:16].replace('T', ' ')}" if key.last_used else "not used yet"
    ends = f", until {key.expires_at[:16].replace('T', ' ')}" if key.expires_at else ""
    text.append(f"  {used}{ends}")
    return text


def audit_action(session: CliSession, owner: TenantConnection, action: str, what: str) -> None:
    """Write into the tenant's audit what the operator did, as the service does for its callers."""
    from quoth.store.audit import Audit, AuditEntry, store_head

    head = Audit(owner.database, tenant=owner.tenant).add([AuditEntry("local", action, what)])
    store_head(session.settings.home, owner.tenant, head=head)


@contextmanager
def keys_of(session: CliSession, tenant: str | None) -> Iterator[Keys]:
    """Open the keys of a tenant; raises InputError for what cannot be a tenant's name."""
    from quoth.store.keys import Keys

    name = session.settings.tenant if tenant is None else tenant.strip()
    if not name or len(name) > LONGEST_TENANT or not name.isprintable():
        raise InputError(f"A tenant has a name of 1 to {LONGEST_TENANT} characters on one line.")
    with catalogue_of(session) as catalogue:
        yield Keys(catalogue.database, tenant=name)
