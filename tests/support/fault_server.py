"""A server of the OpenAI protocol that fails in every way that providers have failed in.

``Fault`` names the way. The server counts what it was asked, and which of its connections are
still open, so that a test can see what was left behind.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tests.support.llm_servers import OPENAI

Fault = Literal[
    "none",
    "refused",
    "no_such_host",
    "hang_before_headers",
    "hang_after_headers",
    "drip",
    "cut",
    "cut_quietly",
    "garbage",
    "garbage_body",
    "invalid_json",
    "invalid_events",
    "empty",
    "html",
    "unknown_model",
    "limited",
    "unavailable",
    "broken",
    "denied",
    "endless",
    "endless_line",
    "endless_words",
    "endless_drip",
    "packed",
    "reset",
    "reset_in_answer",
]
FAULTS: tuple[Fault, ...] = tuple(each for each in get_args(Fault) if each != "none")
WORDS = ("Water ", "boils ", "at ", "100 ", "degrees ", "[1].")
ANSWER = "".join(WORDS)
NO_HOST = "models.invalid"
HTML = b"<!doctype html><title>Bad gateway</title><h1>Sign in to the network</h1>"
STATUSES: dict[str, tuple[str, str, dict[str, str]]] = {
    "unknown_model": ("404 Not Found", "The model `tiny` does not exist", {}),
    "limited": ("429 Too Many Requests", "Slow down", {"Retry-After": "3600"}),
    "unavailable": ("503 Service Unavailable", "Overloaded", {}),
    "broken": ("500 Internal Server Error", "Oops", {}),
    "denied": ("401 Unauthorized", "Incorrect API key provided: sk-secret", {}),
}
HANGS = 3600.0


@dataclass
class FaultServer:
    """Where it listens, how it fails, and what it has seen; ``drip_s`` lies between two bytes."""

    fault: Fault = "none"
    drip_s: float = 0.5
    port: int = 0
    requests: int = 0
    sent: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    open: set[asyncio.StreamWriter] = field(default_factory=set)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address to give to a client."""
        host = NO_HOST if self.fault == "no_such_host" else "127.0.0.1"
        return f"http://{host}:{self.port}/v1"

    async def all_closed(self) -> bool:
        """Whether every connection was closed, within a second."""
        for _ in range(100):
            if not self.open:
                return True
            await asyncio.sleep(0.01)
        return False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, until either side ends it."""
        self.open.add(writer)
        try:
            request = await _read(reader)
            if request is None:
                return
            self.requests += 1
            self.asked.set()
            self.bodies.append(request)
            answer = asyncio.create_task(self._answer(writer, streamed=bool(request.get("stream"))))
            gone = asyncio.create_task(reader.read(1))
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            for each in (answer, gone):
                each.cancel()
            await asyncio.gather(answer, gone, return_exceptions=True)
        finally:
            self.open.discard(writer)
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, *, streamed: bool) -> None:
        async for data in self._said(writer, streamed=streamed):
            writer.write(data)
            self.sent += len(data)
            await writer.drain()

    async def _said(self, writer: asyncio.StreamWriter, *, streamed: bool) -> AsyncIterator[bytes]:
        fault, sound = self.fault, OPENAI.stream(*WORDS) if streamed else OPENAI.whole(ANSWER)
        body = b"".join(sound.chunks).decode()
        if fault in STATUSES:
            status, message, headers = STATUSES[fault]
            error = {"error": {"message": message, "type": "error", "code": None}}
            yield _head(status, "application/json", json.dumps(error), **headers)
        elif fault == "hang_before_headers":
            await asyncio.sleep(HANGS)
        elif fault == "garbage":
            yield random.Random(7).randbytes(4096)
        elif fault == "html":
            yield _head("200 OK", "text/html", HTML.decode())
        elif fault == "packed":
            yield _head("200 OK", _kind(streamed), "\0" * 64, **{"Content-Encoding": "gzip"})
        elif fault == "reset":
            _reset(writer)
        elif fault in ("none", "empty", "invalid_json"):
            said = {"none": body, "empty": "", "invalid_json": body[: len(body) // 2] + "]]}"}
            yield _head("200 OK", _kind(streamed), said[fault])
        else:
            yield _head("200 OK", _kind(streamed), None)
            async for data in self._unfinished(writer, body=body.encode(), streamed=streamed):
                yield data

    async def _unfinished(
        self, writer: asyncio.StreamWriter, *, body: bytes, streamed: bool
    ) -> AsyncIterator[bytes]:
        """The body of an answer that goes wrong behind its headers; chunks, as servers send it."""
        half = body[: len(body) // 2]
        if self.fault == "hang_after_headers":
            await asyncio.sleep(HANGS)
        elif self.fault == "drip":
            for at in range(len(body)):
                yield _chunk(body[at : at + 1])
                await asyncio.sleep(self.drip_s)
        elif self.fault == "cut":
            yield _chunk(half)
        elif self.fault == "cut_quietly":
            at = body.rfind(b"data:", 0, len(half)) if streamed else len(half)
            yield _chunk(body[:at]) + _chunk(b"")
        elif self.fault == "reset_in_answer":
            yield _chunk(half)
            await asyncio.sleep(0.05)
            _reset(writer)
        elif self.fault == "garbage_body":
            yield _chunk(half) + _chunk(random.Random(7).randbytes(4096)) + _chunk(b"")
        elif self.fault == "invalid_events":
            yield _chunk(half + b"\n\ndata: {not json\n\n") + _chunk(b"")
        else:
            async for data in _endless(self.fault, streamed=streamed):
                yield data
                await asyncio.sleep(self.drip_s if self.fault == "endless_drip" else 0)


@asynccontextmanager
async def fault_server(fault: Fault, *, drip_s: float = 0.5) -> AsyncIterator[FaultServer]:
    """Serve on a free port of this machine until the block ends."""
    server = FaultServer(fault=fault, drip_s=drip_s)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        if fault == "refused":
            listening.close()
            await listening.wait_closed()
        yield server
    finally:
        listening.close()
        for writer in list(server.open):
            writer.transport.abort()
        assert await server.all_closed()


def no_such_host(host: str | bytes | None, *_rest: object, **_named: object) -> list[object]:
    """Stand in for the resolver: no name is known."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def _read(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").casefold()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
        body: dict[str, Any] = json.loads(await reader.readexactly(length) or b"{}")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return body


def _kind(streamed: bool) -> str:
    return "text/event-stream" if streamed else "application/json"


def _head(status: str, kind: str, body: str | None, **headers: str) -> bytes:
    sent = None if body is None else body.encode()
    length = "Transfer-Encoding: chunked" if sent is None else f"Content-Length: {len(sent)}"
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", length]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + (sent or b"")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Hang up at once and without a word (RST)."""
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    writer.transport.abort()


def _events(*words: str) -> list[bytes]:
    """The events of an answer without an end, one for each of its words."""
    return list(OPENAI.stream(*words, unended=True).chunks)[-len(words) :]


async def _endless(fault: Fault, *, streamed: bool) -> AsyncIterator[bytes]:
    """A body without an end: spaces; one line; or words of an answer, each an event."""
    block = 1 << 16
    if fault == "endless_words" and streamed:
        (data,) = _events("word " * 200)
    elif fault == "endless_drip":
        data = _events("word ")[0] if streamed else b" "
    elif fault == "endless":
        data = b"\n" * block
    else:
        yield _chunk(b'data: {"id": "' if streamed else b'{"id": "')
        data = b"x" * block
    while True:
        yield _chunk(data)
