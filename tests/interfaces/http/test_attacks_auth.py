"""Attacks on the gate: keys that end in mid-stream, several of them, and lengths that disagree."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from quoth.core.events import StageStarted
from quoth.interfaces.http.routes.openai import _error_chunk
from quoth.interfaces.http.server.run import listening
from quoth.interfaces.http.sse import EventStream
from quoth.store.keys import Keys
from tests.support.auth_app import House, gated
from tests.support.upload_service import open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with gated(tmp_path) as opened:
        yield opened


def asked(house: House, token: str, *, path: str = "/v1/x", method: str = "GET") -> Scope:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token}".encode())]
    return {
        "type": "http",
        "app": None,
        "method": method,
        "path": path,
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }


async def never() -> Message:
    await asyncio.sleep(60)
    return {"type": "http.disconnect"}


@pytest.mark.parametrize(
    ("path", "encode_error", "last"),
    [
        ("/v1/x", None, b"event: error\n"),
        ("/v1/chat/completions", _error_chunk, b'data: {"error": {"message": "This key is'),
    ],
)
async def test_a_stream_ends_when_its_key_is_revoked(
    tmp_path: Path, path: str, encode_error: Any, last: bytes
) -> None:
    ended = False

    async def endless() -> AsyncGenerator[StageStarted, None]:
        nonlocal ended
        try:
            while True:
                yield StageStarted("retrieve")
                await asyncio.sleep(0.001)
        finally:
            ended = True

    stream = EventStream(endless(), encode_error=encode_error)
    async with gated(tmp_path, app=stream) as house:
        made, sent = house.key(), []

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == 5:
                Keys(house.tenants.database, tenant="ada").revoke(made.key.key_id)
                house.clock.now += 1

        async with asyncio.timeout(5):
            await house.gate(asked(house, made.token, path=path), never, send)
    assert len(sent) == 6
    assert sent[-1]["body"].startswith(last)
    assert ended


async def test_a_long_file_ends_when_its_key_is_revoked(tmp_path: Path) -> None:
    async def endless(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async with gated(tmp_path, app=endless) as house:
        made, sent = house.key(), []

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == 5:
                Keys(house.tenants.database, tenant="ada").revoke(made.key.key_id)
                house.clock.now += 1

        async with asyncio.timeout(5):
            await house.gate(asked(house, made.token), never, send)
    assert len(sent) == 5


async def test_a_body_stops_with_the_key_that_sends_it(house: House) -> None:
    made, sent = house.key(), []
    pieces = 0

    async def receive() -> Message:
        nonlocal pieces
        pieces += 1
        if pieces == 3:
            Keys(house.tenants.database, tenant="ada").revoke(made.key.key_id)
            house.clock.now += 1
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    async with asyncio.timeout(5):
        await house.gate(asked(house, made.token, method="POST"), receive, send)
    assert (pieces, sent[0]["status"]) == (3, 401)


async def test_a_key_that_revokes_itself_is_told_so(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, house.client(house.key("ada")) as client:
        key_id = (await client.get("/v1/keys")).json()[0]["key_id"]
        assert (await client.delete(f"/v1/keys/{key_id}")).status_code == 204


async def test_two_keys_in_one_request_open_nothing(house: House) -> None:
    good, second = house.key().token, house.key().token
    bearer, basic = ("authorization", f"Bearer {good}"), ("authorization", "Basic YTpi")
    bare, other = ("x-api-key", good), ("x-api-key", second)
    for sent in ([bearer, bearer], [bare, bare], [basic, basic, bare], [bearer, other]):
        async with house.client() as client:
            answer = await client.get("/v1/x", headers=httpx.Headers(sent))
        assert answer.status_code == 401
    assert house.inside.calls == 0
    # A name and password for a proxy are no key, and neither is an empty header.
    for sent in ([bearer, bare], [basic, bare], [bearer, ("x-api-key", "")]):
        async with house.client() as client:
            answer = await client.get("/v1/x", headers=httpx.Headers(sent))
        assert answer.status_code != 401
    assert house.inside.calls == 3


async def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(
    house: House,
) -> None:
    both = {"content-length": "5", "transfer-encoding": "chunked"}
    async with house.client(house.key().token) as client:
        answer = await client.post("/v1/x", content=b"abcde", headers=both)
    assert (answer.status_code, answer.headers["connection"]) == (422, "close")
    assert house.inside.calls == 0


async def test_a_key_that_may_not_read_shares_nothing(tmp_path: Path) -> None:
    async with (
        open_house(tmp_path) as house,
        house.client(house.key("ada", scopes=("admin",))) as client,
    ):
        answer = await client.post("/v1/shares", json={"collection": "default"})
    assert answer.status_code == 403


async def test_a_share_hears_nothing_of_other_files(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, house.client(house.key("ada")) as client:
        await client.post("/v1/collections", json={"name": "open"})
        assert (await client.get("/readyz")).json()["files"]
        async with house.client(house.share("ada", collection="open")) as guest:
            assert (await guest.get("/readyz")).json()["files"] == {}


def test_no_answer_waits_for_an_acknowledgement() -> None:
    with (
        listening("127.0.0.1", 0) as bound,
        socket.create_connection(bound.getsockname()),
        bound.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
