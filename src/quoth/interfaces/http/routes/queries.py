"""Routes for queries, search, the history of queries, and exports of answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Denied, InputError, NotFound
from quoth.core.plan import MODE_SPELLINGS
from quoth.core.trace import Trace
from quoth.core.types import Answer, Hit
from quoth.core.types import Query as AnalysedQuery
from quoth.history.explain import Explanation, explain
from quoth.history.export import Format, exported
from quoth.history.replay import replay, to_text
from quoth.history.source_changes import ChangedSource, changed_sources
from quoth.history.why_not import WhyNot, why_not
from quoth.interfaces.http.dependencies import Owner, Reader
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import recorder_for, require_collection, to_request
from quoth.interfaces.http.responses import ApiResponse, answer_for, service_address
from quoth.interfaces.http.schemas import (
    AskRequest,
    Id,
    InCollection,
    Limit,
    OneId,
    SearchRequest,
    Skip,
    Words,
    text_content,
)
from quoth.interfaces.http.schemas import Body as RequestBody
from quoth.interfaces.http.signed_links import (
    LinkKind,
    citation_signer,
    shown_events,
    sign_answer,
)
from quoth.interfaces.http.sse import EventStream, until_hits
from quoth.interfaces.http.text_rules import Text
from quoth.interfaces.links import public_answer
from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import load_record
from quoth.pipeline.retrieve import Request as EngineRequest
from quoth.pipeline.uploads import upload_store
from quoth.store.analytics import AnalyticsReader, Feedback
from quoth.store.history import QuerySummary

router = APIRouter(tags=["questions"])
UNKNOWN = "There is no question with the id '{}'."
MEDIA_TYPES = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}
"""The media types of exports."""

EXAMPLE = {
    "answer": {
        "summary": "An answer as one object",
        "value": {"query": "What is transfer learning?", "collection": "default"},
    },
    "stream": {
        "summary": "The same as a stream",
        "value": {"query": "What is transfer learning?", "stream": True},
    },
    "narrow": {
        "summary": "Only on some pages of the PDFs of two collections",
        "value": {
            "query": "How is a model fine-tuned?",
            "scope": {"collections": ["course", "talks"], "kinds": ["pdf"]},
            "filters": {"page": "12-40"},
            "top_k": 5,
            "llm": "none",
            "store": False,
        },
    },
}
SEARCH_EXAMPLE = {
    "search": {
        "summary": "Five passages by keywords only",
        "value": {"query": "tokenizer training", "mode": "keyword", "top_k": 5},
    }
}


@dataclass(frozen=True, slots=True)
class QueryPage:
    """A page of queries, the newest first."""

    queries: list[QuerySummary]
    total: int
    skip: int
    limit: int


class QueryTitle(RequestBody):
    """The new title of a question; empty for none."""

    title: Annotated[Text, Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """What was sent with a query, in the fields of a request; None and empty for what was not.

    ``collections`` are those that were searched, the default one too. The limit ``max_ms`` is in
    milliseconds, ``max_usd`` in dollars.
    """

    collections: tuple[str, ...]
    filters: dict[str, str]
    profile: str | None
    llm: str | None
    mode: str | None
    max_ms: int | None
    max_usd: float | None


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query with its answer and feedback.

    ``question`` and the texts of the answer are empty where only a hash was kept. ``options`` are
    what the query can be asked with again. ``changed`` are the citations whose document was updated
    or removed since.
    """

    query_id: str
    created_at: str
    collection: str
    question: str
    options: AskedOptions
    answer: Answer
    changed: list[ChangedSource]
    feedback: Feedback | None


@dataclass(frozen=True, slots=True)
class AnswerExplanation:
    """How an answer came about, and why a passage is not in it."""

    explanation: Explanation
    why_not: WhyNot | None


@router.post(
    "/v1/query",
    summary="Ask a question",
    response_model=Answer,
    responses={
        200: {
            "description": "The answer, or with `stream` its events: `status`, `hits`, `token`, "
            "`citation`, `verification`, `usage`, and `done` or `error` as the last.",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": 'event: token\ndata: {"text":"The idea of","event":"token"}\n\n',
                }
            },
        }
    },
)
async def ask(
    body: Annotated[AskRequest, Body(openapi_examples=EXAMPLE)],
    caller: Reader,
    http: Request,
    links: LinkKind = None,
) -> Response:
    """Answer a query from the documents of a collection, every sentence with its citation.

    With `stream` the events come as they do on the command line. `store: false` keeps nothing.
    """
    request = await to_request(body, caller)
    keep = recorder_for(caller, store=body.store, upload_id=body.upload_id)
    sign = citation_signer(http, caller, links)
    if not body.stream:
        answer = await caller.engine.answer(request, keep=keep)
        return ApiResponse(answer_for(sign_answer(answer, sign), caller.language))
    events = caller.engine.stream(request, keep=keep)
    events = shown_events(events, sign, language=caller.language)
    return EventStream(events, first=await until_hits(events))


