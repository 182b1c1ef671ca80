"""The routes that a client of OpenAI speaks to: chat completions and models.

A model is a collection: ``quoth/NAME``, or ``quoth`` for the usual one. Naming one that is not
there loads nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from functools import partial
from secrets import token_hex
from time import time
from typing import Any, Literal

from anyio import move_on_after
from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from quoth.answering.finalize import add_warning
from quoth.core.errors import NotFound, QuothError
from quoth.core.events import AnswerCompleted, Event, HitsFound
from quoth.core.types import Answer
from quoth.interfaces.http.dependencies import Principal, Reader
from quoth.interfaces.http.openai_schemas import (
    OWNER,
    ChatChoice,
    ChatReply,
    ChatRequest,
    Completion,
    ModelInfo,
    Models,
    as_openai,
    asked,
    proof,
    tokens,
)
from quoth.interfaces.http.problem_details import (
    ProblemResponse,
    as_response,
    id_of,
    problem,
)
from quoth.interfaces.http.requests import (
    collection_of,
    listing_of,
    parse_question,
    recorder_for,
)
from quoth.interfaces.http.responses import (
    ApiResponse,
    as_bytes,
    shown_answer,
    shown_link,
    to_public,
)
from quoth.interfaces.http.sse import (
    BROKEN_OFF,
    LAST_WORDS_S,
    EventStream,
    Say,
)
from quoth.interfaces.markdown import linked, to_markdown
from quoth.pipeline.retrieve import Request as Question
from quoth.store.rows import Collection

NO_MODEL = "There is no such model here. Those there are stand at /v1/models."


class UnknownModel(NotFound):
    """No collection of the caller's goes by this model's name."""

    code = "model_not_found"


class OpenAIRoute(APIRoute):
    """A route whose errors have the shape that clients of OpenAI read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give the route's work with its errors turned into responses."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await answer(request)
            except (QuothError, RequestValidationError, HTTPException) as error:
                return as_response(to_message(error, request_id=id_of(request)))

        return handle


router = APIRouter(route_class=OpenAIRoute, tags=["others"])


def to_message(error: Exception, *, request_id: str) -> ProblemResponse:
    """Turn an error into what is sent of it."""
    found = problem(error, request_id=request_id)
    if isinstance(error, UnknownModel):
        return as_openai(found, param="model", code=error.code, message=NO_MODEL)
    if isinstance(error, RequestValidationError) and error.errors():
        place = [str(each) for each in error.errors()[0]["loc"] if each != "body"]
        return as_openai(found, param=".".join(place)[:120] or None)
    return as_openai(found)


@router.get("/v1/models", summary="List what can be asked", response_model=Models)
async def list_models(caller: Reader) -> Response:
    """List the models: one for each collection, and ``quoth`` for the usual one."""
    listing = listing_of(caller.engine)
    found = await asyncio.to_thread(listing.collections, only=caller.collection)
    usual = caller.collection or caller.engine.parts.settings.collection
    bare = (ModelInfo(OWNER),) if any(each.name == usual for each in found) else ()
    return ApiResponse(Models((*bare, *(ModelInfo(f"{OWNER}/{each.name}") for each in found))))


@router.get("/v1/models/{model:path}", summary="Show one model", response_model=ModelInfo)
async def one_model(model: str, caller: Reader) -> Response:
    """Give one model."""
    await _collection(caller, model, find=collection_of)
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
async def complete(body: ChatRequest, request: Request, caller: Reader) -> Response:
    """Answer the last message of the user; marks in the text are links that open the places.

    With ``stream`` the answer comes as server-sent events, each sentence once it is checked.
    ``quoth`` holds the citations, on the last piece of a stream.
    """
    question, history = asked(body.messages)
    collection = await _collection(caller, body.model, find=parse_question)
    wanted = Question(
        question,
        choices={
            "temperature": body.temperature,
            "max_tokens": body.max_completion_tokens or body.max_tokens,
            "cache": "none" if body.store is False else None,
        },
        collections=(collection,),
        history=history,
    )
    base = str(request.base_url).rstrip("/")
    keep = recorder_for(caller, store=body.store is not False)
    if not body.stream:
        answer = await caller.engine.answer(wanted, keep=keep)
        return ApiResponse(_completion(shown_answer(answer, base=base), body.model))
    events = caller.engine.stream(wanted, keep=keep)
    first = await _begun(events)
    usage = body.stream_options is not None and body.stream_options.include_usage
    return Chunks(events, first=first, caller=caller, base=base, model=body.model, usage=usage)


