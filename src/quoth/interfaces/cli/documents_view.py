"""Showing documents to a person: lists, and the progress of adding them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from quoth.core.custom_metadata import pairs_of
from quoth.core.errors import DocumentError
from quoth.core.types import Document
from quoth.core.usage import EMBED
from quoth.interfaces.cli.session import CliSession, nothing_here
from quoth.store.blobs import source_name
from quoth.store.job_rows import INTERRUPTED, is_interrupted
from quoth.text.locators import format_timestamp

if TYPE_CHECKING:
    from quoth.engine import Engine
    from quoth.pipeline.commit import IngestProgress
    from quoth.pipeline.components import Components
    from quoth.pipeline.remote import RemoteOptions

MIN_TITLE, MAX_TITLE = 8, 40
"""Characters of a title beside a bar."""
BAR = 16
"""Columns of a bar."""
COUNTS = 64
"""Columns of a bar with its counts and times, and of the passages of the file being read."""
SPEED_S = 300.0
"""Seconds over which the speed is averaged that the remaining time is taken from."""
LINE_S = 30.0
"""Seconds between two lines that say how far it is, where there is no terminal for a bar."""


def progress_bar(session: CliSession) -> Progress:
    """A bar on stderr, so that stdout stays the result's."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=BAR),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
        TextColumn("left"),
        speed_estimate_period=SPEED_S,
        console=session.err,
        disable=session.quiet,
        transient=True,
    )


@contextmanager
def reporting(session: CliSession, description: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar; yields a function that takes what is done, how many are done, and of how many."""
    with progress_bar(session) as bar:
        task = bar.add_task(description, total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)


async def fetching(
    session: CliSession,
    parts: Components,
    addresses: Sequence[str],
    *,
    options: RemoteOptions | None = None,
) -> tuple[list[Path], list[Document]]:
    """Fetch remote sources with a count; return the files, and a document for each failure.

    An address that fails as a whole, such as a list that cannot be read, is one of them.
    """
    from quoth.ingest.sources.mirror import FetchedItem
    from quoth.pipeline.remote import RemoteOptions, failed_item, fetch_items

    paths: list[Path] = []
    failed: list[Document] = []
    name = session.settings.collection
    with reporting(session, "Fetching") as report:
        for address in addresses:
            items = fetch_items(
                parts,
                address,
                collection=name,
                options=options or RemoteOptions(),
                warn=session.warn,
            )
            try:
                async with aclosing(items):
                    async for item in items:
                        if item.path is not None:
                            paths.append(item.path)
                        if item.problem is not None:
                            failed.append(failed_item(item, collection=name))
                        report(f"Fetching {_short(item.address)}", len(paths), 0)
            except DocumentError as error:
                failed.append(failed_item(FetchedItem(address, problem=error), collection=name))
    return list(dict.fromkeys(paths)), failed


async def adding(
    session: CliSession,
    steps: AsyncIterator[Document | IngestProgress],
    *,
    failed: Sequence[Document] = (),
) -> list[Document]:
    """Follow the adding of documents with a bar and a line for each that is new.

    Returns them after those that ``failed`` before.
    """
    documents: list[Document] = list(failed)
    reported = time.monotonic()
    with progress_bar(session) as bar:
        task = bar.add_task("Reading", total=None)
        async for step in steps:
            if isinstance(step, Document):
                documents.append(step)
                if step.status == "ready" and not session.quiet:
                    bar.console.print(_document_line(step), soft_wrap=True)
                bar.update(task, completed=max(len(documents), bar.tasks[0].completed))
            else:
                room = bar.console.width - COUNTS if bar.console.is_terminal else MAX_TITLE
                done, of = step.own
                at = f"{_short(step.source, room=room)} · {done}/{of}"
                bar.update(task, total=step.of_files, completed=step.done, description=at)
                if not bar.console.is_terminal and time.monotonic() - reported > LINE_S:
                    reported = time.monotonic()
                    session.say(f"reading    {at} passages, {step.files} of {step.of_files} files")
    return documents


async def rebuilding(session: CliSession, steps: AsyncIterator[IngestProgress]) -> int:
    """Follow a rebuild with a bar; gives the number of documents."""
    count = 0
    with progress_bar(session) as bar:
        task = bar.add_task("Embedding", total=None)
        async for step in steps:
            count = max(count, step.of_files)
            bar.update(task, completed=step.files, total=step.of_files)
    return count


def say_charged(session: CliSession, engine: Engine) -> None:
    """Say what a provider charged for embedding documents, if it embedded any."""
    used = engine.embedded.total.stages.get(EMBED)
    if used is not None:
        price = f" for ${used.usd:.4f}" if used.usd else ""
        session.say(f"Embedding took {used.input_tokens:,} tokens{price}.")


def document_list(session: CliSession, documents: Sequence[Document]) -> None:
    """Show documents, one line for each: its id, its status, its title, what and where it is."""
    if not documents:
        session.say(nothing_here(session))
    for each in documents:
        line = Text(f"{each.document_id}  ", style="dim")
        status = each.status if each.error is None else f"{each.status}: {each.error.code}"
        status = INTERRUPTED if is_interrupted(each) else status
        line.append(f"{status}  ", style="not dim red" if each.error else "not dim green")
        line.append(each.title, style="not dim")
        if each.status == "ready":
            line.append(f" · {_about(each)}")
        name = source_name(each.source)
        if name not in ("", each.title):
            line.append(f" · {name}")
        session.out.print_line(line)


def _document_line(each: Document) -> Text:
    line = Text(f"{each.status:<10} {each.title}")
    line.append(f" · {_about(each)}", style="dim")
    for warning in each.warnings:
        line.append(f"\n           note: {warning}", style="yellow")
    return line


def _about(each: Document) -> str:
    passages = f"{each.chunks} passage{'' if each.chunks == 1 else 's'}"
    own = pairs_of(each.metadata)
    what = (each.kind, each.language, _length(each), passages, each.speaker, each.date, *own)
    return ", ".join(filter(None, what))


def _length(each: Document) -> str:
    if each.pages is not None:
        return f"{each.pages} page{'' if each.pages == 1 else 's'}"
    return "" if each.seconds is None else format_timestamp(each.seconds)


def _short(title: str, *, room: int = MAX_TITLE) -> str:
    room = max(MIN_TITLE, min(room, MAX_TITLE))
    return title if len(title) <= room else title[: room - 1] + "…"
