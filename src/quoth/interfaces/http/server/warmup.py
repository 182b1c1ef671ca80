"""Loads at start what the first query would otherwise wait for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

from quoth.core.errors import BackendError, QuothError
from quoth.engine import Engine
from quoth.pipeline.components import no_op
from quoth.pipeline.egress import unwrap_models
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request

QUERIES = ("What is this about, and who says so?", "De quoi s'agit-il, et qui le dit ?")
"""One for each language whose resources are loaded on first use."""


async def warm(engine: Engine) -> None:
    """Answer a query and load the language models' packages.

    Nothing is stored, and no language model is called. An error here would fail a query as well,
    which then reports it.
    """
    for model in (model for each in engine.parts.models for model in unwrap_models(each)):
        with suppress(BackendError):
            await _open(model)
    with suppress(BackendError):
        await engine.parts.embedder.embed(list(QUERIES), role="query")
    quiet = Engine(replace(engine.parts, observe=no_op))
    names = [found.name for found in await asyncio.to_thread(engine.parts.catalogue.collections)]
    first = [name for name in names if name == engine.parts.settings.collection] or names[:1]
    for query in QUERIES if first else ():
        request = Request(
            query, choices={"generate": False, "cache": "none"}, collections=tuple(first)
        )
        with suppress(QuothError):
            await quiet.answer(request, keep=_drop)


async def _open(model: Any) -> None:
    """Load the packages of a model that is opened lazily."""
    if hasattr(model, "opened"):
        await model.opened()


def _drop(_record: Record) -> None:
    """Store nothing."""
