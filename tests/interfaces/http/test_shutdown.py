"""Shutdown: nothing new begins, requests in flight are finished or end with `interrupted`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from quoth.core.events import StageStarted
from quoth.interfaces.http.middleware.shutdown import InFlightRequests, ShutdownMiddleware
from quoth.interfaces.http.routes.openai import _error_chunk
from quoth.interfaces.http.sse import EventStream


class Slow:
    """Answers once it may; ``kind`` is the media type."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.may_end = asyncio.Event()
        self.begun = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.set()
        await self.may_end.wait()
        headers = [(b"content-type", self.kind.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"end"})


async def ask(app: Any, path: str = "/v1/query") -> httpx.Response:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.get(path)


@pytest.mark.parametrize("state", ["starting", "stopping"])
async def test_requests_are_refused_before_the_start_and_after_the_end(state: Any) -> None:
    answer = await ask(ShutdownMiddleware(Slow("text/plain"), requests=InFlightRequests(state)))
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.headers["connection"] == "close"
    assert answer.json()["code"] == "interrupted"


async def test_a_browser_gets_a_page_that_is_loaded_again() -> None:
    app = ShutdownMiddleware(Slow("text/plain"), requests=InFlightRequests("starting"))
    transport = httpx.ASGITransport(app=app)
    headers = {"accept": "text/html,*/*;q=0.8", "accept-language": "fr"}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.get("/", headers=headers)
    assert (answer.status_code, answer.headers["refresh"]) == (503, "5")
    assert "Le service démarre" in answer.text
    assert "style-src 'unsafe-inline'" in answer.headers["content-security-policy"]


async def test_health_is_answered_meanwhile() -> None:
    inside = Slow("text/plain")
    inside.may_end.set()
    answer = await ask(
        ShutdownMiddleware(inside, requests=InFlightRequests("stopping")), "/healthz"
    )
    assert answer.status_code == 200


async def test_requests_in_flight_are_finished() -> None:
    inside, requests = Slow("application/json"), InFlightRequests()
    asked = asyncio.create_task(ask(ShutdownMiddleware(inside, requests=requests)))
    await inside.begun.wait()
    stopped = asyncio.create_task(requests.stop(within_s=20))
    await asyncio.sleep(0)
    inside.may_end.set()
    await stopped
    assert (await asked).text == "end"


async def interrupted(inside: Any, path: str = "/v1/query") -> httpx.Response:
    requests = InFlightRequests()
    asked = asyncio.create_task(ask(ShutdownMiddleware(inside, requests=requests), path))
    await inside.begun.wait()
    await requests.stop(within_s=0.01)
    assert len(requests) == 0
    return await asked


class Streaming:
    """Streams an event, and never ends."""

    def __init__(self, encode_error: Any) -> None:
        self.begun = asyncio.Event()
        self.encode_error = encode_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def events() -> AsyncGenerator[StageStarted, None]:
            yield StageStarted("retrieve")
            self.begun.set()
            await asyncio.Event().wait()

        await EventStream(events(), encode_error=self.encode_error)(scope, receive, send)


async def test_a_stream_that_does_not_end_is_ended_with_an_event() -> None:
    *_, last = (await interrupted(Streaming(None))).text.strip().split("\n\n")
    name, data = last.split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["code"] == "interrupted"


async def test_a_stream_of_the_openai_api_ends_in_its_own_form() -> None:
    answer = await interrupted(Streaming(_error_chunk), "/v1/chat/completions")
    *_, last = answer.text.strip().split("\n\n")
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "interrupted"