class Chunks(EventStream):
    """An answer as the pieces of a chat completion."""

    def __init__(
        self,
        events: AsyncGenerator[Event, None],
        *,
        first: Event,
        caller: Principal,
        base: str,
        model: str,
        usage: bool,
    ) -> None:
        super().__init__(events, first=first, request_id=caller.request_id)
        self.whole = _with(first, events)
        self.base = base
        self.usage = usage
        self.about = {
            "id": f"chatcmpl-{token_hex(12)}",
            "object": "chat.completion.chunk",
            "created": int(time()),
            "model": model,
        }

    async def _send_all(self, say: Say) -> None:
        ended = False
        try:
            await say(self._chunk({"role": "assistant", "content": ""}))
            pieces = to_markdown(self.whole, address=partial(shown_link, self.base))
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, str):
                        await say(self._chunk({"content": piece}))
                    else:
                        await self._end(piece, say)
            ended = True
            await say(b"data: [DONE]\n\n", more=False)
        except QuothError as error:
            ended = True
            await say(_line(to_message(error, request_id=self.request_id).body), more=False)
        finally:
            if not ended:
                with move_on_after(LAST_WORDS_S, shield=True):
                    await say(
                        _line(to_message(BROKEN_OFF, request_id=self.request_id).body), more=False
                    )

    async def _end(self, answer: Answer, say: Say) -> None:
        """Say how the answer ended, what proves it and, where it is asked for, what it took."""
        shown_one = shown_answer(answer, base=self.base)
        ended = {"delta": {}, "index": 0, "finish_reason": _finish(answer), "logprobs": None}
        last = {**self.about, "choices": [ended], "quoth": to_public(proof(shown_one))}
        await say(_line(as_bytes(last)))
        if self.usage:
            used = {**self.about, "choices": [], "usage": to_public(tokens(answer))}
            await say(_line(as_bytes(used)))

    def _chunk(self, delta: dict[str, str]) -> bytes:
        choice = {"delta": delta, "index": 0, "finish_reason": None, "logprobs": None}
        return _line(as_bytes({**self.about, "choices": [choice]}))


def _line(data: bytes) -> bytes:
    return b"data: %s\n\n" % data


async def _with(first: Event, rest: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    yield first
    async for event in rest:
        yield event


async def _begun(events: AsyncGenerator[Event, None]) -> Event:
    """Wait until passages are there: what fails before that has a status of its own."""
    try:
        async for event in events:
            if isinstance(event, HitsFound | AnswerCompleted):
                return event
    except BaseException:
        await events.aclose()
        raise
    raise AssertionError("an answer ends with Done")


def _completion(answer: Answer, model: str) -> Completion:
    text = "".join(linked(answer, address=lambda link, _document: link))
    return Completion(
        id=f"chatcmpl-{token_hex(12)}",
        created=int(time()),
        model=model,
        choices=(ChatChoice(ChatReply(text), _finish(answer)),),
        usage=tokens(answer),
        quoth=proof(answer),
    )


def _finish(answer: Answer) -> Literal["stop", "length"]:
    """Say whether a model broke its answer off, for want of room or for any other reason."""
    return (
        "length"
        if add_warning("cut", language=answer.query.language) in answer.warnings
        else "stop"
    )


async def _collection(
    caller: Principal, model: str, *, find: Callable[[Principal, str | None], Collection]
) -> str:
    """Give the collection of a model, as ``find`` does; raises UnknownModel."""
    owner, slash, name = model.partition("/")
    if owner == OWNER and bool(name) == bool(slash):
        with suppress(NotFound):
            return (await asyncio.to_thread(find, caller, name or None)).name
    raise UnknownModel(NO_MODEL)
