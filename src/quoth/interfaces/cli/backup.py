"""`quoth backup`: a copy of the library while it is in use, and a library out of a copy."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from quoth.interfaces.cli.session import CliSession, command, quantity
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.operations.backup import Backup

MAKING = "make"


class DefaultToMakeGroup(TyperGroup):
    """The commands about backups; where none is named, one is made."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; ``quoth backup TO`` means ``quoth backup make TO``."""
        named = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else [MAKING, *args])


app = typer.Typer(
    cls=DefaultToMakeGroup,
    help="Back the library up while it is in use: quoth backup TO. Check and restore backups.",
    no_args_is_help=True,
)

Pack = Annotated[Path, typer.Argument(help="A backup: a .tar.zst file or a folder.")]


@app.command(MAKING)
@command
async def make(
    session: CliSession,
    to: Annotated[Path, typer.Argument(help="A new .tar.zst file, or a new folder.")],
    index: Annotated[
        bool, typer.Option("--index", help="Include the indexes; otherwise they are rebuilt.")
    ] = False,
) -> None:
    """Back up the whole library, all tenants, while it is in use."""
    from quoth.operations.backup import make_backup
    from quoth.store.database import open_database

    settings = session.settings
    with closing(open_database(settings.catalogue)) as database:
        made = await asyncio.to_thread(
            make_backup, database, to.expanduser(), home=settings.home, index=index
        )
    _show(session, made, "Backed up to")


@app.command()
@command
async def verify(session: CliSession, pack: Pack) -> None:
    """Check every byte of a backup against its checksums, and its catalogue as a database."""
    from quoth.operations.backup import verify_backup

    found = await asyncio.to_thread(verify_backup, pack.expanduser())
    _show(session, found, "All is as it was written in")


@app.command()
@command
async def restore(
    session: CliSession,
    pack: Pack,
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Build what is lacking in the indexes, now.")
    ] = True,
) -> None:
    """Make a library out of a backup in a new folder: --home NEW. Nothing is written over."""
    from quoth.operations.backup import restore_backup

    settings = session.settings
    made = await asyncio.to_thread(
        restore_backup, pack.expanduser(), settings.home, address=settings.catalogue
    )
    if index:
        await _build(session, made)
    _show(session, made, "Restored to")


async def _build(session: CliSession, made: Backup) -> None:
    """Bring every tenant's indexes into step with the catalogue."""
    from quoth.bootstrap import open_tenants

    async with open_tenants(session.settings, progress=session.say) as tenants:
        for tenant, name in made.collections:
            engine = tenants.engine(tenant)
            owner = "" if tenant == session.settings.tenant else f" of the tenant '{tenant}'"
            session.say(f"Building the index of '{name}'{owner} …")
            async for _step in engine.add([], collection=name):
                pass
            await engine.settle(session.say, collection=name)


def _show(session: CliSession, backup: Backup, verb: str) -> None:
    if session.json:
        session.put(to_json(backup))
    else:
        session.out.print_line(
            f"{verb} {backup.path}: {quantity(backup.documents, 'document')} with "
            f"{quantity(backup.chunks, 'passage')} in "
            f"{quantity(len(backup.collections), 'collection')}, {quantity(backup.files, 'file')}, "
            f"{backup.bytes / 1e6:,.1f} MB{', with indexes' if backup.index else ''}. "
            f"As of {backup.made_at[:19].replace('T', ' ')} UTC."
        )
