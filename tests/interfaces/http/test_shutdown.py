"""How the service ends: nothing new, what is under way finished or told, never a torn answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from quoth.interfaces.http.middleware.shutdown import InFlightRequests, ShutdownMiddleware


class Slow:
    """Answers once it may; ``kind`` is the media type, and a stream says a word at once."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.may_end = asyncio.Event()
        self.begun = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams = self.kind == "text/event-stream"
        start = {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", self.kind.encode())],
        }
        if streams:
            await send(start)
            await send({"type": "http.response.body", "body": b"event: a\n\n", "more_body": True})
        self.begun.set()
        await self.may_end.wait()
        if not streams:
            await send(start)
        await send({"type": "http.response.body", "body": b"end"})


async def ask(app: Any, path: str = "/v1/query") -> httpx.Response:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.get(path)


@pytest.mark.parametrize("state", ["starting", "stopping"])
async def test_nothing_is_begun_before_the_start_and_after_the_end(state: Any) -> None:
    answer = await ask(ShutdownMiddleware(Slow("text/plain"), presence=InFlightRequests(state)))
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.headers["connection"] == "close"
    assert answer.json()["code"] == "interrupted"


async def test_who_looks_after_the_service_is_answered_meanwhile() -> None:
    inside = Slow("text/plain")
    inside.may_end.set()
    answer = await ask(
        ShutdownMiddleware(inside, presence=InFlightRequests("stopping")), "/healthz"
    )
    assert answer.status_code == 200


async def test_what_is_under_way_is_finished() -> None:
    inside, presence = Slow("application/json"), InFlightRequests()
    asked = asyncio.create_task(ask(ShutdownMiddleware(inside, presence=presence)))
    await inside.begun.wait()
    stopped = asyncio.create_task(presence.stop(within_s=20))
    await asyncio.sleep(0)
    inside.may_end.set()
    await stopped
    assert (await asked).text == "end"


async def interrupted(kind: str, path: str = "/v1/query") -> httpx.Response:
    inside, presence = Slow(kind), InFlightRequests()
    asked = asyncio.create_task(ask(ShutdownMiddleware(inside, presence=presence), path))
    await inside.begun.wait()
    await presence.stop(within_s=0.01)
    assert presence.under_way == 0
    return await asked


async def test_a_stream_that_does_not_end_is_ended_with_an_event() -> None:
    *_, last = (await interrupted("text/event-stream")).text.strip().split("\n\n")
    name, data = last.split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["code"] == "interrupted"


async def test_a_stream_of_the_openai_kind_is_ended_in_its_own_way() -> None:
    answer = await interrupted("text/event-stream", "/v1/chat/completions")
    *_, last = answer.text.strip().split("\n\n")
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "interrupted"


async def test_an_answer_that_is_not_whole_becomes_a_refusal() -> None:
    answer = await interrupted("application/json")
    assert (answer.status_code, answer.json()["code"]) == (503, "interrupted")


async def test_with_nothing_under_way_the_end_comes_at_once() -> None:
    async with asyncio.timeout(1):
        await InFlightRequests().stop(within_s=20)
