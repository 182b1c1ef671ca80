"""`quoth list`, `quoth collections`, `quoth remove`, `quoth reindex`: what a library holds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from quoth.core.errors import NotFound
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    catalogue_of,
    command,
    engine_of,
    stored_documents,
)

if TYPE_CHECKING:
    from quoth.store.document_list import CollectionSummary


@command
async def list_documents(session: CliSession) -> int:
    """List the documents of the collection."""
    from quoth.interfaces.cli.documents_view import document_list

    documents = await stored_documents(session)
    session.show(documents, document_list)
    return DONE


@command
async def collections(session: CliSession) -> int:
    """List the collections: how many documents and passages, and the embedding model."""
    from quoth.store.document_list import DocumentLists

    with catalogue_of(session) as catalogue:
        lists = DocumentLists(catalogue.database, tenant=catalogue.tenant)
        found = await asyncio.to_thread(lists.collections)
    session.show(found, show_collections)
    return DONE


def show_collections(session: CliSession, found: list[CollectionSummary]) -> None:
    """Show collections as a table."""
    if not found:
        session.say("Nothing here yet. Add something with: quoth add PATH")
        return
    table = Table("collection", "documents", "passages", "model", box=None)
    for each in found:
        table.add_row(Text(each.name), f"{each.documents:,}", f"{each.chunks:,}", each.embedder)
    session.out.print(table)


@command
async def remove(
    session: CliSession,
    documents: Annotated[
        list[str], typer.Argument(help="Ids, their beginnings, titles or file names.")
    ],
) -> int:
    """Remove documents completely: texts, vectors and terms."""
    from quoth.pipeline.uploads import find_document

    there = await stored_documents(session)
    meant, missing = {}, {}
    for each in documents:
        try:
            found = find_document(there, each, whole=True)
            meant[found.document_id] = found.title
        except NotFound as error:
            missing[each] = str(error)
    gone: list[str] = []
    if meant:
        async with engine_of(session) as engine:
            gone = await engine.remove(list(meant))
    if session.json:
        session.put({"removed": gone, "not_found": list(missing)})
    for each in gone:
        session.say(f"Removed {meant[each]} ({each}).")
    for line in missing.values():
        session.warn(line)
    return FAILED if missing else DONE


@command
async def set_metadata(
    session: CliSession,
    document: Annotated[str, typer.Argument(help="Id, its beginning, title or file name.")],
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE…",
            help="title, url, speaker, language or date; a key without a value takes it back.",
        ),
    ],
) -> int:
    """Change what is known of a document, and read it again.

    The values go to FILE.meta.json beside the file, so that adding it again keeps them.
    """
    from quoth.interfaces.cli.add_report import AddReport, show_report
    from quoth.interfaces.cli.documents_view import adding
    from quoth.pipeline.suggest import describe, read_pairs
    from quoth.pipeline.uploads import find_document

    given = read_pairs(values)
    there = await stored_documents(session)
    found = find_document(there, document, whole=True)
    path = await asyncio.to_thread(describe, found, given)
    async with engine_of(session) as engine:
        documents = await adding(session, engine.add([path]))
    show_report(session, AddReport(documents, frozenset({found.source})))
    session.show(documents, lambda _session, _documents: None)
    return FAILED if any(each.status == "failed" for each in documents) else DONE


@command
async def reindex(
    session: CliSession,
    embedder: Annotated[
        str | None, typer.Option(help="Embedder by name, or a folder with an ONNX model.")
    ] = None,
) -> int:
    """Rebuild the collection's index; searches continue meanwhile."""
    from quoth.interfaces.cli.documents_view import rebuilding

    if embedder is not None:
        settings = session.settings.model_copy(update={"embedder": embedder})
        session = CliSession(settings, session.json, session.quiet, session.out, session.err)
    async with engine_of(session) as engine:
        count = await rebuilding(session, engine.reindex())
    if session.json:
        session.put({"reindexed": count, "collection": session.settings.collection})
    session.say(f"Rebuilt the index of '{session.settings.collection}': {count} documents.")
    return DONE
