"""`quoth history`: what was asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.interfaces.cli.session import DONE, CliSession, catalogue_of, command

if TYPE_CHECKING:
    from quoth.pipeline.record import Record
    from quoth.store.catalogue import Catalogue
    from quoth.store.history import QuerySummary

QueryId = Annotated[
    str, typer.Argument(help="Id of a question, as `quoth history` shows it, or its beginning.")
]

COLOURS = {"answered": "green", "no_results": "red", "degraded": "red"}
WIDTH = len("low_relevance")


@command
async def history(
    session: CliSession,
    number: Annotated[int, typer.Option("-n", min=1, help="How many questions.")] = 20,
) -> int:
    """List the questions that were asked, the newest first; of all collections, or of one."""
    collection = next(iter(session.collections), None)
    with catalogue_of(session) as catalogue:
        asked = await asyncio.to_thread(catalogue.asked, limit=number, collection=collection)
    session.show(asked, show)
    return DONE


def show(session: CliSession, asked: list[QuerySummary]) -> None:
    """Show questions, one line for each: its id, when (UTC), how it ended, and its words."""
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
        line.append(" ".join(each.text.split()), style="not dim")
        session.out.print(line, soft_wrap=True)


def record_from(catalogue: Catalogue, query_id: str) -> Record:
    """Return the record of a question; raises NotFound, and InputError where several fit."""
    from quoth.pipeline.record_codec import load_record

    return load_record(catalogue, query_id)
