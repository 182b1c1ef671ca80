"""`quoth tenants`, `quoth uploads`: what all tenants store and send, for the operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from quoth.interfaces.cli.session import CliSession, catalogue_of, command

if TYPE_CHECKING:
    from quoth.store.operator_view import OperatorUpload, OperatorView
    from quoth.store.uploads import TenantUsage

app = typer.Typer(help="List, cancel and retry the uploads of all tenants.", no_args_is_help=True)
UploadId = Annotated[str, typer.Argument(help="The id of the upload.")]


@command
def tenants(session: CliSession) -> None:
    """List the tenants with what they store."""
    with _view(session) as view:
        session.show(view.tenants(), _show_tenants)


@app.command("list")
@command
def list_uploads(
    session: CliSession,
    state: Annotated[
        str | None, typer.Option(help="Only this state; else unfinished and failed ones.")
    ] = None,
) -> None:
    """List the uploads of all tenants, the oldest first."""
    with _view(session) as view:
        session.show(view.uploads(state=state), _show_uploads)


@app.command()
@command
def cancel(session: CliSession, upload_id: UploadId) -> None:
    """Take an upload out of the queue; a worker stops within seconds."""
    with _view(session) as view:
        view.cancel(upload_id)
    session.say("Cancelled.")


@app.command()
@command
def retry(session: CliSession, upload_id: UploadId) -> None:
    """Queue a failed upload again."""
    with _view(session) as view:
        view.retry(upload_id)
    session.say("Queued.")


@contextmanager
def _view(session: CliSession) -> Iterator[OperatorView]:
    from quoth.store.operator_view import OperatorView

    with catalogue_of(session) as catalogue:
        yield OperatorView(catalogue.database)


def _show_tenants(session: CliSession, found: list[TenantUsage]) -> None:
    for each in found:
        session.out.print_line(
            f"{each.tenant}  {each.documents:,} documents  {each.chunks:,} chunks  "
            f"{each.bytes / 1e6:,.1f} MB  {each.pending:,} pending"
        )


def _show_uploads(session: CliSession, found: list[OperatorUpload]) -> None:
    for each in found:
        session.out.print_line(
            f"{each.id}  {each.tenant}  {each.state}  {each.chunks:,}/{each.of_chunks:,} chunks  "
            f"{each.age_s:,.0f} s  {each.code or ''}  {each.name}"
        )
