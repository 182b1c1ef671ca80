"""Showing documents to a person: lists, and the progress of adding them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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

from quoth.core.types import Document
from quoth.interfaces.cli.session import CliSession
from quoth.text.locators import format_timestamp

if TYPE_CHECKING:
    from quoth.pipeline.commit import IngestProgress

NOTHING = "Nothing to add: there is no file here that quoth reads. It reads {known}."


LISTED = 8
"""Types that are named for one way to get their text."""
SPEED_S = 300.0
"""Seconds over which the speed is averaged that the remaining time is taken from."""

ADVICE: dict[str, tuple[str, ...]] = {
    "save them as PDF, DOCX or HTML": (
        *(".doc", ".mobi", ".azw3", ".ppt", ".key", ".pages", ".numbers", ".ps", ".djvu", ".msg"),
    ),
    "add their captions or a transcript (.srt, .vtt)": (
        *(".mp3", ".m4a", ".wav", ".ogg", ".oga", ".flac", ".opus", ".aac"),
        *(".mp4", ".m4v", ".mkv", ".webm", ".mov", ".avi"),
    ),
    "pictures are not read; make a PDF with text of scans": (
        *(".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".tif", ".tiff", ".bmp", ".heic"),
    ),
    "unpack them": (".7z", ".rar", ".zst"),
}
"""What gets a text out of files that are not read, by suffix."""
OTHERWISE = "name them one by one to have them read as text"


def show_left_out(session: CliSession, counts: Mapping[str, int]) -> None:
    """Say how many files of folders were left out, by type, and the way to get their text."""
    if not counts:
        return
    total = sum(counts.values())
    session.say(f"{total} file{'' if total == 1 else 's'} left out:")
    advices = {**_installs(counts), **ADVICE}
    known = {suffix for suffixes in advices.values() for suffix in suffixes}
    for advice, suffixes in (*advices.items(), (OTHERWISE, tuple(counts.keys() - known))):
        named = sorted((each for each in counts if each in suffixes), key=lambda e: (-counts[e], e))
        listed = ", ".join(
            f"{counts[each]} {each or 'without a suffix'}" for each in named[:LISTED]
        )
        more = sum(counts[each] for each in named[LISTED:])
        if named:
            session.say(f"  {listed}{f' and {more} others' if more else ''}: {advice}")


def _installs(suffixes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the suffixes of formats whose package is missing, by the command that installs it."""
    from quoth.ingest.readers.formats import install_line

    lines = {suffix: line for suffix in sorted(suffixes) if (line := install_line(suffix))}
    return {
        f"install what reads them: {line}": tuple(each for each in lines if lines[each] == line)
        for line in dict.fromkeys(lines.values())
    }


def progress_bar(session: CliSession) -> Progress:
    """A bar on stderr, so that stdout stays the result's."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
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


async def adding(
    session: CliSession, steps: AsyncIterator[Document | IngestProgress]
) -> list[Document]:
    """Follow the adding of documents with a bar and a line for each."""
    documents: list[Document] = []
    with progress_bar(session) as bar:
        task = bar.add_task("Reading", total=None)
        async for step in steps:
            if isinstance(step, Document):
                documents.append(step)
                if step.error is not None or not session.quiet:
                    bar.console.print(_document_line(step), soft_wrap=True)
                bar.update(task, completed=max(len(documents), bar.tasks[0].completed))
            else:
                bar.update(
                    task,
                    total=step.of_files,
                    completed=step.done,
                    description=f"{_short(step.source)} · {step.chunks}/{step.of_chunks} passages",
                )
    counts = {
        word: sum(each.status == status for each in documents)
        for status, word in (("ready", "added"), ("unchanged", "unchanged"), ("failed", "failed"))
    }
    if not documents:
        from quoth.ingest.readers.formats import KNOWN

        session.err.print(
            NOTHING.format(known=KNOWN), highlight=False, markup=False, soft_wrap=True
        )
    else:
        session.say(", ".join(f"{count} {word}" for word, count in counts.items() if count))
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


def document_list(session: CliSession, documents: Sequence[Document]) -> None:
    """Show documents, one line for each: its id, its status, its title and what it is."""
    if not documents:
        session.say("Nothing here yet. Add something with: quoth add PATH")
    for each in documents:
        line = Text(f"{each.document_id}  ", style="dim")
        status = each.status if each.error is None else f"{each.status}: {each.error.code}"
        line.append(f"{status}  ", style="not dim red" if each.error else "not dim green")
        line.append(each.title, style="not dim")
        if each.status == "ready":
            line.append(f" · {_about(each)}")
        session.out.print(line, soft_wrap=True)


def _document_line(each: Document) -> Text:
    if each.error is not None:
        return Text(
            f"failed     {each.title}: {each.error.message} [{each.error.code}]", style="red"
        )
    line = Text(f"{each.status:<10} {each.title}")
    line.append(f" · {_about(each)}", style="dim")
    for warning in each.warnings:
        line.append(f"\n           note: {warning}", style="yellow")
    return line


def _about(each: Document) -> str:
    passages = f"{each.chunks} passage{'' if each.chunks == 1 else 's'}"
    return ", ".join(filter(None, (each.kind, each.language, _length(each), passages)))


def _length(each: Document) -> str:
    if each.pages is not None:
        return f"{each.pages} page{'' if each.pages == 1 else 's'}"
    return "" if each.seconds is None else format_timestamp(each.seconds)


def _short(title: str) -> str:
    return title if len(title) <= 40 else title[:39] + "…"
