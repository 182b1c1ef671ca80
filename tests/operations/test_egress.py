"""Whole runs with secrets planted everywhere: none comes out, and nobody else is called (S21)."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quoth.operations.logging import configure_logging
from tests.operations.test_logging import SECRETS
from tests.support.cli import quoth, quoth_process
from tests.support.fault_server import fault_server
from tests.support.service_client import served
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"
PRIVATE = "Zanzibar"
"""A word of the question, which no log may hold."""


@pytest.fixture
def logs() -> Any:
    """What is logged, as the service does it; everything is put back in the end."""
    root, own = logging.getLogger(), logging.getLogger("quoth")
    levels = root.level, own.level
    stream = io.StringIO()
    handler = configure_logging(as_json=True, stream=stream)
    yield stream
    root.removeHandler(handler)
    root.setLevel(levels[0])
    own.setLevel(levels[1])
    logging.captureWarnings(False)


def _everything_in(folder: Path) -> bytes:
    return b"\n".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


async def test_no_planted_secret_comes_out_of_the_service(tmp_path: Path, logs: Any) -> None:
    sources = write_sources(tmp_path / "sources")
    said: list[str] = []
    async with fault_server("denied") as server:
        settings = {
            "generator": f"openai-compatible:tiny@{server.url}",
            "llm_api_key": SECRETS["openai"],
            "anthropic_api_key": SECRETS["anthropic"],
            "gemini_api_key": SECRETS["google"],
        }
        async with served(tmp_path / "house", **settings, audit=True) as house:
            await house.add("ada", sources)
            token = house.key("ada")
            async with house.client(token, loud=False) as ada:
                for path, body in (
                    ("/v1/query", {"query": f"{QUESTION} {PRIVATE}"}),
                    ("/v1/query", {"query": f"{QUESTION} {PRIVATE}", "stream": True}),
                    ("/v1/query", {"query": QUESTION, "llm": SECRETS["openai"]}),
                    ("/v1/search", {"query": QUESTION}),
                    ("/v1/chat/completions", {"model": SECRETS["google"], "messages": []}),
                ):
                    response = await ada.post(
                        path, json=body, headers={"x-provider-key": SECRETS["anthropic"]}
                    )
                    said.append(response.text + str(response.headers))
                listed = ("/v1/queries", "/v1/privacy", "/v1/privacy/export", "/v1/analytics")
                for path in (*listed, "/v1/keys", "/metrics", "/readyz", "/healthz", "/nowhere"):
                    response = await ada.get(path, params={"key": SECRETS["quoth"]})
                    said.append(response.text + str(response.headers))
            async with house.client(SECRETS["quoth"], loud=False) as stranger:
                response = await stranger.get("/v1/documents")
                said.append(response.text + str(response.headers))
        assert server.requests > 0, "the model was asked"
    secrets = [*SECRETS.values(), token, "sk-secret"]  # the last is what the provider repeats
    out = "\n".join(said)
    assert [each for each in secrets if each in out] == []
    assert [each for each in secrets if each in logs.getvalue()] == []
    stored = _everything_in(tmp_path / "house")
    assert [each for each in secrets if each.encode() in stored] == []
    assert '"event": "fallback"' in logs.getvalue()
    assert PRIVATE not in logs.getvalue()
    assert QUESTION not in logs.getvalue()
    assert all(json.loads(line) for line in logs.getvalue().splitlines())


async def test_what_an_answer_did_without_is_logged_once(tmp_path: Path, logs: Any) -> None:
    sources = write_sources(tmp_path / "sources")
    async with fault_server("unavailable") as server:
        generator = f"openai-compatible:tiny@{server.url}"
        async with served(tmp_path / "house", generator=generator, audit=True) as house:
            await house.add("ada", sources)
            answer = await house.tenants.engine("ada").answer(QUESTION)
    assert answer.degraded
    events = [json.loads(line) for line in logs.getvalue().splitlines()]
    told = [each["what"] for each in events if each["event"] == "fallback"]
    assert told == list(answer.degraded)


@pytest.mark.usefixtures("home")
async def test_no_planted_secret_comes_out_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fault_server("denied") as server:
        variables = {
            "QUOTH_GENERATOR": f"openai-compatible:tiny@{server.url}",
            "QUOTH_LLM_API_KEY": SECRETS["openai"],
            "ANTHROPIC_API_KEY": SECRETS["anthropic"],
            "GEMINI_API_KEY": SECRETS["google"],
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        done = [
            await asyncio.to_thread(quoth, tmp_path / "home", *words)
            for words in (["ask", QUESTION], ["doctor"], ["history", "--json"])
        ]
        assert server.requests > 0, "the model was asked"
    stored = _everything_in(tmp_path / "home").decode("latin-1")
    out = "".join(each.out + each.err for each in done) + stored
    assert [each for each in SECRETS.values() if each in out] == []


def test_a_wrong_setting_does_not_repeat_its_value(tmp_path: Path) -> None:
    done = quoth_process(tmp_path, "doctor", QUOTH_LLM_API_KEY=f"{SECRETS['openai']} \u00e9")
    assert done.code == 3
    assert SECRETS["openai"] not in done.out + done.err


@pytest.mark.usefixtures("home")
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not there")
async def test_asking_works_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    alone = ["unshare", "-Urn"]
    tried = await asyncio.to_thread(
        subprocess.run, [*alone, "true"], capture_output=True, check=False
    )
    if tried.returncode != 0:
        pytest.skip("this system lets nobody leave the network")
    environment = {**os.environ, "QUOTH_HOME": str(tmp_path / "home"), "QUOTH_EMBEDDER": "fake"}
    done = await asyncio.to_thread(
        subprocess.run,
        [*alone, sys.executable, "-m", "quoth", "ask", QUESTION, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "answered"


async def test_a_whole_run_of_the_service_calls_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    for name in ("connect", "connect_ex", "sendto"):
        original = getattr(socket.socket, name)

        def noting(self: socket.socket, *words: Any, original: Any = original) -> Any:
            called.append(words[-1])
            return original(self, *words)

        monkeypatch.setattr(socket.socket, name, noting)

    def looked_up(host: Any, *_more: Any, **_named: Any) -> Any:
        called.append(host)
        raise OSError("no names are looked up here")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    sources = write_sources(tmp_path / "sources")
    async with served(tmp_path / "house", audit=True) as house:
        await house.add("ada", sources)
        async with house.client(house.key("ada")) as ada:
            for path in ("/healthz", "/v1/documents", "/v1/privacy", "/v1/privacy/export"):
                assert (await ada.get(path)).status_code == 200
            answer = await ada.post("/v1/query", json={"query": QUESTION})
            assert answer.json()["status"] == "answered"
            await ada.post("/v1/privacy/purge")
    assert called == []
