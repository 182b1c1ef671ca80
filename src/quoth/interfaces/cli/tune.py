"""`quoth tune`: what the collection teaches about itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from quoth.core.command_line import command_line
from quoth.core.errors import InputError
from quoth.interfaces.cli.session import CliSession, command, engine_of

if TYPE_CHECKING:
    from quoth.evaluation.tune import Tuned


PATIENCE_S = 3600.0
"""Time limit of the reranker for one question."""


@command
async def tune(
    session: CliSession,
    reset: Annotated[
        bool,
        typer.Option("--reset", help="Forget what was learnt; the shipped values count again."),
    ] = False,
) -> None:
    """Learn the weight of both legs and the threshold for answering from the collection itself."""
    from quoth.evaluation.tune import tune as learn
    from quoth.interfaces.cli.documents_view import reporting

    if reset:
        await forget(session)
        return
    # These questions have no deadline: on a slow machine they take the time that they need.
    patient = session.settings.model_copy(update={"rerank_seconds": PATIENCE_S})
    session = replace(session, settings=patient)
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


async def forget(session: CliSession) -> None:
    """Take back what was learnt from the collection."""
    async with engine_of(session) as engine:
        catalogue = engine.parts.catalogue
        found = await asyncio.to_thread(catalogue.collection, session.settings.collection)
        await asyncio.to_thread(catalogue.tune, found, None)
    if session.json:
        session.put({"reset": found.name})
    session.say(f"'{found.name}' goes by the shipped values again.")


def show(session: CliSession, tuned: Tuned) -> None:
    """Say what was asked, found and changed."""
    for line in (tuned.note,) if tuned.note else lines(tuned):
        session.out.print_line(line)
    if not tuned.note:
        reset = command_line("tune --reset", session.settings)
        session.out.print_message(f"Take it back with: {reset}")


def lines(tuned: Tuned) -> Iterator[str]:
    """Return what was asked, found and changed, a sentence or two in each line."""
    for language, each in tuned.languages.items():
        found = each.scores
        yield (
            f"{language}: {each.questions} questions were made of the collection's own text. How "
            "near to the top the right passage came (1: always first): words alone "
            f"{found['keyword']:.2f}, meaning alone {found['semantic']:.2f}, both as shipped "
            f"{found['before']:.2f}."
        )
        if each.moved:
            yield (
                f"  Changed: meaning now counts {each.dense_weight:.0%}, words the rest; both now "
                f"{found['after']:.2f}."
            )
        else:
            yield "  Unchanged: no other weight of the two is better by more than chance."
    if not tuned.languages:
        yield "Too few questions to weigh words against meaning; that stays as shipped."
    for when, word in (("before", "As shipped"), ("after", "From now on")):
        if when in tuned.silent:
            yield (
                f"{word}, {tuned.silent[when]:.0%} of the questions about other things are left "
                f"unanswered and {tuned.answered[when]:.0%} of the made ones answered."
            )
