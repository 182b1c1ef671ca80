"""The route that asks a stored question again and compares."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from quoth.history.replay import replay, to_text
from quoth.interfaces.http.dependencies import Owner
from quoth.interfaces.http.routes.queries import load_query
from quoth.interfaces.http.schemas import OneId

router = APIRouter(tags=["questions"])


@router.post("/v1/queries/{query_id}/replay", summary="Ask again and compare")
async def ask_again(query_id: OneId, caller: Owner) -> dict[str, Any]:
    """Ask a question again by the same plan; say what is different. Nothing is stored."""
    record = await load_query(query_id, caller)
    return to_text(await replay(record, caller.engine))
