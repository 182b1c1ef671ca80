"""The route for search: ranked passages without an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from quoth.core.trace import Trace
from quoth.core.types import Hit, Query
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.requests import to_request
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import SearchRequest

router = APIRouter(tags=["questions"])

EXAMPLE = {
    "search": {
        "summary": "Five passages by keywords only",
        "value": {"query": "tokenizer training", "mode": "keyword", "top_k": 5},
    }
}


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The passages for a query, best first, and how the query was analysed."""

    query: Query
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...]
    degraded: tuple[str, ...]
    timings_ms: dict[str, float]


@router.post("/v1/search", summary="Search passages", response_model=SearchResults)
async def search(
    body: Annotated[SearchRequest, Body(openapi_examples=EXAMPLE)],
    caller: Reader,
) -> Response:
    """Rank passages for a query; nothing is stored."""
    request = await to_request(body, caller)
    trace = Trace(deadline_ms=None if body.max_ms is None else float(body.max_ms))
    found = await caller.engine.retrieve(request, trace=trace)
    ranked = SearchResults(
        found.query, found.hits, found.warnings, trace.degraded, trace.timings_ms()
    )
    return ApiResponse(ranked)
