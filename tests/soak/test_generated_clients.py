"""Clients that are generated from our own OpenAPI document, run against a running service."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import wave
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.service import service
from tests.support.lectures import write_book
from tests.support.llm_servers import DIALECTS, Server
from tests.support.small_library import TALK, write_sources

pytestmark = pytest.mark.soak

DOCUMENT = Path("docs/service/openapi.json").resolve()
CALLS = Path("tests/support/generated_client.py").resolve()
SETTINGS = {
    "QUOTH_EMBEDDER": "fake",
    "QUOTH_KEYS_NEEDED": "never",
}
OPERATIONS = {
    f"{method.upper()} {path}": operation["operationId"]
    for path, operations in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].items()
    for method, operation in operations.items()
}


TOOLS = Path(".venv-clients").resolve()
"""What `make clients` installs: the generators, and the packages of a TypeScript client."""
COMPILER = {
    "compilerOptions": {
        **{"strict": True, "target": "es2022", "module": "nodenext", "outDir": "out"},
        **{"moduleResolution": "nodenext", "types": [], "lib": ["es2022", "dom"]},
    },
    "files": ["generated_client.ts"],
}


def tool(name: str) -> Path:
    """Return the path of a tool; skips the test where it is not installed."""
    for folder in ("bin", "node_modules/.bin"):
        if (TOOLS / folder / name).exists():
            return TOOLS / folder / name
    pytest.skip(f"{name} is not installed; run: make clients")


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


async def make_library(folder: Path) -> Path:
    """Make a home with something for every operation; returns it."""
    sources = write_sources(folder / "sources")
    write_book(sources)
    (sources / "talk.srt").write_text(TALK.replace("queen", "queen of old"), encoding="utf-8")
    with wave.open(str(sources / "talk.wav"), "wb") as recording:
        recording.setparams((1, 2, 8000, 0, "NONE", ""))
        recording.writeframes(bytes(16_000))
    home = folder / "home"
    add = (sys.executable, "-m", "quoth", "--home", home, "add", sources)
    await run(*add, cwd=folder, settings=SETTINGS)
    return home


@asynccontextmanager
async def translator() -> AsyncIterator[dict[str, str]]:
    """Serve a small language model, for captions; yields the settings that name it."""
    dialect = DIALECTS["openai-compatible"]
    async with Server(dialect.stream("Honig.")) as server:
        yield {"QUOTH_SMALL_LLM": f"openai-compatible:small@{server.url}{dialect.path}"}


async def test_a_generated_python_client_runs_every_operation(tmp_path: Path) -> None:
    generator = tool("openapi-python-client")
    options = tmp_path / "options.yml"
    options.write_text("post_hooks: []\n", encoding="utf-8")
    output = ("--output-path", tmp_path / "client", "--config", options)
    made = await run(generator, "generate", "--path", DOCUMENT, *output, cwd=tmp_path)
    assert "WARNING" not in made.upper(), made
    home = await make_library(tmp_path)
    python = generator.with_name("python")
    async with translator() as model, service(home, settings=SETTINGS | model) as (port, _pid):
        url = f"http://127.0.0.1:{port}"
        printed = await run(python, CALLS, tmp_path / "client", url, DOCUMENT, cwd=tmp_path)
    outcomes: dict[str, Any] = json.loads(printed.splitlines()[-1])
    failed = {name: got for name, got in outcomes.items() if got[0] >= 400}
    assert not failed, json.dumps(failed, indent=1)
    assert set(outcomes) == set(OPERATIONS.values())
    read_as_nothing = {name for name, (status, kind) in outcomes.items() if kind == "NoneType"}
    assert read_as_nothing <= {name for name in outcomes if outcomes[name][0] in (202, 204, 303)}


async def test_a_generated_typescript_client_runs_every_operation(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(tool("tsc").parents[1])
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "tsconfig.json").write_text(json.dumps(COMPILER), encoding="utf-8")
    shutil.copy(CALLS.with_suffix(".ts"), tmp_path)
    types = ("--default-non-nullable=false", "-o", tmp_path / "api.d.ts")
    await run(tool("openapi-typescript"), DOCUMENT, *types, cwd=tmp_path)
    await run(tool("tsc"), "--project", tmp_path, cwd=tmp_path)
    home = await make_library(tmp_path)
    async with translator() as model, service(home, settings=SETTINGS | model) as (port, _pid):
        script = tmp_path / "out" / "generated_client.js"
        printed = await run("node", script, f"http://127.0.0.1:{port}", cwd=tmp_path)
    outcomes: dict[str, Any] = json.loads(printed.splitlines()[-1])
    failed = {name: got for name, got in outcomes.items() if got[0] >= 400}
    assert not failed, json.dumps(failed, indent=1)
    assert set(outcomes) == set(OPERATIONS)
