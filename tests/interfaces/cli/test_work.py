"""`quoth work`: a process of its own that takes in what was uploaded, and ends when told."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.support.upload_service import drained, open_quickly, send


async def test_a_process_takes_in_uploads_and_ends_when_told(tmp_path: Path) -> None:
    environment = {**os.environ, "QUOTH_HOME": str(tmp_path), "QUOTH_EMBEDDER": "fake"}
    async with open_quickly(tmp_path) as tenants:
        await send(tenants, "Bees make honey.", name="bees.txt", tenant="ada")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quoth", "work", "--workers", "2"),
            env={**environment, "QUOTH_CHUNK_TOKENS": "64"},
            stderr=asyncio.subprocess.PIPE,
        )
        (task,) = await drained(tenants, tenant="ada", within_s=60)
        assert task.state == "ready"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            _out, said = await process.communicate()
        assert process.returncode == 0
        assert b"Stopped." in said
        (document,) = await tenants.engine("ada").documents()
        assert document.title == "bees"
