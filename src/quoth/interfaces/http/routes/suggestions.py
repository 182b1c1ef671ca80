"""The route for suggested questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.requests import find_collection
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.routes.queries import load_query
from quoth.interfaces.http.schemas import Id, InCollection
from quoth.interfaces.http.text_rules import Text

router = APIRouter(tags=["use"])


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggested questions, the most probable first."""

    suggestions: tuple[str, ...]


@router.get("/v1/suggestions", summary="Suggest questions", response_model=Suggestions)
async def suggestions(
    caller: Owner,
    beginning: Annotated[
        Text,
        Query(alias="q", max_length=200, description="The text typed so far."),
    ] = "",
    after: Annotated[
        Id | None, Query(description="The id of a question that was answered.")
    ] = None,
    collection: InCollection = None,
) -> Response:
    """Suggest completions of the text typed so far, or questions after an answer.

    Without either they are about the documents, in the language that the request names.
    """
    found = await asyncio.to_thread(find_collection, caller, collection)
    if found is None:
        return ApiResponse(Suggestions(()))
    if after is not None:
        record = await load_query(after, caller)
        return ApiResponse(
            Suggestions(await caller.engine.suggest(record.answer, collection=found.name))
        )
    if not await asyncio.to_thread(caller.engine.parts.catalogue.languages, found):
        return ApiResponse(Suggestions(()))
    suggested = await caller.engine.suggest(
        beginning, collection=found.name, language=caller.language
    )
    return ApiResponse(Suggestions(suggested))
