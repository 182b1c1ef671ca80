"""`quoth explain`: how an answer came about."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from quoth.interfaces.cli.export import write
from quoth.interfaces.cli.history import QueryId, record_from
from quoth.interfaces.cli.session import DONE, CliSession, catalogue_of, command, engine_of
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.history.explain import Explanation, SearchExplanation, Stage
    from quoth.history.why_not import WhyNot

FIRST = 20
"""Candidates that a person is shown."""
RANKINGS = ("keyword", "semantic", "fused", "rerank")
"""Where a candidate has a place, in the order in which the places came about."""


@command
async def explain(
    session: CliSession,
    query_id: QueryId,
    missed: Annotated[
        str | None, typer.Option("--why-not", help="Words of a passage that was not cited.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
) -> int:
    """Show how an answer came about: what was understood, the stages, every candidate's way."""
    from quoth.history.explain import explain as explained
    from quoth.history.explain_page import explanation_page

    with catalogue_of(session) as catalogue:
        record = await asyncio.to_thread(record_from, catalogue, query_id)
        found = await asyncio.to_thread(explained, record, catalogue)
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
        show(session, found)
    return DONE


def show(session: CliSession, found: Explanation) -> None:
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
        out.print(Text(f"Note: {line}"), soft_wrap=True)


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
    session.out.print(Text(f"  {counted(each)}", style="dim"), soft_wrap=True)
    for way in by_progress(each.ways)[:FIRST]:
        head = Text(f"{way.shown or '':>3}  ")
        head.append(way.at.name or f"gone ({way.chunk_id})")
        head.append(f"  {way.why}", style="green" if way.fate == "cited" else "yellow")
        session.out.print(head, soft_wrap=True)
        ranks = {**way.legs, "fused": way.fused}
        named = ((name, scored(ranks.get(name))) for name in RANKINGS)
        places = [f"{name} {rank}" for name, rank in named if rank]
        places += [f"pool {way.pool.rank}"] if way.pool else []
        session.out.print(Text(f"     {', '.join(places)}", style="dim"), soft_wrap=True)
    rest = len(each.ways) - FIRST
    if rest > 0:
        session.out.print(
            Text(f"  and {rest} more; all of them with --html FILE or --json", style="dim")
        )


def show_missed(session: CliSession, asked: WhyNot) -> None:
    """Show why passages were not cited."""
    for line in asked.notes:
        session.out.print(Text(line), soft_wrap=True)
    for each in asked.passages:
        head = Text(each.at.name or each.chunk_id, style="bold")
        session.out.print(head.append(f"  {each.why}", style="not bold"), soft_wrap=True)
        session.out.print(Text(f"    “{each.at.text}”", style="dim"), soft_wrap=True)
        if each.advice:
            session.out.print(Text(f"    try: {each.advice}"), soft_wrap=True)
