"""`quoth add`, `sync` and `watch`: files, folders and pages of the web into the collection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoth.core.errors import InputError, QuothError
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    On,
    catalogue_of,
    command,
    engine_of,
    on_cluster,
    stored_documents,
)
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.core.types import Document
    from quoth.engine import Engine
    from quoth.interfaces.cli.add_report import AddReport
    from quoth.pipeline.given_metadata import DocumentMetadata
    from quoth.pipeline.remote import RemoteOptions


@dataclass(frozen=True, slots=True)
class AddOptions:
    """What is given with files, how pages are fetched, and which files of folders are added.

    ``include`` are patterns of those that are added, ``exclude`` of those that are not.
    """

    given: DocumentMetadata | None = None
    remote: RemoteOptions | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


NO_OPTIONS = AddOptions()
Depth = Annotated[
    int, typer.Option(min=0, max=10, help="Follow the links of a page on its host this far.")
]
MaxPages = Annotated[int, typer.Option(min=1, max=10_000, help="Pages of one site at most.")]

MINUTES = 60
"""Minutes after which addresses that are watched are fetched again."""
KEPT = "Stopped. Finished documents are stored; the same command continues from there."


@command(stopped=KEPT)
async def add(  # noqa: PLR0913 - one for each option
    session: CliSession,
    sources: Annotated[list[str], typer.Argument(help="Files, folders, and pages of the web.")],
    title: Annotated[str | None, typer.Option(help="Title, of a single file.")] = None,
    url: Annotated[
        str | None, typer.Option(help="Where the original of a single file is, such as a video.")
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who speaks.")] = None,
    language: Annotated[str | None, typer.Option(help="Language, such as en or fr.")] = None,
    date: Annotated[
        str | None, typer.Option(help="Date, such as 2024-03-01, 2024-03 or 2024.")
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Metadata of your own, to filter by (--filter meta.KEY=VALUE); may be repeated.",
        ),
    ] = None,
    depth: Depth = 0,
    max_pages: MaxPages = 200,
    include: Annotated[
        list[str] | None, typer.Option(help="Of folders, only files that fit; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Of folders, no files that fit; may be repeated.")
    ] = None,
    keep_watching: Annotated[
        bool, typer.Option("--watch", help="Go on as `quoth watch` does, until Ctrl-C.")
    ] = False,
    on: On = None,
) -> int:
    """Add files, folders and pages to the collection; existing documents are skipped."""
    from quoth.core.custom_metadata import metadata_from_pairs
    from quoth.ingest.sources.site import CrawlLimits
    from quoth.ingest.sources.youtube.videos import VideoOptions
    from quoth.pipeline.given_metadata import DocumentMetadata
    from quoth.pipeline.remote import RemoteOptions

    if keep_watching:
        require_watchable(session, sources)
    session = on_cluster(of_owner(session), on)
    custom = metadata_from_pairs(meta or ())
    given = DocumentMetadata(title, url, speaker, language, date, custom=custom)
    videos = VideoOptions(languages=(language,) if language else ())
    remote = RemoteOptions(CrawlLimits(depth=depth, max_pages=max_pages), videos)
    options = AddOptions(given, remote, tuple(include or ()), tuple(exclude or ()))
    async with engine_of(session) as engine:
        report = await add_all(session, engine, sources, options=options)
        if session.json:
            session.put([to_json(document) for document in report.documents])
        if keep_watching:
            await keep_equal(session, engine, sources, options=options)
    return FAILED if report.failed or not report.documents else DONE


@command(stopped=KEPT)
async def sync(
    session: CliSession,
    sources: Annotated[
        list[str], typer.Argument(metavar="FOLDER|URL…", help="Folders, and pages of the web.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done to folders.")
    ] = False,
) -> int:
    """Make the collection equal to folders: add what is new, update, remove what is gone.

    Only documents that came from these folders are removed. A page of the web is fetched again.
    """
    from quoth.pipeline.remote import RemoteOptions, check_sources, is_address
    from quoth.pipeline.sync import check_folder

    session = of_owner(session)
    check_sources(sources)
    folders = [Path(each) for each in sources if not is_address(each)]
    for folder in folders:
        check_folder(folder, session.settings)
    if dry_run:
        foresee(session, folders)
        return DONE
    async with engine_of(session) as engine:
        options = AddOptions(remote=RemoteOptions(drop_gone=True))
        report = await add_all(session, engine, sources, options=options)
        gone = await remove_gone(session, engine, sources)
    if session.json:
        removed = [each.document_id for each in gone]
        session.put({**report.to_json(), "removed": removed})
    return FAILED if report.failed else DONE


@command(stopped="Stopped. What was added stays.")
async def watch(
    session: CliSession,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FOLDER|URL…", help="What the collection is kept equal to."),
    ],
    minutes: Annotated[
        int,
        typer.Option("--every", min=1, help="Minutes after which addresses are fetched again."),
    ] = MINUTES,
) -> None:
    """Keep the collection equal to folders, pages and playlists: what changes is added or removed.

    A change in a folder is seen at once.
    """
    session = of_owner(session)
    require_watchable(session, sources)
    async with engine_of(session) as engine:
        await keep_equal(session, engine, sources, minutes=minutes)


def require_watchable(session: CliSession, sources: Sequence[str]) -> None:
    """Raise InputError for what is neither a folder nor an address.

    Watching folders needs watchfiles; raises MissingExtra without it.
    """
    from quoth.core.extras import require_extra
    from quoth.pipeline.remote import check_sources, is_address
    from quoth.pipeline.sync import check_folder

    folders = [Path(each) for each in sources if not is_address(each)]
    if folders:
        require_extra("watch", module="watchfiles", what="Watching folders")
    check_sources(sources)
    for folder in folders:
        check_folder(folder, session.settings)


async def _rounds(folders: Sequence[Path], *, every: float | None) -> AsyncGenerator[bool, None]:
    """Yield at once, after every change below the folders, and ``every`` so many seconds.

    The value says whether the addresses are due.
    """
    if folders:
        from quoth.ingest.sources.watch import folder_changed

        async with aclosing(folder_changed(folders, every=every)) as changes:
            async for is_due in changes:
                yield is_due
    elif every is not None:
        while True:
            yield True
            await asyncio.sleep(every)


async def keep_equal(
    session: CliSession,
    engine: Engine,
    sources: Sequence[str],
    *,
    minutes: int = MINUTES,
    options: AddOptions = NO_OPTIONS,
) -> None:
    """Bring the collection up to date at every change, until it is cancelled.

    After a change only the folders are read. A round that fails after the first is reported.
    """
    from quoth.pipeline.remote import RemoteOptions, is_address

    folders = [each for each in sources if not is_address(each)]
    every = 60 * minutes if len(folders) < len(sources) else None
    remote = replace(options.remote or RemoteOptions(), drop_gone=True)
    options = replace(options, remote=remote)
    is_first = True
    async with aclosing(_rounds([*map(Path, folders)], every=every)) as rounds:
        async for is_due in rounds:
            wanted = sources if is_due else folders
            try:
                await add_all(session, engine, wanted, options=options)
                await remove_gone(session, engine, wanted)
            except QuothError as error:
                if is_first:
                    raise
                session.warn(str(error))
            is_first = False
            session.say("Watching. Stop with Ctrl-C.")


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
    options: AddOptions = NO_OPTIONS,
) -> AddReport:
    """Add files, folders and pages; show the progress, and what became of every file."""
    from quoth.ingest.sources.files import look_through
    from quoth.interfaces.cli.add_report import AddReport, show_report, ways_of
    from quoth.interfaces.cli.documents_view import adding, fetching, say_charged
    from quoth.pipeline.given_metadata import DocumentMetadata
    from quoth.pipeline.remote import check_sources, is_address

    check_sources(sources)
    paths = [Path(each) for each in sources if not is_address(each)]
    addresses = [each for each in sources if is_address(each)]
    found = await asyncio.to_thread(
        look_through, paths, include=options.include, exclude=options.exclude
    )
    about = options.given or DocumentMetadata()
    await asyncio.to_thread(about.require_one_file, [*found.files, *map(Path, addresses)])
    fetched, failed = await fetching(session, engine.parts, addresses, options=options.remote)
    known = await asyncio.to_thread(_ready_sources, engine, session.settings.collection)
    steps = engine.add([*found.files, *fetched], given=about)
    async with aclosing(steps):
        documents = await adding(session, steps, failed=failed)
    given_files = [*fetched, *(each for each in paths if not each.is_dir())]
    folders = [each.resolve() for each in paths if each.is_dir()]
    report = AddReport(
        documents, known, ways_of(found.left_out), _stored_names(given_files), folders
    )
    show_report(session, report)
    for table, names in found.missing.items():
        session.say(f"note       {table} names files that are not there: {', '.join(names)}")
    say_charged(session, engine)
    await engine.settle(session.say)
    return report


def _stored_names(files: Sequence[Path]) -> frozenset[str]:
    """Return files as their documents name them; a link that leads to itself is no error here."""
    from quoth.pipeline.given_metadata import file_uri

    return frozenset(file_uri(Path(realpath(each))) for each in files)


def _ready_sources(engine: Engine, name: str) -> dict[str, str]:
    catalogue = engine.parts.catalogue
    collection = catalogue.find_collection(name)
    there = catalogue.documents(collection) if collection else []
    return {each.source: each.document_id for each in there if each.status == "ready"}


async def remove_gone(
    session: CliSession, engine: Engine, sources: Sequence[str]
) -> list[Document]:
    """Remove the documents of folders and fetched sources whose file is gone."""
    from quoth.pipeline.remote import is_address

    folders = {Path(each) for each in sources if not is_address(each)}
    gone = await engine.remove_gone(sorted(folders), fetched=any(map(is_address, sources)))
    for each in gone:
        session.say(f"removed    {each.title}")
    return gone


def foresee(session: CliSession, folders: Sequence[Path]) -> None:
    """Say what `sync` would do to folders, and do nothing."""
    from quoth.pipeline.sync import folder_changes

    if not folders:
        raise InputError("--dry-run is for folders. Name one.")
    there = stored_documents(session)
    with catalogue_of(session) as catalogue:
        found = [folder_changes(catalogue, there, folder=each) for each in folders]
    lists = {
        "add": [str(path) for each in found for path in each.new],
        "update": [str(path) for each in found for path in each.changed],
        "remove": [document.source for each in found for document in each.gone],
    }
    unchanged = sum(len(each.unchanged) for each in found)
    if session.json:
        session.put({**lists, "unchanged": unchanged})
        return
    for verb, names in lists.items():
        for each in names:
            session.out.print_line(f"{verb:<8}{each}")
    counts = [f"{len(names)} to {verb}" for verb, names in lists.items()]
    session.say(f"{', '.join(counts)}, {unchanged} unchanged. Nothing was changed.")
