"""`quoth tune`: what the collection teaches about itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from quoth.core.errors import InputError
from quoth.interfaces.cli.session import (
    DONE,
    CliSession,
    command,
    engine_of,
)

if TYPE_CHECKING:
    from quoth.evaluation.tune import Tuned


@command
async def tune(
    session: CliSession,
    reset: Annotated[
        bool,
        typer.Option("--reset", help="Forget what was learnt; the shipped values count again."),
    ] = False,
) -> int:
    """Learn the weight of both legs and the threshold for answering from the collection itself."""
    from quoth.evaluation.tune import tune as learn
    from quoth.interfaces.cli.render import reporting

    if reset:
        return await forget(session)
    async with engine_of(session) as engine:
        catalogue = engine.parts.catalogue
        found = await asyncio.to_thread(catalogue.collection, session.settings.collection)
        with reporting(session, "Reading") as progress:
            tuned = await learn(engine, progress=progress)
        if tuned.tuning is not None and not await asyncio.to_thread(
            catalogue.tune, found, tuned.tuning
        ):
            raise InputError(
                "The index was rebuilt meanwhile, so the new calibration no longer fits. Run "
                "it again: quoth tune"
            )
    session.show(tuned, show)
    return DONE


async def forget(session: CliSession) -> int:
    """Take back what was learnt from the collection."""
    async with engine_of(session) as engine:
        catalogue = engine.parts.catalogue
        found = await asyncio.to_thread(catalogue.collection, session.settings.collection)
        await asyncio.to_thread(catalogue.tune, found, None)
    if session.json:
        session.put({"reset": found.name})
    session.say(f"'{found.name}' goes by the shipped values again.")
    return DONE


def show(session: CliSession, tuned: Tuned) -> None:
    """Show the mean reciprocal rank of the made questions and the weights, before and after."""
    if tuned.note:
        session.out.print(tuned.note, highlight=False, markup=False)
        return
    table = Table(
        "language", "questions", "keyword", "semantic", "before", "after", "weight", box=None
    )
    for language, each in tuned.languages.items():
        values = (f"{value:.3f}" for value in each.scores.values())
        weight = f"{each.dense_weight:.2f}" + ("" if each.moved else " as shipped")
        table.add_row(language, str(each.questions), *values, weight)
    session.out.print(table)
    for when in tuned.silent:
        if when == "before" and tuned.silent[when] == tuned.silent.get("after"):
            continue
        session.out.print(
            f"{when}: {tuned.silent[when]:.0%} of the questions about other things left "
            f"unanswered, {tuned.answered[when]:.0%} of the made ones answered",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
