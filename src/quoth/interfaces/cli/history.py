"""Commands about past questions: `quoth history`, `quoth export` and `quoth explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from quoth.core.errors import InputError
from quoth.interfaces.cli.session import CliSession, catalogue_of, command, engine_of
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.history.explain import Explanation, SearchExplanation, Stage
    from quoth.history.why_not import WhyNot
    from quoth.store.history import QuerySummary


QueryId = Annotated[
    str, typer.Argument(help="Id of a question, as `quoth history` shows it, or its beginning.")
]

COLOURS = {"answered": "green", "no_results": "red", "degraded": "red"}
WIDTH = len("low_relevance")


@command
def history(
    session: CliSession,
    number: Annotated[int, typer.Option("-n", min=1, help="How many questions.")] = 20,
) -> None:
    """List the questions that were asked, the newest first; of all collections, or of one."""
    collection = next(iter(session.collections), None)
    with catalogue_of(session) as catalogue:
        session.show(catalogue.asked(limit=number, collection=collection), show_queries)


def show_queries(session: CliSession, asked: list[QuerySummary]) -> None:
    """Show questions, one line for each: id, when (UTC), how it ended, and its title or words."""
    if not asked:
        session.say("No question is stored yet. Ask with: quoth ask QUESTION")
        return
    # One line each, the question last: it is as long as it likes, on any width of terminal.
    collections = {each.collection for each in asked}
    for each in asked:
        when = each.created_at[:16].replace("T", " ")
        line = Text(f"{each.query_id}  {when}  ", style="dim")
        if len(collections) > 1:
            line.append(f"{each.collection}  ", style="not dim")
        line.append(f"{each.status:<{WIDTH}}  ", style=f"not dim {COLOURS.get(each.status, '')}")
        line.append(" ".join((each.title or each.text).split()), style="not dim")
        session.out.print_line(line)


ExportFormat = Literal["md", "html", "json", "csv"]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File; else the terminal.")]


@command
def export(
    session: CliSession,
    query_id: QueryId,
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", help="Markdown, HTML, JSON or CSV; by the file's ending, else md."
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Write an answer with its citations, sources and links as Markdown, HTML, JSON or CSV."""
    from quoth.history.export import exported
    from quoth.pipeline.record_codec import load_record

    with catalogue_of(session) as catalogue:
        record = load_record(catalogue, query_id)
    chosen = form or ("json" if session.json and output is None else by_ending(output))
    text = exported(record, chosen)
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    else:
        write(output, text)
        session.say(f"Wrote {output}.")
        if session.json:
            session.put({"query_id": record.query_id, "file": str(output)})


def by_ending(output: Path | None) -> ExportFormat:
    """Choose the form by a file's ending."""
    endings: dict[str, ExportFormat] = {
        ".html": "html",
        ".htm": "html",
        ".json": "json",
        ".csv": "csv",
    }
    return endings.get("" if output is None else output.suffix.casefold(), "md")


def write(output: Path, text: str) -> None:
    """Write a text to a file; raises InputError."""
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}.") from None


FIRST = 20
"""Candidates that a person is shown."""
RANKINGS = ("keyword", "semantic", "sparse", "pages", "fused", "rerank")
"""Where a candidate has a place, in the order in which the places came about."""


@command
async def explain(
    session: CliSession,
    query_id: QueryId,
    missed: Annotated[
        str | None, typer.Option("--why-not", help="Words of a passage that was not cited.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
) -> None:
    """Show how an answer came about: what was understood, the stages, every candidate's way."""
    from quoth.history.explain import explain as explained
    from quoth.history.explain_page import explanation_page
    from quoth.pipeline.record_codec import load_record

    with catalogue_of(session) as catalogue:
        record = load_record(catalogue, query_id)
        found = explained(record, catalogue)
    asked = None
    if missed is not None:
        from quoth.history.why_not import why_not

        async with engine_of(session) as engine:
            asked = await why_not(missed, record, parts=engine.parts)
    if page is not None:
        write(page, explanation_page(found, asked=asked))
        session.say(f"Wrote {page}.")
    if session.json:
        session.put({**to_json(found), "why_not": to_json(asked)})
    elif asked is not None:
        show_missed(session, asked)
    elif page is None:
        show_explanation(session, found)


def show_explanation(session: CliSession, found: Explanation) -> None:
    """Show an explanation as tables."""
    from quoth.interfaces.cli.render import answer_text

    out = session.out
    out.print(Text(found.question or "A question of which only a hash is stored", style="bold"))
    answer_text(session, found.answer)
    rows(session, "understood", found.understood)
    changed = [
        (each.name, f"{each.chosen} instead of {each.default}{', as asked' * each.asked}")
        for each in found.choices
    ]
    rows(session, "chosen", changed)
    rows(session, "took part", found.makers)
    times = [(each.name, _took(each)) for each in found.stages]
    rows(session, "time", [*times, ("in all", f"{found.total_ms:.1f} ms")])
    for each in found.searched:
        candidates(session, each)
    for line in found.notes:
        out.print_message(f"Note: {line}")


def _took(each: Stage) -> str:
    return f"at {each.start_ms:.1f} ms" if each.is_moment else f"{each.spent_ms:.1f} ms"


def rows(session: CliSession, title: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Show names and values under a title; nothing where there are none."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    for name, value in pairs:
        table.add_row(Text(name, style="dim"), Text(value))
    if table.row_count:
        session.out.print(Text(f"\n{title}", style="bold"))
        session.out.print(table)


def candidates(session: CliSession, each: SearchExplanation) -> None:
    """Show how far each candidate came, the furthest first."""
    from quoth.history.explain import by_progress, counted, scored

    session.out.print(Text(f"\nfound in {each.collection}", style="bold"))
    session.out.print_line(Text(f"  {counted(each)}", style="dim"))
    for way in by_progress(each.ways)[:FIRST]:
        head = Text(f"{way.shown or '':>3}  ")
        head.append(way.at.name or f"gone ({way.chunk_id})")
        head.append(f"  {way.why}", style="green" if way.fate == "cited" else "yellow")
        session.out.print_line(head)
        ranks = {**way.legs, "fused": way.fused}
        named = ((name, scored(ranks.get(name))) for name in RANKINGS)
        places = [f"{name} {rank}" for name, rank in named if rank]
        places += [f"pool {way.pool.rank}"] if way.pool else []
        session.out.print_line(Text(f"     {', '.join(places)}", style="dim"))
    rest = len(each.ways) - FIRST
    if rest > 0:
        session.out.print(
            Text(f"  and {rest} more; all of them with --html FILE or --json", style="dim")
        )


def show_missed(session: CliSession, asked: WhyNot) -> None:
    """Show why passages were not cited."""
    for line in asked.notes:
        session.out.print_line(Text(line))
    for each in asked.passages:
        head = Text(each.at.name or each.chunk_id, style="bold")
        session.out.print_line(head.append(f"  {each.why}", style="not bold"))
        session.out.print_line(Text(f"    “{each.at.text}”", style="dim"))
        if each.advice:
            session.out.print_message(f"    to have it read: {each.advice}")
