"""Clients that are generated from our own OpenAPI document, run against a running service."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import wave
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.service import service
from tests.support.lectures import write_book
from tests.support.small_library import TALK, write_sources

pytestmark = pytest.mark.soak

DOCUMENT = Path("docs/service/openapi.json").resolve()
CALLS = Path("tests/support/generated_client.py").resolve()
SETTINGS = {
    "QUOTH_EMBEDDER": "fake",
    "QUOTH_KEYS_NEEDED": "never",
}
OPERATIONS = {
    operation["operationId"]
    for operations in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].values()
    for operation in operations.values()
}


def tool(name: str) -> str:
    """Return the path of a tool on PATH; skips the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: put it on PATH to run this test")
    return found


async def run(*arguments: str | Path, cwd: Path, settings: Mapping[str, str] = {}) -> str:
    """Run a command and return what it printed; fails where it does."""
    child = await asyncio.create_subprocess_exec(
        *map(str, arguments),
        cwd=cwd,
        env={**os.environ, **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _nothing = await child.communicate()
    assert child.returncode == 0, out.decode()
    return out.decode()


async def test_a_generated_python_client_runs_every_operation(tmp_path: Path) -> None:
    generator = tool("openapi-python-client")
    options = tmp_path / "options.yml"
    options.write_text("post_hooks: []\n", encoding="utf-8")
    output = ("--output-path", tmp_path / "client", "--config", options)
    made = await run(generator, "generate", "--path", DOCUMENT, *output, cwd=tmp_path)
    assert "WARNING" not in made.upper(), made
    sources = write_sources(tmp_path / "sources")
    write_book(sources)
    (sources / "talk.srt").write_text(TALK.replace("queen", "queen of old"), encoding="utf-8")
    with wave.open(str(sources / "talk.wav"), "wb") as recording:
        recording.setparams((1, 2, 8000, 0, "NONE", ""))
        recording.writeframes(bytes(16_000))
    home = tmp_path / "home"
    add = (sys.executable, "-m", "quoth", "--home", home, "add", sources)
    await run(*add, cwd=tmp_path, settings=SETTINGS)
    python = str(Path(generator).with_name("python"))
    async with service(home, settings=SETTINGS) as (port, _pid):
        url = f"http://127.0.0.1:{port}"
        printed = await run(python, CALLS, tmp_path / "client", url, DOCUMENT, cwd=tmp_path)
    outcomes: dict[str, Any] = json.loads(printed.splitlines()[-1])
    failed = {name: got for name, got in outcomes.items() if got[0] >= 400}
    assert not failed, json.dumps(failed, indent=1)
    assert set(outcomes) == OPERATIONS
    read_as_nothing = {name for name, (status, kind) in outcomes.items() if kind == "NoneType"}
    assert read_as_nothing <= {name for name in outcomes if outcomes[name][0] in (202, 204, 303)}


async def test_generated_typescript_types_are_whole(tmp_path: Path) -> None:
    types = tmp_path / "api.d.ts"
    await run(tool("openapi-typescript"), DOCUMENT, "-o", types, cwd=tmp_path)
    await run(tool("tsc"), "--noEmit", "--strict", types, cwd=tmp_path)
    text = types.read_text(encoding="utf-8")
    assert {name for name in OPERATIONS if f"    {name}: {{" in text} == OPERATIONS
