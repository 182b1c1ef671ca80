"""A restart storm: the service is killed again and again while tenants upload and ask."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from bench.service import service
from quoth.store.database import Database, open_database
from quoth.store.keys import Keys
from quoth.store.upload_queue import Queue
from tests.support.upload_service import until

pytestmark = pytest.mark.soak

TENANTS = tuple(f"tenant{number}" for number in range(10))
KILLS = int(os.environ.get("QUOTH_SOAK_KILLS", "50"))
GIVEN = {"QUOTH_EMBEDDER": "fake", "QUOTH_KEYS_NEEDED": "always"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "home" / "catalogue.sqlite")
    yield opened
    opened.close()


async def use(url: str, key: str, *, number: int, accepted: set[str]) -> None:
    """Upload and ask until the service is killed, or twenty times."""
    headers = {"authorization": f"Bearer {key}"}
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as client:
            for at in range(20):
                text = f"# Note {number}.{at}\n\nNote {at} of {number} says {random.random()}.\n"
                sent = await client.post(f"/v1/uploads?name={number}-{at}.md", content=text)
                if sent.status_code in (200, 202):
                    accepted.add(sent.json()["id"])
                await client.post("/v1/query", json={"query": f"What does note {at} say?"})


@pytest.mark.timeout(5400)
async def test_a_storm_of_kills_loses_and_condemns_nothing(
    tmp_path: Path, database: Database
) -> None:
    keys = [
        Keys(database, tenant=name).add(label="storm", scopes=("read", "ingest")).token
        for name in TENANTS
    ]
    accepted: dict[str, set[str]] = {name: set() for name in TENANTS}
    chosen = random.Random(11)

    def states() -> Counter[str]:
        return Counter(
            task.state
            for name in TENANTS
            for task in Queue(database, tenant=name).tasks(limit=10_000)
        )

    async def use_and_kill(turn: int) -> None:
        async with service(tmp_path / "home", "--workers", "2", settings=GIVEN) as (port, pid):
            url = f"http://127.0.0.1:{port}"
            users = [
                asyncio.create_task(use(url, key, number=number, accepted=accepted[name]))
                for number, (name, key) in enumerate(zip(TENANTS, keys, strict=True))
            ]
            # A start takes seconds of a processor: each round gets as far as one upload, every
            # fifth as far as one more ready file. The rest of its time is chance.
            before, ready = sum(map(len, accepted.values())), states()["ready"]
            await until(lambda: sum(map(len, accepted.values())) > before, within_s=120)
            if turn % 5 == 4:
                await until(lambda: states()["ready"] > ready, within_s=120)
            await asyncio.sleep(chosen.uniform(0, 2))
            os.kill(pid, signal.SIGKILL)
            await asyncio.gather(*users)

    for turn in range(KILLS):
        with pytest.raises(RuntimeError, match="did not end well"):
            await use_and_kill(turn)

    assert all(accepted.values())
    assert states()["ready"] >= KILLS // 5
    assert not states()["failed"]
    async with service(tmp_path / "home", "--workers", "2", settings=GIVEN):
        # A file that was in work at two kills is tried in a process of its own.
        await until(lambda: set(states()) == {"ready"}, within_s=300)
    for name, ids in accepted.items():
        assert ids <= {task.id for task in Queue(database, tenant=name).tasks(limit=10_000)}


async def test_a_stop_with_a_large_file_in_work_takes_8_seconds(
    tmp_path: Path, database: Database
) -> None:
    book = "\n\n".join(f"Paragraph {number} is about number {number}." for number in range(60_000))
    key = Keys(database, tenant="carol").add(label="large", scopes=("read", "ingest")).token
    queue = Queue(database, tenant="carol")
    async with service(tmp_path / "home", settings={"QUOTH_KEYS_NEEDED": "always"}) as (port, pid):
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as client:
            await client.post(
                f"http://127.0.0.1:{port}/v1/uploads?name=book.txt", content=book.encode()
            )
        await until(lambda: any(task.chunks > 0 for task in queue.tasks()), within_s=300)
        began = time.monotonic()
        os.kill(pid, signal.SIGTERM)
        await until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), within_s=30)
        assert time.monotonic() - began < 8
    (task,) = queue.tasks()
    assert (task.state, task.attempts) == ("queued", 0)


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
