"""Two services on two machines, so to speak: a folder each, one bucket, one PostgreSQL server."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from bench.service import service
from quoth.store.database import open_database
from quoth.store.upload_queue import Queue
from tests.support.databases import Server
from tests.support.s3_server import LACKING, PROGRAM, Storage, s3_server
from tests.support.upload_service import until

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timed,
    pytest.mark.skipif(not PROGRAM.exists(), reason=LACKING),
    pytest.mark.timeout(1800),
]

NOTES = 24
PARAGRAPHS = 60
SOON_S = 5.0


@pytest.fixture
def storage() -> Iterator[Storage]:
    with s3_server() as served:
        yield served


def note(at: int) -> str:
    """A document of some chunks, with a word that no other one has."""
    lines = (
        f"Paragraph {line} of note {at} is about marker{at}x and the colour of thing {line * at}. "
        + "It goes on at length about nothing else. " * 6
        for line in range(PARAGRAPHS)
    )
    return f"# Note {at}\n\n" + "\n\n".join(lines) + "\n"


async def send(client: httpx.AsyncClient, at: int) -> str | None:
    """Upload a note; gives the id of the task if the service accepted it."""
    with suppress(httpx.HTTPError):
        sent = await client.post(f"/v1/uploads?name=note{at}.md", content=note(at))
        if sent.status_code in (200, 202):
            return str(sent.json()["id"])
    return None


async def finds(client: httpx.AsyncClient, at: int) -> bool:
    """Whether the best passage for the word of a note is of that note."""
    body = {"query": f"marker{at}x", "mode": "keyword", "top_k": 3}
    answer = await client.post("/v1/search", json=body)
    if answer.status_code != 200:
        return False
    return any(f"marker{at}x" in hit["text"] for hit in answer.json()["hits"])


async def ask_until_killed(client: httpx.AsyncClient) -> int:
    """Ask one question after the other; gives how many were answered."""
    count = 0
    with suppress(httpx.HTTPError):
        while True:
            answer = await client.post("/v1/query", json={"query": "What is paragraph 7 about?"})
            count += answer.status_code == 200
    return count


async def test_a_replica_is_killed_and_nothing_is_lost(
    tmp_path: Path, storage: Storage, server: Server
) -> None:
    address = server.empty()
    given = {
        **storage.settings("library"),
        "QUOTH_DATABASE": address,
        "QUOTH_EMBEDDER": "fake",
        "QUOTH_TOKEN_VECTORS": "false",
    }

    async def use(killed: int, other: int, pid: int) -> None:
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{killed}", timeout=60) as one,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{other}", timeout=60) as two,
        ):
            accepted = {await send(one, 0)}
            began = await seen(one, 0)
            await seen(two, 0)
            assert time.monotonic() - began < SOON_S
            document = (await two.get("/v1/documents")).json()["documents"][0]["document_id"]
            assert (await two.get(f"/v1/documents/{document}/original")).text == note(0)

            asking = [asyncio.create_task(ask_until_killed(one)) for _ in range(3)]
            staying = [asyncio.create_task(ask_until_killed(two))]
            sends = [send(one if at % 2 else two, at) for at in range(1, NOTES)]
            accepted |= set(await asyncio.gather(*sends))
            queue = Queue(database, tenant="local")
            await until(lambda: sum(t.state == "ready" for t in queue.tasks()) > 4, within_s=300)
            os.kill(pid, signal.SIGKILL)
            answered = await asyncio.gather(*asking)
            assert sum(answered) > 0
            await until(lambda: {t.state for t in queue.tasks()} == {"ready"}, within_s=600)
            assert {task.id for task in queue.tasks()} >= accepted - {None}
            assert len(queue.tasks()) == NOTES
            for each in staying:
                each.cancel()
            await check(two)

    async def seen(client: httpx.AsyncClient, at: int) -> float:
        """Wait until a note is found; gives when."""
        until_s = time.monotonic() + 120
        while not await finds(client, at) and time.monotonic() < until_s:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return time.monotonic()

    async def check(client: httpx.AsyncClient) -> None:
        """Every note is there once, whole, and found."""
        listed = (await client.get("/v1/documents", params={"limit": 100})).json()
        assert listed["total"] == NOTES
        assert (
            len({each["chunks"] for each in listed["documents"] if each["status"] == "ready"}) <= 3
        )
        missing = [at for at in range(NOTES) if not await finds(client, at)]
        assert missing == []

    database = open_database(address)
    try:
        async with service(tmp_path / "two", "--workers", "1", settings=given) as (other, _):
            with pytest.raises(RuntimeError, match="did not end well"):
                async with service(tmp_path / "one", "--workers", "1", settings=given) as found:
                    await use(found[0], other, found[1])
        async with (
            service(tmp_path / "new", settings=given) as (port, _),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        ):
            await check(client)
    finally:
        database.close()
