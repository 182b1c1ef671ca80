"""A text of 100 MB of one tenant delays the note of another by ten seconds at most."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from pathlib import Path

import httpx
import pytest

from bench.service import service
from quoth.store.database import open_database
from quoth.store.keys import Keys
from quoth.store.upload_queue import Queue
from tests.support.upload_service import until

pytestmark = [pytest.mark.soak, pytest.mark.timed]

BYTES = 100_000_000
DELAY_S = 10.0
WORDS = (
    "bee hive queen honey nectar wing swarm winter comb wax drone worker flower field sun".split()
)


def long_text(size: int) -> bytes:
    """A text of so many bytes, in paragraphs of some sentences."""
    dice = random.Random(4)
    paragraphs = [
        " ".join(f"{' '.join(dice.choices(WORDS, k=12)).capitalize()}." for _ in range(5))
        for _ in range(2000)
    ]
    text = "\n\n".join(f"{paragraph} {at}." for at, paragraph in enumerate(paragraphs)).encode()
    return (text + b"\n\n") * (size // (len(text) + 2))


@pytest.mark.timeout(3600)
async def test_a_text_of_100_mb_delays_another_tenants_note_little(tmp_path: Path) -> None:
    database = open_database(tmp_path / "home" / "catalogue.sqlite")
    headers = {
        name: {
            "authorization": "Bearer "
            + Keys(database, tenant=name).add(label="k", scopes=("read", "ingest")).token
        }
        for name in ("bob", "carol")
    }
    queue = Queue(database, tenant="carol")
    notes: list[float] = []
    settings = {"QUOTH_KEYS_NEEDED": "always"}
    async with (
        service(tmp_path / "home", settings=settings) as (port, _pid),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300) as client,
    ):

        async def note() -> None:
            """Send a note of Bob's, and measure until it can be asked for."""
            began, text = time.monotonic(), f"# Note {len(notes)}\n\nBob keeps bees.\n"
            sent = await client.post("/v1/uploads?name=n.md", content=text, headers=headers["bob"])
            path = f"/v1/uploads/{sent.json()['id']}"
            while (await client.get(path, headers=headers["bob"])).json()["state"] != "ready":  # noqa: ASYNC110 - the state is asked for
                await asyncio.sleep(0.1)
            notes.append(time.monotonic() - began)

        await note()  # which loads the model
        await note()
        alone = notes[-1]
        sent = await client.post(
            "/v1/uploads?name=long.txt", content=long_text(BYTES), headers=headers["carol"]
        )
        assert sent.status_code == 202, sent.text
        await until(lambda: queue.tasks()[0].state == "running", within_s=60)
        while not queue.tasks()[0].chunks:  # while it is read and split
            await note()
            await asyncio.sleep(5)
        embedding = len(notes)
        for _ in range(8):  # while it is embedded
            await note()
            await asyncio.sleep(2)
        (task,) = queue.tasks()
        assert (task.state, task.of_chunks > 10_000) == ("running", True), task
        await client.delete(f"/v1/uploads/{task.id}", headers=headers["carol"])
    database.close()
    logging.getLogger("quoth").warning(
        "alone %.1f s, while it is read %s, while it is embedded %s",
        alone,
        [round(each, 1) for each in notes[2:embedding]],
        [round(each, 1) for each in notes[embedding:]],
    )
    assert max(notes[2:]) - alone <= DELAY_S
