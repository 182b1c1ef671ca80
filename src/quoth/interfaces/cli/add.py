"""`quoth add` and `quoth sync`: files, folders and pages of the web into the collection."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoth.core.errors import InputError
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    catalogue_of,
    engine_of,
    run,
    stored_documents,
)
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.core.types import Document
    from quoth.engine import Engine
    from quoth.pipeline.add import DocumentMetadata

KEPT = "Stopped. Finished documents are stored; the same command continues from there."


def add(
    context: typer.Context,
    sources: Annotated[list[str], typer.Argument(help="Files, folders, and pages of the web.")],
    title: Annotated[str | None, typer.Option(help="Title, for a single file.")] = None,
    url: Annotated[str | None, typer.Option(help="Where the original is, such as a video.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who speaks.")] = None,
    language: Annotated[str | None, typer.Option(help="Language, such as en or fr.")] = None,
) -> None:
    """Add files, folders and pages to the collection; existing documents are skipped."""
    from quoth.pipeline.add import DocumentMetadata

    session = of_owner(context.obj)
    given = DocumentMetadata(title=title, url=url, speaker=speaker, language=language)

    async def work() -> int:
        async with engine_of(session) as engine:
            documents = await add_all(session, engine, sources, given=given)
        if session.json:
            session.put([to_json(each) for each in documents])
        failed = any(each.status == "failed" for each in documents)
        return FAILED if failed or not documents else DONE

    run(session, work, stopped=KEPT)


def sync(
    context: typer.Context,
    sources: Annotated[
        list[str], typer.Argument(metavar="FOLDER|URL…", help="Folders, and pages of the web.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done to folders.")
    ] = False,
) -> None:
    """Make the collection equal to folders: add what is new, update, remove what is gone.

    Only documents that came from these folders are removed. A page of the web is fetched again.
    """
    from quoth.pipeline.add_urls import is_address
    from quoth.pipeline.sync import check_folder

    session = of_owner(context.obj)
    folders = [Path(each) for each in sources if not is_address(each)]

    async def work() -> int:
        for folder in folders:
            check_folder(folder)
        if dry_run:
            return await foresee(session, folders)
        async with engine_of(session) as engine:
            documents = await add_all(session, engine, sources)
            gone = await remove_gone(session, engine, folders, added=documents)
        if session.json:
            added = [to_json(each) for each in documents]
            session.put({"documents": added, "removed": [each.document_id for each in gone]})
        return FAILED if any(each.status == "failed" for each in documents) else DONE

    run(session, work, stopped=KEPT)


def of_owner(session: CliSession) -> CliSession:
    """Return the session in which addresses are fetched: the owner of the library asks for them.

    An ``allow_urls`` that is set to false still forbids it.
    """
    if "allow_urls" in session.settings.model_fields_set:
        return session
    return replace(session, settings=session.settings.model_copy(update={"allow_urls": True}))


async def add_all(
    session: CliSession,
    engine: Engine,
    sources: Sequence[str],
    *,
    given: DocumentMetadata | None = None,
) -> list[Document]:
    """Add files, folders and pages, show the progress, and say which files were left out."""
    from quoth.ingest.sources.files import left_out
    from quoth.interfaces.cli.documents_view import adding, show_left_out
    from quoth.pipeline.add import DocumentMetadata
    from quoth.pipeline.add_urls import fetch_urls, is_address

    given = given or DocumentMetadata()
    paths = [Path(each) for each in sources if not is_address(each)]
    pages = [each for each in sources if is_address(each)]
    fetched = await fetch_urls(engine.parts, pages, given=given)
    steps = engine.add([*paths, *fetched], given=replace(given, files=fetched))
    async with aclosing(steps):
        documents = await adding(session, steps)
    show_left_out(session, await asyncio.to_thread(left_out, paths))
    await engine.settle(session.say)
    return documents


async def remove_gone(
    session: CliSession, engine: Engine, folders: Sequence[Path], *, added: Sequence[Document]
) -> list[Document]:
    """Remove the documents of the folders whose file is gone, and older versions of added pages."""
    from quoth.pipeline.sync import gone_documents
    from quoth.store.blobs import stored_name

    there = await engine.documents()
    new = {each.document_id for each in added}
    pages = {each.url for each in added if stored_name(each.source) and each.status != "failed"}
    gone = [
        each
        for each in there
        if each.document_id not in new and stored_name(each.source) and each.url in pages
    ]
    gone += [each for folder in folders for each in gone_documents(there, folder=folder)]
    if gone:
        await engine.remove([each.document_id for each in gone])
    for each in gone:
        session.say(f"removed    {each.title}")
    return gone


async def foresee(session: CliSession, folders: Sequence[Path]) -> int:
    """Say what `sync` would do to folders, and do nothing."""
    from quoth.pipeline.sync import folder_changes

    if not folders:
        raise InputError("--dry-run is for folders. Name one.")
    there = await stored_documents(session)
    with catalogue_of(session) as catalogue:
        found = [
            await asyncio.to_thread(folder_changes, catalogue, there, folder=each)
            for each in folders
        ]
    lists = {
        "add": [str(path) for each in found for path in each.new],
        "update": [str(path) for each in found for path in each.changed],
        "remove": [document.source for each in found for document in each.gone],
    }
    unchanged = sum(len(each.unchanged) for each in found)
    if session.json:
        session.put({**lists, "unchanged": unchanged})
        return DONE
    for verb, names in lists.items():
        for each in names:
            session.out.print(f"{verb:<8}{each}", highlight=False, markup=False, soft_wrap=True)
    counts = [f"{len(names)} to {verb}" for verb, names in lists.items()]
    session.say(f"{', '.join(counts)}, {unchanged} unchanged. Nothing was changed.")
    return DONE
