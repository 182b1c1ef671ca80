"""Showing results to a person: tables, passages, answers, progress."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import unquote

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.style import Style
from rich.text import Text

from quoth.answering.fallback_messages import notes
from quoth.core.types import (
    Answer,
    Document,
    Hit,
    Locator,
)
from quoth.interfaces.cli.session import CliSession
from quoth.pipeline.commit import IngestProgress
from quoth.pipeline.maintain import Health
from quoth.text.locators import format_timestamp, label

SNIPPET = 150
"""Characters of a snippet that a person is shown."""
WIDEST = 110
"""Columns of an answer on the widest terminal; longer lines are hard to read."""
TIE = "\ue000"
"""Stands for a blank at which no line may end."""

NOTHING = (
    "Nothing to add: there is no file here that quoth reads. It reads PDF, Markdown, HTML, plain "
    "text, and transcripts in SRT, WebVTT, SBV or JSON."
)


def progress_bar(session: CliSession) -> Progress:
    """A bar on stderr, so that stdout stays the result's."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
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
                bar.update(task, completed=len(documents))
            else:
                bar.update(
                    task,
                    total=step.of_files,
                    description=f"{_short(step.source)} · {step.chunks}/{step.of_chunks} passages",
                )
    counts = {
        word: sum(each.status == status for each in documents)
        for status, word in (("ready", "added"), ("unchanged", "unchanged"), ("failed", "failed"))
    }
    if not documents:
        session.err.print(NOTHING, highlight=False, markup=False, soft_wrap=True)
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


def hit_list(session: CliSession, hits: Sequence[Hit]) -> None:
    """Show ranked passages."""
    if not hits:
        session.say("Nothing found. Try other words, or: quoth list")
    for hit in hits:
        head = Text(f"{hit.rank:>3}  ")
        head.append(hit.document, style="bold")
        head.append(_where(hit.document, hit.locator, hit.locator.section)).append("  ")
        session.out.print(head.append(_link(session.out, hit.link)), soft_wrap=True)
        session.out.print(Text(f"     “{trim(hit.text)}”", style="dim"), soft_wrap=True)


def answer_text(session: CliSession, answer: Answer) -> None:
    """Show an answer's text; what no source supports says so."""
    session.out.print(wrap_text(session.out, marked(answer)), soft_wrap=True)


def marked(answer: Answer) -> Text:
    """Return an answer's text with a mark behind every sentence that no source supports."""
    text = Text()
    done = 0
    for each in answer.sentences:
        if each.support == "unsupported":
            text.append(answer.text[done : each.end])
            text.append(f" {unsupported(answer.query.language)}", style="red")
            done = each.end
    return text.append(answer.text[done:])


def unsupported(language: str) -> str:
    """Return the mark of a sentence that no source supports."""
    return "[non appuyé]" if language == "fr" else "[unsupported]"


def wrap_text(screen: Console, text: Text) -> Text:
    """Break a text into lines for a terminal, never in front of a mark; a file gets none."""
    if not screen.is_terminal:
        return text
    tied = text.copy()
    tied.plain = text.plain.replace(" [", f"{TIE}[")
    lines = tied.wrap(screen, min(screen.width, WIDEST))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(TIE, " ")
    return Text("\n").join(lines)


def answer_sources(session: CliSession, answer: Answer) -> None:
    """Show what an answer cites, or the closest passages, and how it came about."""
    out = session.out
    out.print()
    for each in answer.citations:
        head = Text(f"{each.number:>3}  ")
        head.append(each.document_name, style="bold")
        head.append(_where(each.document_name, each.locator, each.section_heading))
        if each.support == "partly":
            head.append(" · in part", style="yellow")
        out.print(head.append("  ").append(_link(out, each.link)), soft_wrap=True)
        out.print(Text(f"     “{trim(each.snippet)}”", style="dim"), soft_wrap=True)
    if answer.closest and not answer.citations:
        hit_list(session, answer.closest)
    for line in notes(answer):
        session.say(f"Note: {line}")
    out.print(Text(f"\n  {' · '.join(_foot(answer))}", style="dim"), soft_wrap=True)


def _foot(answer: Answer) -> Iterator[str]:
    sources = len({each.document_id for each in answer.citations})
    yield f"{sources} source{'' if sources == 1 else 's'}"
    yield f"{answer.timings_ms['total'] / 1000:.2f} s"
    yield answer.model or "no language model"
    if answer.usage.usd:
        yield f"${answer.usage.usd:.4f}"
    if answer.cached:
        yield "answered before"
    yield f"quoth explain {answer.query_id}"


def health_report(session: CliSession, health: Health) -> None:
    """Show what the doctor found."""
    for check in health.checks:
        mark = Text("ok   " if check.ok else "fix  ", style="green" if check.ok else "red")
        session.out.print(mark.append(f"{check.name}: {check.found}", style=""), soft_wrap=True)
        if check.advice:
            session.out.print(f"     {check.advice}", highlight=False, markup=False, soft_wrap=True)


def trim(text: str) -> str:
    """One line of at most `SNIPPET` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= SNIPPET:
        return line
    return line[:SNIPPET].rsplit(" ", 1)[0] + " …"


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


def _where(document: str, locator: Locator, section: str | None) -> str:
    """Name a place within a document, nothing of it twice."""
    known = [document]
    for part in (label(locator), section or ""):
        if part and not any(each.endswith(part) for each in known):
            known.append(part)
    return "".join(f" · {each}" for each in known[1:])


def _link(screen: Console, address: str | None) -> Text:
    """Return a link; where it can be clicked, that of a file shows the file's name alone."""
    if address is None:
        return Text("")
    clickable = screen.is_terminal and address.startswith("file:")
    shown = unquote(address.rpartition("/")[2]) if clickable else address
    return Text(shown, style=Style(color="blue", link=address))


def _short(title: str) -> str:
    return title if len(title) <= 40 else title[:39] + "…"
