"""Connections that are too slow are closed, over real sockets, and no others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from quoth.interfaces.http.server import h11_protocol as connections
from quoth.interfaces.http.server.h11_protocol import LimitedH11Protocol, close_slow_connections
from quoth.interfaces.http.server.run import HttpServer

ENOUGH_S = 3.0


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    for name in ("HEAD_S", "SILENCE_S", "CHECK_S"):
        monkeypatch.setattr(connections, name, 0.2)
    config = uvicorn.Config(
        application, port=0, http=LimitedH11Protocol, lifespan="off", log_config=None
    )
    server = HttpServer(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  uvicorn tells it by no event
        await asyncio.sleep(0.01)
    closing = asyncio.create_task(close_slow_connections(server.server_state.connections))
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving
    closing.cancel()


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
async def test_a_slow_client_is_disconnected(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await is_closed(reader)
        writer.close()


async def test_a_connection_serves_several_requests(
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
async def test_what_is_not_http_gets_a_problem_response(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        head, _blank, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    body_fields = json.loads(body)
    assert head.startswith(b"HTTP/1.1 400")
    assert b"content-type: application/problem+json" in head
    assert b"content-security-policy: " in head
    assert body_fields["code"] == "invalid_input"
    assert f"x-request-id: {body_fields['request_id']}".encode() in head


async def test_connections_over_the_limit_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(monkeypatch) as port:
        monkeypatch.setattr(LimitedH11Protocol, "max_connections", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(reader)
        writer.close()
