"""`quoth list`, `quoth collections`, `quoth remove`, `quoth reindex`: what a library holds."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from quoth.core.command_line import command_line
from quoth.core.errors import BackendError, IndexMismatch, InputError, NotFound
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    catalogue_of,
    command,
    engine_of,
    nothing_here,
    stored_documents,
)
from quoth.interfaces.cli.tables import show_table
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.engine import Engine
    from quoth.evaluation.compare_embedders import EmbedderComparison
    from quoth.store.document_list import CollectionSummary


@command
def list_documents(session: CliSession) -> None:
    """List the documents of the collection."""
    from quoth.interfaces.cli.documents_view import document_list

    session.show(stored_documents(session), document_list)


@command
async def collections(
    session: CliSession,
    remove: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Remove this collection with its documents and questions."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that it is removed.")] = False,
) -> None:
    """List the collections: how many documents and passages, and the embedding model."""
    from quoth.store.document_list import DocumentLists

    if remove is not None:
        if not yes:
            raise InputError(f"All documents of '{remove}' would be removed. Confirm with --yes.")
        async with engine_of(session) as engine:
            await engine.remove_collection(remove)
        session.show({"removed": remove}, lambda _session, _removed: None)
        session.say(f"Removed the collection {remove}.")
        return
    with catalogue_of(session) as catalogue:
        lists = DocumentLists(catalogue.database, tenant=catalogue.tenant)
        session.show(lists.collections(), show_collections)


def show_collections(session: CliSession, found: list[CollectionSummary]) -> None:
    """Show collections as a table."""
    if not found:
        session.say(nothing_here(session))
        return
    rows = [(each.name, f"{each.documents:,}", f"{each.chunks:,}", each.embedder) for each in found]
    show_table(session, ("collection", "documents", "passages", "model"), rows)


@command
async def remove(
    session: CliSession,
    documents: Annotated[
        list[str], typer.Argument(help="Ids, their beginnings, titles or file names.")
    ],
) -> int:
    """Remove documents completely: texts, vectors and terms."""
    from quoth.pipeline.uploads import find_document

    there = stored_documents(session)
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
            help="title, url, speaker, language, date, or meta.KEY for metadata of your own; a "
            "key without a value takes it back.",
        ),
    ],
) -> int:
    """Change what is known of a document, and read it again.

    The values go to FILE.meta.json beside the file, so that adding it again keeps them. Metadata of
    your own (meta.KEY=VALUE) are changed in the library, and nothing is read again.
    """
    from quoth.core.custom_metadata import PREFIX, changed_metadata
    from quoth.interfaces.cli.add_report import AddReport, show_report
    from quoth.interfaces.cli.documents_view import adding
    from quoth.pipeline.given_metadata import describe, read_pairs
    from quoth.pipeline.uploads import find_document

    custom = [value for value in values if value.startswith(PREFIX)]
    given = read_pairs([value for value in values if value not in custom])
    there = stored_documents(session)
    found = find_document(there, document, whole=True)
    metadata = changed_metadata(found.metadata, custom)
    path = await asyncio.to_thread(describe, found, given) if given else None
    async with engine_of(session) as engine:
        documents = await adding(session, engine.add([path])) if path else [found]
        if custom:
            new = await engine.set_metadata(documents[0].document_id, metadata)
            documents = [replace(documents[0], metadata=new.metadata)]
    known = {found.source: found.document_id}
    show_report(session, AddReport(documents, known, named=frozenset(known)))
    session.show(documents, lambda _session, _documents: None)
    return FAILED if any(each.status == "failed" for each in documents) else DONE


@command
async def reindex(
    session: CliSession,
    embedder: Annotated[
        str | None, typer.Option(help="Embedder by name, or a folder with an ONNX model.")
    ] = None,
    drop_old: Annotated[
        bool,
        typer.Option("--drop-old", help="Only remove the index of the embedder before."),
    ] = False,
) -> None:
    """Rebuild the collection's index; searches continue meanwhile.

    With another embedder the index before is kept, and both are compared.
    """
    from quoth.interfaces.cli.documents_view import rebuilding, say_charged

    if embedder is not None:
        settings = session.settings.model_copy(update={"embedder": embedder})
        session = replace(session, settings=settings)
    name = session.settings.collection
    async with engine_of(session) as engine:
        if drop_old:
            _dropped(session, await engine.drop_old())
            return
        chosen = session.settings.embedder is not None
        before = await asyncio.to_thread(engine.parts.catalogue.collection, name)
        count = await rebuilding(session, engine.reindex(change_embedder=chosen))
        now = await asyncio.to_thread(engine.parts.catalogue.collection, name)
        compared = None if now.identity == before.identity else await _compared(session, engine)
    if session.json:
        more = {} if compared is None else {"comparison": to_json(compared)}
        session.put({"reindexed": count, "collection": name, **more})
    session.say(f"Rebuilt the index of '{name}': {count} documents.")
    say_charged(session, engine)
    if compared is not None and not session.json:
        show_comparison(session, compared)
    if now.identity != before.identity:
        own = before.embedder or before.identity.embedder
        back = command_line(f"reindex --embedder {shlex.quote(own)}", session.settings)
        session.say(
            f"The index of {before.identity.embedder} is kept. Go back to it with: {back}, or "
            f"remove it with: {command_line('reindex --drop-old', session.settings)}"
        )


def _dropped(session: CliSession, dropped: bool) -> None:
    name = session.settings.collection
    if session.json:
        session.put({"dropped": dropped, "collection": name})
    kept = f"The index that was kept of '{name}' is removed."
    session.say(kept if dropped else f"No index of another embedder is kept of '{name}'.")


async def _compared(session: CliSession, engine: Engine) -> EmbedderComparison | None:
    """Ask both embedders; where one cannot be asked, say why."""
    from quoth.evaluation.compare_embedders import compare_embedders
    from quoth.interfaces.cli.documents_view import reporting

    try:
        with reporting(session, "Comparing") as progress:
            return await compare_embedders(engine, progress=progress)
    except (IndexMismatch, BackendError) as error:
        session.say(f"The two indexes could not be compared. {error}")
        return None


def show_comparison(session: CliSession, compared: EmbedderComparison) -> None:
    """Show both embedders on the questions that were made of the collection."""
    title = (
        f"{compared.questions} questions made of the collection: {compared.overlap:.0%} of the "
        f"first ten hits are the same, p {compared.p:.2g}"
    )
    head = ("embedder", "vectors alone (MRR)", "with keywords (MRR)", "among the first ten")
    rows = [
        (each.embedder, f"{each.semantic:.3f}", f"{each.both:.3f}", f"{each.found:.0%}")
        for each in (compared.before, compared.now)
    ]
    show_table(session, head, rows, title=title)
