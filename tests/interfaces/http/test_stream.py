"""Streams: what is sent, how they end, and that nothing goes on when nobody listens."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from quoth.core.errors import RetrievalError
from quoth.core.events import AnswerCompleted, Event, StageStarted, TextAdded
from quoth.engine import Engine
from quoth.interfaces.http.sse import EventStream
from quoth.testing import ScriptedGenerator
from tests.pipeline.test_answer_cache import answer_to
from tests.support.service_client import House, listening
from tests.support.small_library import NOTES

QUESTION = "How does a colony stay warm in winter?"
ENDLESS = tuple("The colony shivers to keep warm [Source 1]. " for _ in range(2000))


class Client:
    """The other end of one response; it hangs up after so many messages."""

    def __init__(self, *, leaves_after: int | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self._leaves_after = leaves_after
        self._left = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if self._leaves_after is not None and len(self.sent) >= self._leaves_after:
            self._left.set()
        await asyncio.sleep(0)

    @property
    def text(self) -> str:
        return b"".join(each.get("body", b"") for each in self.sent).decode()


async def stream_to(client: Client, events: AsyncGenerator[Event, None]) -> None:
    response = EventStream(events, first=[await anext(events)])
    scope = {"type": "http", "method": "POST", "path": "/v1/query", "headers": []}
    await response(scope, client.receive, client.send)


async def test_a_failure_is_the_last_event_and_tells_nothing_of_the_inside() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield StageStarted("retrieve")
        raise RetrievalError("The catalogue failed: no such table /srv/secret.")

    client = Client()
    await stream_to(client, events())
    name, data = client.text.strip().split("\n\n")[-1].split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["code"] == "retrieval_failed"
    assert "secret" not in client.text


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        (["Bees make", " honey. [1]"], ["token", "token", "done"]),
        (["Ada Lovelace made it."], ["token", "replaced", "done"]),
    ],
)
async def test_an_answer_that_is_replaced_says_so_before_it_is_done(
    sent: list[str], names: list[str]
) -> None:
    answer = replace(answer_to("Who makes honey?"), text="Bees make honey. [1]")

    async def events() -> AsyncGenerator[Event, None]:
        for each in sent:
            yield TextAdded(each)
        yield AnswerCompleted(answer)

    client = Client()
    await stream_to(client, events())
    told = [each.split("\n") for each in client.text.strip().split("\n\n")]
    assert [name.removeprefix("event: ") for name, _data in told] == names
    if "replaced" in names:
        assert json.loads(told[-2][1].removeprefix("data: "))["text"] == answer.text


async def test_what_nobody_expected_ends_the_stream_with_an_error_too() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield StageStarted("retrieve")
        raise RuntimeError("a bug")

    client = Client()
    with pytest.raises(BaseException, match="unhandled errors") as raised:
        await stream_to(client, events())
    assert raised.group_contains(RuntimeError, match="a bug")
    assert client.text.split("\n\n")[-2].startswith("event: error")
    assert "bug" not in client.text


async def test_the_events_are_closed_when_the_client_leaves() -> None:
    closed = False

    async def events() -> AsyncGenerator[Event, None]:
        nonlocal closed
        try:
            yield StageStarted("retrieve")
            while True:
                await asyncio.sleep(0.01)
                yield TextAdded("on and on ")
        finally:
            closed = True

    async with asyncio.timeout(5):
        await stream_to(Client(leaves_after=5), events())
    assert closed


async def test_a_stream_that_is_cut_off_by_the_server_says_so() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield StageStarted("retrieve")
        await asyncio.sleep(3600)

    client = Client()
    streaming = asyncio.create_task(stream_to(client, events()))
    await asyncio.sleep(0.05)
    streaming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await streaming
    assert "event: error" in client.text


def test_a_client_that_hangs_up_ends_the_call_to_the_model(tmp_path: Path) -> None:
    generator = ScriptedGenerator(*ENDLESS, pause_s=0.02)

    async def prepare(house: House) -> str:
        notes = tmp_path / "notes.md"
        notes.write_text(NOTES, encoding="utf-8")
        await house.add("ada", notes)
        engine: Engine = house.tenants.engine("ada")
        engine.parts = replace(engine.parts, generator=generator)
        return house.key("ada")

    with listening(tmp_path / "home", prepare) as (address, key, _house):
        headers = {"authorization": f"Bearer {key}"}
        asked = {"query": QUESTION, "stream": True}
        seen = 0
        with httpx.stream(
            "POST", f"{address}/v1/query", json=asked, headers=headers, timeout=20
        ) as response:
            for line in response.iter_lines():
                seen += line == "event: token"
                if seen == 3:
                    break
        until = time.monotonic() + 5
        while not generator.closed and time.monotonic() < until:
            time.sleep(0.02)
    assert generator.closed == 1
