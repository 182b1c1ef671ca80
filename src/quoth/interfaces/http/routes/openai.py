"""The OpenAI-compatible API: chat completions and models.

A model is a collection: ``quoth/NAME``, or ``quoth`` for the default one. Unknown names load
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from functools import partial
from secrets import token_hex
from time import time
from typing import Any, Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quoth.answering.answerability import add_warning
from quoth.core.errors import NotFound, QuothError
from quoth.core.events import Event
from quoth.core.types import Answer
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.json_replies import no_json_mode, task_reply, write_json
from quoth.interfaces.http.openai_schemas import (
    OWNER,
    ChatChoice,
    ChatReply,
    ChatRequest,
    Completion,
    ModelInfo,
    Models,
    chat_citations,
    split_messages,
    to_openai_error,
    to_query,
    token_usage,
)
from quoth.interfaces.http.problem_details import NO_MODEL, UnknownModel, problem
from quoth.interfaces.http.request_state import Principal, RequestState
from quoth.interfaces.http.requests import (
    listing_of,
    recorder_for,
    require_collection,
    require_documents,
)
from quoth.interfaces.http.responses import ApiResponse, service_address, to_json, to_public
from quoth.interfaces.http.signed_links import (
    LinkKind,
    Sign,
    citation_signer,
    shown_events,
    sign_answer,
)
from quoth.interfaces.http.sse import EventStream, until_hits
from quoth.interfaces.links import Place, public_answer, public_link, public_place
from quoth.interfaces.markdown import markdown_sentences, to_markdown
from quoth.pipeline.egress import apply_privacy_settings, count_tokens
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request as Question
from quoth.store.rows import Collection

Keep = Callable[[Record], None]
NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

router = APIRouter(tags=["others"])


@router.get("/v1/models", summary="List models", response_model=Models)
async def list_models(caller: Reader) -> Response:
    """List the models: one for each collection, and ``quoth`` for the default one."""
    listing = listing_of(caller.engine)
    found = await asyncio.to_thread(listing.collections, only=caller.collection)
    default = caller.collection or caller.engine.parts.settings.collection
    names = [collection.name for collection in found]
    ids = [*([OWNER] if default in names else []), *(f"{OWNER}/{name}" for name in names)]
    return ApiResponse(Models(tuple(ModelInfo(name) for name in ids)))


@router.get("/v1/models/{model:path}", summary="Show one model", response_model=ModelInfo)
async def one_model(model: str, caller: Reader) -> Response:
    """Return one model."""
    await _collection(caller, model, find=require_collection)
    return ApiResponse(ModelInfo(model))


@router.post(
    "/v1/chat/completions",
    summary="Ask as clients of OpenAI do",
    response_model=Completion,
    responses={
        200: {
            "description": "The answer, or with `stream` its pieces, which end with `[DONE]`.",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": 'data: {"object":"chat.completion.chunk", …}\n\n',
                }
            },
        }
    },
)
async def complete(
    body: ChatRequest, request: Request, caller: Reader, links: LinkKind = None
) -> Response:
    """Answer the last message of the user; marks in the text are links that open the places.

    With ``stream`` the answer comes as server-sent events, each sentence once it is checked.
    ``quoth`` holds the citations, on the last piece of a stream.
    """
    query, history = split_messages(body.messages)
    if (reply := task_reply(query)) is not None:
        return _plain(body, reply)
    collection = await _collection(caller, body.model, find=require_documents)
    question = Question(
        to_query(query),
        choices={
            "temperature": body.temperature,
            "max_tokens": body.max_completion_tokens or body.max_tokens,
            "cache": "none" if body.store is False else None,
        },
        collections=(collection,),
        history=history,
    )
    base = service_address(request)
    keep = recorder_for(caller, store=body.store is not False)
    sign = citation_signer(request, caller, links)
    if body.json_schema is not None:
        return await _json(body, question, caller=caller, base=base, keep=keep, sign=sign)
    if not body.stream:
        answer = sign_answer(await caller.engine.answer(question, keep=keep), sign)
        return ApiResponse(_completion(public_answer(answer, base=base), body))

    def publish(place: Place) -> Place:
        return public_place(base, place if sign is None else sign(place))

    events = shown_events(caller.engine.stream(question, keep=keep), publish)
    include_usage = body.stream_options is not None and body.stream_options.include_usage
    return EventStream(
        events,
        first=await until_hits(events),
        encode=partial(_chunks, base=base, body=body, include_usage=include_usage),
        encode_error=_error_chunk,
    )


async def _json(
    body: ChatRequest,
    question: Question,
    *,
    caller: Principal,
    base: str,
    keep: Keep,
    sign: Sign | None,
) -> Response:
    """Answer with a JSON object; a stream sends it as one piece."""
    parts = await asyncio.to_thread(apply_privacy_settings, caller.engine.parts)
    if (generator := parts.generator) is None:
        raise no_json_mode(caller.engine.parts, parts)
    answer = await caller.engine.answer(question, keep=keep)
    text = await write_json(answer, schema=body.json_schema or {}, generator=generator)
    tokens = sum(generator.count_tokens([answer.text, text]))
    await asyncio.to_thread(count_tokens, parts, tokens)
    answer = public_answer(sign_answer(answer, sign), base=base)
    citations = to_public(chat_citations(answer, warnings=body.warnings()))
    return _plain(body, text, usage=to_public(token_usage(answer)), quoth=citations)


async def _chunks(
    events: AsyncGenerator[Event, None], *, base: str, body: ChatRequest, include_usage: bool
) -> AsyncGenerator[bytes, None]:
    """Write an answer as the chunks of a chat completion."""
    head = _chunk_head(body.model)
    chunk = partial(_chunk, head)
    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(to_markdown(events, address=partial(public_link, base))) as pieces:
        async for piece in pieces:
            if isinstance(piece, str):
                yield chunk({"content": piece})
                continue
            citations = to_public(
                chat_citations(public_answer(piece, base=base), warnings=body.warnings())
            )
            yield chunk({}, finish_reason=_finish_reason(piece), quoth=citations)
            if include_usage:
                yield _data({**head, "choices": [], "usage": to_public(token_usage(piece))})
    yield b"data: [DONE]\n\n"


def _chunk_head(model: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{token_hex(12)}",
        "object": "chat.completion.chunk",
        "created": int(time()),
        "model": model,
    }


def _chunk(
    head: dict[str, Any], delta: dict[str, str], *, finish_reason: str | None = None, **more: Any
) -> bytes:
    choice = {"delta": delta, "index": 0, "finish_reason": finish_reason, "logprobs": None}
    return _data({**head, "choices": [choice], **more})


def _plain(
    body: ChatRequest, text: str, *, usage: dict[str, int] = NO_USAGE, **more: Any
) -> Response:
    """Return a text as the whole reply, with ``more`` beside it."""
    head = _chunk_head(body.model)
    if not body.stream:
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None}
        choice |= {"message": {"role": "assistant", "content": text, "refusal": None}}
        head["object"] = "chat.completion"
        return ApiResponse({**head, "choices": [choice], "usage": usage, **more})
    pieces = (
        _chunk(head, {"role": "assistant", "content": text}),
        _chunk(head, {}, finish_reason="stop", **more),
        b"data: [DONE]\n\n",
    )
    return Response(b"".join(pieces), media_type="text/event-stream")


def _error_chunk(error: QuothError, request: RequestState) -> bytes:
    found = problem(error, request_id=request.request_id, language=request.language)
    return b"data: %s\n\n" % to_openai_error(found, error).body


def _data(value: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % to_json(value)


def _completion(answer: Answer, body: ChatRequest) -> Completion:
    text = "".join(markdown_sentences(answer, address=lambda link, _document: link))
    return Completion(
        id=f"chatcmpl-{token_hex(12)}",
        created=int(time()),
        model=body.model,
        choices=(ChatChoice(ChatReply(text), _finish_reason(answer)),),
        usage=token_usage(answer),
        quoth=chat_citations(answer, warnings=body.warnings()),
    )


def _finish_reason(answer: Answer) -> Literal["stop", "length"]:
    """Return "length" where a language model's answer was cut off."""
    cut = add_warning("cut", language=answer.query.language)
    return "length" if cut in answer.warnings else "stop"


async def _collection(
    caller: Principal, model: str, *, find: Callable[[Principal, str | None], Collection]
) -> str:
    """Return the collection of a model, as ``find`` does; raises UnknownModel."""
    owner, slash, name = model.partition("/")
    if owner == OWNER and bool(name) == bool(slash):
        with suppress(NotFound):
            return (await asyncio.to_thread(find, caller, name or None)).name
    raise UnknownModel(NO_MODEL)
