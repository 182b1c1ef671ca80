"""Many clients at once, over plain sockets, from a process of their own.

A client of a library would be slower than what it measures. Each client opens a connection, asks
its questions one after the other, and notes what it was told and how long that took.

    python -m bench.load < orders.json    one JSON object in, one out; see `Orders` and `Report`
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any

PATIENCE_S = 180.0
REFUSED = "refused"
"""What is noted of a connection that ended before anything was said on it."""


@dataclass(frozen=True, slots=True)
class Orders:
    """``bodies`` are asked by ``clients``, as they come free; ``tokens`` are keys in turn.

    ``probe`` asks /healthz ten times a second meanwhile; ``patient`` clients that are told to come
    again wait as long as Retry-After says.
    """

    port: int
    bodies: Sequence[Mapping[str, Any]]
    clients: int
    path: str = "/v1/query"
    tokens: Sequence[str] = ()
    probe: bool = False
    patient: bool = False
    keep_texts: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What one request was told: status 0 for a connection that broke; ``seconds`` in all."""

    number: int
    status: int
    seconds: float
    began: float
    retry_after: str = ""
    text: str = ""
    token: int = 0


@dataclass(slots=True)
class Report:
    """All that was told, the seconds of the whole, and of each probe of /healthz."""

    told: list[Told] = field(default_factory=list)
    seconds: float = 0.0
    probes: list[float] = field(default_factory=list)


async def load(orders: Orders) -> Report:
    """Let the clients loose and gather what they were told."""
    report, turn = Report(), count()
    began = time.perf_counter()
    probing = asyncio.create_task(_probe(orders.port, report)) if orders.probe else None

    async def client(at: int) -> None:
        connection = _Connection(orders.port)
        while (number := next(turn)) < len(orders.bodies):
            key = at % len(orders.tokens) if orders.tokens else 0
            token = orders.tokens[key] if orders.tokens else ""
            start = time.perf_counter()
            status, headers, body = await connection.ask(
                "POST", orders.path, orders.bodies[number], token=token
            )
            report.told.append(
                Told(
                    number,
                    status,
                    time.perf_counter() - start,
                    start - began,
                    headers.get("retry-after", ""),
                    body.decode("utf-8", "replace") if orders.keep_texts else "",
                    key,
                )
            )
            if orders.patient and (pause := headers.get("retry-after", "")):
                connection.close()  # the service closes one that is idle for long
                await asyncio.sleep(float(pause))
        connection.close()

    await asyncio.gather(*(client(at) for at in range(orders.clients)))
    report.seconds = time.perf_counter() - began
    if probing is not None:
        probing.cancel()
    return report


async def _probe(port: int, report: Report) -> None:
    while True:
        start = time.perf_counter()
        connection = _Connection(port)
        status, _headers, _body = await connection.ask("GET", "/healthz", None)
        connection.close()
        report.probes.append(time.perf_counter() - start if status == 200 else PATIENCE_S)
        await asyncio.sleep(0.1)


class _Connection:
    """One connection of HTTP/1.1, opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._silent = True
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, content: Mapping[str, Any] | None, *, token: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body; status 0 for a connection that broke."""
        body = b"" if content is None else json.dumps(content).encode()
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        head += [f"Authorization: Bearer {token}"] if token else []
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        try:
            async with asyncio.timeout(PATIENCE_S):
                if self._streams is None:
                    self._streams = await asyncio.open_connection("127.0.0.1", self._port)
                reader, writer = self._streams
                self._silent = True
                writer.write("\r\n".join([*head, "", ""]).encode() + body)
                return await self._read(reader)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as error:
            self.close()
            # Without a first byte the request may be sent again; an answer that breaks off may not.
            return 0, {}, (REFUSED if self._silent else f"cut: {error!r}").encode()

    async def _read(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
        head = await reader.readuntil(b"\r\n\r\n")
        self._silent = False
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): text.strip()
            for name, _, text in (line.partition(":") for line in lines[1:] if line)
        }
        if headers.get("transfer-encoding") == "chunked":
            pieces = []
            while size := int(await reader.readline(), 16):
                pieces.append(await reader.readexactly(size))
                await reader.readexactly(2)
            await reader.readexactly(2)
            body = b"".join(pieces)
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), headers, body

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def from_outside(orders: Orders) -> Report:
    """Do it in another process, so that clients and service share no interpreter."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.load",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**28,
    )
    out, _ = await child.communicate(json.dumps(asdict(orders)).encode())
    if child.returncode:
        raise RuntimeError("The clients broke down.")
    found = json.loads(out)
    told = [Told(**each) for each in found["told"]]
    return Report(told, found["seconds"], found["probes"])


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values is."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))] if ranked else 0.0


if __name__ == "__main__":
    found = asyncio.run(load(Orders(**json.load(sys.stdin))))
    json.dump(asdict(found), sys.stdout)