@router.get("/v1/queries", summary="List what was asked", response_model=QueryPage)
async def queries(
    caller: Owner,
    skip: Skip = 0,
    limit: Limit = 20,
    collection: InCollection = None,
    upload_id: Annotated[Id | None, Query(description="Only of this upload.")] = None,
    words: Words = "",
) -> Response:
    """List the queries of the whole tenant, by any of its keys, the newest first."""
    catalogue = caller.engine.parts.catalogue
    if upload_id is not None:
        await asyncio.to_thread(upload_store(caller.engine.parts).find, upload_id)
    if collection is not None:
        await asyncio.to_thread(require_collection, caller, collection)
    found = await asyncio.to_thread(
        catalogue.asked,
        skip=skip,
        limit=limit,
        collection=collection,
        upload_id=upload_id,
        words=words,
    )
    total = await asyncio.to_thread(
        catalogue.count_asked, collection=collection, upload_id=upload_id, words=words
    )
    return ApiResponse(QueryPage(found, total, skip, limit))


@router.get("/v1/queries/{query_id}", summary="Show a question again", response_model=QueryRecord)
async def query(query_id: OneId, caller: Owner) -> Response:
    """Return a query with its answer as it was sent."""
    record = await load_query(query_id, caller)
    catalogue = caller.engine.parts.catalogue
    measured = AnalyticsReader.of(catalogue)
    return ApiResponse(
        QueryRecord(
            record.query_id,
            record.created_at,
            record.collection,
            record.request.question,
            _options_of(record.request),
            answer_for(record.answer, caller.language),
            await asyncio.to_thread(changed_sources, catalogue, record.answer),
            await asyncio.to_thread(measured.feedback, query_id),
        )
    )


def _options_of(request: EngineRequest) -> AskedOptions:
    chosen = request.choices
    limit = chosen.get("deadline_ms")
    named = dict(each.partition("=")[::2] for each in request.filters)
    return AskedOptions(
        collections=request.collections,
        filters=named,
        profile=request.profile or None,
        llm="none" if chosen.get("generate") is False else request.model or None,
        mode=MODE_SPELLINGS.get(chosen.get("mode", "")),
        max_ms=None if limit is None else round(limit),
        max_usd=chosen.get("max_usd"),
    )


@router.patch("/v1/queries/{query_id}", summary="Rename a question", status_code=204)
async def rename(query_id: OneId, caller: Owner, changes: QueryTitle) -> Response:
    """Set the title by which a question is listed and found; without one it has its own words."""
    parts = caller.engine.parts
    if parts.settings.history != "full":
        raise InputError("This service stores no texts of questions, and no titles of them.")
    await _require_own(query_id, caller)
    title = changes.title.strip() or None
    if not await asyncio.to_thread(parts.catalogue.rename, query_id, title):
        raise NotFound(UNKNOWN.format(query_id))
    return Response(status_code=204)


@router.delete("/v1/queries/{query_id}", summary="Forget a question", status_code=204)
async def forget(query_id: OneId, caller: Owner) -> Response:
    """Delete a query with its answer, its record and its feedback."""
    parts = caller.engine.parts
    await _require_own(query_id, caller)
    if not await asyncio.to_thread(parts.catalogue.forget, query_id):
        raise NotFound(UNKNOWN.format(query_id))
    parts.cache.clear()
    return Response(status_code=204)


@router.get(
    "/v1/queries/{query_id}/explain", summary="Explain an answer", response_model=AnswerExplanation
)
async def explained(
    query_id: OneId,
    caller: Owner,
    missed: Annotated[
        Text | None,
        Query(
            alias="why_not",
            min_length=3,
            max_length=1000,
            description="Words of a passage that was not cited.",
        ),
    ] = None,
) -> Response:
    """Explain an answer: its stages, every candidate's ranks, and why a passage was missed."""
    record = await load_query(query_id, caller)
    parts = caller.engine.parts
    language = caller.language
    found = await asyncio.to_thread(explain, record, parts.catalogue, language=language)
    asked = None if missed is None else await why_not(missed, record, parts=parts)
    return ApiResponse(AnswerExplanation(found, asked), language=language)


async def _require_own(query_id: str, caller: Principal) -> None:
    """Raise Denied for the question of another key, without the scope ``admin``."""
    if "admin" in caller.scopes:
        return
    asked_by = await asyncio.to_thread(caller.engine.parts.catalogue.asked_by, query_id)
    if asked_by not in (None, caller.key_id):
        raise Denied("Another key asked this question. A key with the scope 'admin' may change it.")


async def load_query(query_id: str, caller: Principal) -> Record:
    """Return the record of a query by its full id; raises NotFound."""
    catalogue = caller.engine.parts.catalogue
    await asyncio.to_thread(catalogue.answer, query_id)
    return await asyncio.to_thread(load_record, catalogue, query_id)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The passages for a query, best first, and how the query was analysed."""

    query: AnalysedQuery
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...]
    degraded: tuple[str, ...]
    timings_ms: dict[str, float]


@router.post("/v1/search", summary="Search passages", response_model=SearchResults)
async def search(
    body: Annotated[SearchRequest, Body(openapi_examples=SEARCH_EXAMPLE)],
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


@router.post("/v1/queries/{query_id}/replay", summary="Ask again and compare")
async def ask_again(query_id: OneId, caller: Owner) -> dict[str, Any]:
    """Ask a question again by the same plan; say what is different. Nothing is stored."""
    record = await load_query(query_id, caller)
    return to_text(await replay(record, caller.engine))


@router.get(
    "/v1/queries/{query_id}/export",
    summary="Export an answer",
    response_class=Response,
    responses={
        200: {
            "description": "The answer with its citations, as a file.",
            "content": text_content(MEDIA_TYPES.values()),
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
        media_type=MEDIA_TYPES[form],
        headers={
            "content-disposition": f'attachment; filename="{record.query_id}.{form}"',
            "x-content-type-options": "nosniff",
        },
    )
