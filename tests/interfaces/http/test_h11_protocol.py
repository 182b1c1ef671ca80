"""Connections that take too long: closed, over real sockets, and nobody else with them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.admission import Connection
from quoth.interfaces.http.middleware.concurrency_limit import Admission, Bounds
from quoth.interfaces.http.server import h11_protocol as connections
from quoth.interfaces.http.server import run as serve
from quoth.interfaces.http.server.h11_protocol import (
    LimitedH11Protocol,
    close_slow_connections,
    slim,
)
from quoth.interfaces.http.server.run import Listener

ENOUGH_S = 3.0


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    for name in ("HEAD_S", "BODY_S", "LOOK_S"):
        monkeypatch.setattr(connections, name, 0.2)
    config = uvicorn.Config(
        application, port=0, http=LimitedH11Protocol, lifespan="off", log_config=None
    )
    server = Listener(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  uvicorn tells it no other way
        await asyncio.sleep(0.01)
    hanging_up = asyncio.create_task(close_slow_connections(server.server_state.connections))
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving
    hanging_up.cancel()


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(ENOUGH_S):
            return await reader.read() == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: a\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab",
    ],
    ids=["nothing", "half a head", "half a body"],
)
async def test_who_does_not_go_on_is_hung_up_on(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await is_closed(reader)
        writer.close()


async def test_who_asks_again_on_the_same_connection_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(2) == b"ok"
            await asyncio.sleep(0.4)  # longer than a head may take: between two there is time
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x00\xff\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: many\r\n\r\n",
    ],
    ids=["another protocol", "no host", "two hosts", "no length"],
)
async def test_what_is_no_request_is_a_problem_too(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        head, _blank, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    said = json.loads(body)
    assert head.startswith(b"HTTP/1.1 400")
    assert b"content-type: application/problem+json" in head
    assert b"content-security-policy: " in head
    assert said["code"] == "invalid_input"
    assert f"x-request-id: {said['request_id']}".encode() in head


async def test_there_are_no_more_connections_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(monkeypatch) as port:
        monkeypatch.setattr(LimitedH11Protocol, "most", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(reader)
        writer.close()


async def test_who_hangs_up_while_waiting_leaves_the_line() -> None:
    line, left = Admission(Bounds(in_flight=1)), asyncio.Event()
    messages = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def receive() -> dict[str, object]:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(_message: object) -> None:
        raise AssertionError("there is nobody to be told")

    connection = Connection(receive, send)

    async def ask() -> None:
        assert await connection.read()
        async with connection.while_there(), line.turn("a"):
            raise AssertionError("his turn did not come")

    async with line.turn("first"):
        asking = asyncio.create_task(ask())
        await asyncio.sleep(0.01)
        assert line.waiting == 1
        left.set()
        await asking
        assert line.waiting == 0


async def test_what_is_refused_while_somebody_waits_is_raised() -> None:
    async def receive() -> dict[str, object]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(_message: object) -> None:
        raise AssertionError

    line = Admission(Bounds(in_flight=1, waiting=0))
    async with line.turn("first"):
        with pytest.raises(Busy):
            async with Connection(receive, send).while_there(), line.turn("a"):
                pass


async def test_the_system_holds_those_who_come_while_the_loop_is_busy() -> None:
    with serve.listening("127.0.0.1", 0) as bound, ExitStack() as opened:
        server = Listener(serve._config(application))
        server.config.lifespan = "off"
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:  # noqa: ASYNC110  uvicorn tells it no other way
            await asyncio.sleep(0.01)
        for _ in range(4 * serve.ACCEPTED_AT_ONCE):  # nothing is accepted in between
            client = opened.enter_context(socket.socket())
            client.settimeout(1.0)
            client.connect(bound.getsockname())
        server.should_exit = True
        await serving


async def test_a_slim_event_wakes_all_who_wait_but_for_who_left() -> None:
    event = asyncio.Event()
    slim(event)
    stays, leaves = (asyncio.create_task(event.wait()) for _ in range(2))
    await asyncio.sleep(0)
    slim(event)
    leaves.cancel()
    await asyncio.sleep(0)
    event.set()
    assert await asyncio.wait_for(stays, ENOUGH_S)
    assert leaves.cancelled()


async def test_the_events_of_a_connection_are_slim(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[asyncio.Event] = []
    took = LimitedH11Protocol.data_received

    def take(self: LimitedH11Protocol, data: bytes) -> None:
        took(self, data)
        seen.extend((self.flow._is_writable_event, self.cycle.message_event))

    monkeypatch.setattr(LimitedH11Protocol, "data_received", take)
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
    assert [type(each._waiters).__name__ for each in seen] == ["list", "list"]
