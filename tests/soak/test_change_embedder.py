"""A running service goes on answering while its embedder is changed, then answers with it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.service import service
from quoth.bootstrap import DEFAULT_EMBEDDER
from tests.support.small_library import write_sources

pytestmark = pytest.mark.soak

QUESTION = "When does a colony swarm?"
FAKE = {"QUOTH_EMBEDDER": "fake"}


async def quoth(home: Path, *words: str, settings: dict[str, str] | None = None) -> str:
    """Run a command of its own and give its output."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quoth", "--home", str(home), *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(settings or {}), "COLUMNS": "200"},
    )
    out, err = await child.communicate()
    assert child.returncode == 0, err.decode()
    return out.decode()


async def test_a_running_service_switches_without_a_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await quoth(home, "add", str(write_sources(tmp_path / "sources")), settings=FAKE)
    told: list[httpx.Response] = []
    stop = asyncio.Event()
    async with (
        service(home, "--workers", "1", settings=FAKE) as (port, _pid),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):

        async def ask() -> None:
            while not stop.is_set():
                body = {"question": f"{QUESTION} {len(told)}"}
                told.append(await client.post("/v1/query", json=body))

        asking = asyncio.create_task(ask())
        table = await quoth(home, "reindex", "--embedder", DEFAULT_EMBEDDER)
        switched = len(told)
        async with asyncio.timeout(60):
            while len(told) < switched + 20 and not asking.done():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        stop.set()
        await asking
        shown: Any = (await client.get("/v1/collections/default")).json()
    assert switched > 0
    assert [each.status_code for each in told] == [200] * len(told)
    answers = [each.json() for each in told]
    assert not [each["degraded"] for each in answers if each["degraded"]]
    assert all(each["citations"] for each in answers)
    assert shown["embedder"] == DEFAULT_EMBEDDER
    assert DEFAULT_EMBEDDER in table
    assert "questions made of the collection" in table
    await quoth(home, "reindex", "--drop-old")
