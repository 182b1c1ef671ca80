"""Exports of answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from quoth.history.export import Format, exported
from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.responses import service_address
from quoth.interfaces.http.routes.queries import load_query
from quoth.interfaces.http.schemas import OneId, text_content
from quoth.interfaces.links import public_answer

router = APIRouter(tags=["questions"])

MEDIA = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}


@router.get(
    "/v1/queries/{query_id}/export",
    summary="Export an answer",
    response_class=Response,
    responses={
        200: {
            "description": "The answer with its citations, as a file.",
            "content": text_content(MEDIA.values()),
        }
    },
)
async def export(
    query_id: OneId,
    caller: Owner,
    request: Request,
    form: Annotated[Format, Query(alias="format", description="The output format.")] = "md",
) -> Response:
    """Return an answer with its citations and sources as Markdown, HTML, JSON or CSV."""
    record = await load_query(query_id, caller)
    base = service_address(request)
    record = replace(record, answer=public_answer(record.answer, base=base))
    text = await asyncio.to_thread(exported, record, form)
    return Response(
        text.encode("utf-8", "replace"),
        media_type=MEDIA[form],
        headers={
            "content-disposition": f'attachment; filename="{record.query_id}.{form}"',
            "x-content-type-options": "nosniff",
        },
    )
