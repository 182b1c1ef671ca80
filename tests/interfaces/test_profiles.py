"""Every profile starts with its own components on servers of this machine, and answers."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from examples.demo import QUESTIONS
from quoth.backends.registry import require
from quoth.backends.states import part_states
from quoth.bootstrap import open_engine
from quoth.core.errors import ConfigError, MissingExtra
from quoth.core.plan import PROFILES, profile
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.pipeline.retrieve import Request
from tests.conftest import ROOT
from tests.support.cli import quoth
from tests.support.embedding_server import embedding_server
from tests.support.llm_servers import DIALECTS, MODELS, Dialect, Reply, Server
from tests.support.pinecone_server import KEY as PINECONE_KEY
from tests.support.pinecone_server import pinecone_server
from tests.support.tiny_e5 import build_tiny
from tests.support.toy_rerankers import write_colbert, write_cross_encoder

KEY = "key-of-the-tests"
KEYS: dict[str, Any] = {
    f"{name}_api_key": KEY
    for name in ("openai", "openrouter", "voyage", "cohere", "gemini", "anthropic")
}
FOLDERS = {
    "bge-m3": build_tiny,
    "qwen3-embedding-0.6b": build_tiny,
    "bge-reranker-v2-m3": write_cross_encoder,
    "ms-marco-minilm-l-6-v2": write_cross_encoder,
    "answerai-colbert-small-v1": write_colbert,
}
PATIENT: dict[str, Any] = {
    "llm_first_seconds": 120,
    "llm_seconds": 240,
    "rerank_seconds": 60,
    "plan": {"deadline_ms": 600_000.0},
}
"""Packages are loaded while a first question waits."""
SLOW = ("talks", "book", "lecture")
"""The profiles whose packages take the longest to load."""
STARTED = [
    pytest.param(name, marks=[pytest.mark.soak] if name in SLOW else []) for name in PROFILES
]
DOCUMENT = "Whales are mammals. They breathe air at the surface. A blue whale eats krill."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with a small random model under every name that a profile uses."""
    folder = tmp_path_factory.mktemp("models")
    for name, write in FOLDERS.items():
        place = tmp_path_factory.mktemp("made")
        write(place).rename(folder / name)
    return folder


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """The address of each service of this machine, by component and name."""
    with ExitStack() as stack:
        script = stack.enter_context(embedding_server())
        script.dimension = 1024
        address, _ = stack.enter_context(pinecone_server())
        yield {"embedder": script.url, "reranker": script.url, "store": address}


def chosen(name: str, *, addresses: dict[str, str], url: str) -> dict[str, Any]:
    """The profile's own components, those of providers at the addresses of this machine."""
    own, found = profile(name), {}
    if own.embedder in ("voyage", "text-embedding-3-large"):
        spelled = {"voyage": "voyage", "text-embedding-3-large": "openai:text-embedding-3-large"}
        found["embedder"] = f"{spelled[own.embedder]}@{addresses['embedder']}"
    elif own.embedder.startswith("multilingual"):
        found["embedder"] = "fake"  # the built model is used by other tests
    if own.reranker == "cohere":
        found["reranker"] = f"cohere@{addresses['reranker']}"
    if own.store == "pinecone":
        found["store"] = f"pinecone@{addresses['store']}"
    if own.generator != "extractive":
        found["generator"] = (
            f"{own.generator}:{MODELS[own.generator]}@{url}{DIALECTS[own.generator].path}"
        )
    return found


def dialect_of(name: str) -> Dialect:
    """The protocol of a profile's language model; skips where its store is not installed."""
    own = profile(name)
    try:
        require("store", own.store)
    except MissingExtra as error:
        pytest.skip(str(error))
    return DIALECTS.get(own.generator, DIALECTS["openai"])


def settings_of(name: str, home: Path, *, models: Path, parts: dict[str, Any]) -> Settings:
    """The settings of a profile whose keys are there and whose servers are of this machine."""
    return Settings(
        home=home,
        models=models,
        profile=name,
        pinecone_api_key=PINECONE_KEY,
        embedder_dimensions=256,
        **PATIENT,
        **KEYS,
        **parts,
    )


@pytest.mark.parametrize("name", STARTED)
async def test_a_profile_starts_adds_and_answers(
    name: str, tmp_path: Path, models: Path, addresses: dict[str, str]
) -> None:
    dialect = dialect_of(name)
    (tmp_path / "whales.txt").write_text(DOCUMENT)
    async with Server(dialect.stream("A blue whale eats krill [Source 1].")) as server:
        parts = chosen(name, addresses=addresses, url=server.url)
        settings = settings_of(name, tmp_path / "home", models=models, parts=parts)
        async with open_engine(settings) as engine:
            added = [step async for step in engine.add([tmp_path / "whales.txt"])]
            assert added
            health = await engine.health()
            assert health.ok, health
            answer = await engine.answer(Request("What does a blue whale eat?"))
    assert "krill" in answer.text
    assert answer.citations
    # The scripted model answers every task alike, also that of rewording the question.
    assert not [line for line in answer.degraded if not line.startswith("expand")]


