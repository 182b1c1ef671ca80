"""Loads what the first question would otherwise wait for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

from quoth.core.errors import BackendError, QuothError
from quoth.engine import Engine
from quoth.pipeline.components import no_op
from quoth.pipeline.egress import models_within
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request

QUESTIONS = ("What is this about, and who says so?", "De quoi s'agit-il, et qui le dit ?")
"""One in each language whose words are loaded when they are first met."""


async def warm(engine: Engine) -> None:
    """Ask an engine what nobody hears of, and load the language models' packages.

    Nothing of it is kept, and no language model is asked. What fails here would fail a question
    as well, which then says so.
    """
    if engine.parts.generator is not None:
        for each in models_within(engine.parts.generator):
            with suppress(BackendError):
                await _open(each)
    with suppress(BackendError):
        await engine.parts.embedder.embed(list(QUESTIONS), role="query")
    quiet = Engine(replace(engine.parts, observe=no_op))
    names = [each.name for each in await asyncio.to_thread(engine.parts.catalogue.collections)]
    first = [name for name in names if name == engine.parts.settings.collection] or names[:1]
    for question in QUESTIONS if first else ():
        request = Request(
            question, choices={"generate": False, "cache": "none"}, collections=tuple(first)
        )
        with suppress(QuothError):
            await quiet.answer(request, keep=_forget)


async def _open(model: Any) -> None:
    """Load the packages of a model that is opened late."""
    if hasattr(model, "opened"):
        await model.opened()


def _forget(_record: Record) -> None:
    """Keep nothing."""