class Quoting(Server):
    """A language model that answers by the first whole sentence of the first source."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect.stream("{}"))
        self._dialect = dialect

    async def _send(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        told = self._dialect.said(self.asked[-1].body)[-1][1]
        if found := re.search(r"(?ms)^\[Source 1\]$.*?\b([A-Z][^.?!\n]{30,}[.])", told):
            reply = self._dialect.stream(f"{found[1]} [Source 1]")
        return await super()._send(reply, reader, writer)


@pytest.mark.soak
@pytest.mark.parametrize("name", PROFILES)
async def test_a_profile_adds_the_demo_and_answers_its_questions(
    name: str, tmp_path: Path, models: Path, addresses: dict[str, str]
) -> None:
    async with Quoting(dialect_of(name)) as server:
        parts = chosen(name, addresses=addresses, url=server.url)
        if parts.get("embedder") == "fake":
            del parts["embedder"]
        settings = settings_of(name, tmp_path / "home", models=models, parts=parts)
        async with open_engine(settings) as engine:
            folders = [ROOT / "examples" / "hf-course" / part for part in ("books", "talks")]
            steps = [step async for step in engine.add(folders)]
            added = [step for step in steps if isinstance(step, Document)]
            assert len(added) == 18
            assert {each.status for each in added} == {"ready"}
            health = await engine.health()
            assert health.ok, health
            for question in QUESTIONS:
                answer = await engine.answer(Request(question))
                assert answer.citations, question
                generator = profile(name).generator
                assert answer.provider == (None if generator == "extractive" else generator)
                assert not [each for each in answer.degraded if not each.startswith("expand")]


@pytest.mark.parametrize("name", sorted(set(PROFILES) - {"default"}))
def test_a_missing_key_or_model_is_one_sentence_of_any_command(name: str, tmp_path: Path) -> None:
    source = tmp_path / "whales.txt"
    source.write_text(DOCUMENT)
    home = tmp_path / "home"
    for words in (("add", str(source)), ("ask", "What do whales eat?"), ("reindex",), ("tune",)):
        said = quoth(home, "--profile", name, *words, embedder=None)
        assert (said.code, said.out) == (3, "")
        assert len(said.err.splitlines()) == 1
        assert not home.exists()


SERVERS = [
    *(("talks", "generator"), ("local", "generator"), ("documents", "store")),
    *(("documents", "generator"), ("book", "embedder"), ("book", "reranker")),
    *(("book", "generator"), ("lecture", "embedder"), ("lecture", "generator")),
]


@pytest.mark.parametrize(("name", "part"), SERVERS)
def test_a_missing_server_is_one_sentence_and_makes_no_library(
    name: str,
    part: str,
    tmp_path: Path,
    models: Path,
    addresses: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = tmp_path / "whales.txt"
    source.write_text(DOCUMENT)
    with closing(socket.socket()) as unheard:
        unheard.bind(("127.0.0.1", 0))  # and does not listen
        gone = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        there = chosen(name, addresses=addresses, url=addresses["embedder"])
        url = gone if part == "generator" else addresses["embedder"]
        places = {**addresses, part: gone}
        wrong = chosen(name, addresses=places, url=url)
        assert wrong != there
        for setting, value in {**wrong, "models": str(models)}.items():
            monkeypatch.setenv(f"QUOTH_{setting.upper()}", value)
        for key in (*KEYS, "pinecone_api_key"):
            monkeypatch.setenv(f"QUOTH_{key.upper()}", KEY)
        home = tmp_path / "home"
        words = ("--profile", name, "add", str(source))
        said = quoth(home, *words, embedder=wrong.get("embedder"))
        about = quoth(home, "--profile", name, "doctor", embedder=wrong.get("embedder"))
    assert (said.code, said.out) == (3, "")
    (line,) = said.err.splitlines()
    assert line.startswith(f"The {part} ")
    assert "cannot be reached" in line
    assert (about.code, about.out.count("cannot be reached")) == (3, 1)
    assert not home.exists()


@pytest.mark.parametrize("name", sorted(set(PROFILES) - {"default"}))
async def test_a_profile_without_its_parts_says_so_and_writes_nothing(
    name: str, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path / "home", models=tmp_path / "models", profile=name)
    missing = [each for each in part_states(settings) if each.error is not None]
    with pytest.raises(ConfigError) as caught:
        async with open_engine(settings):
            pass
    assert str(caught.value) == str(missing[0].error)
    assert not (tmp_path / "home").exists()
