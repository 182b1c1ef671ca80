"""Which language models the settings name, where they are, and what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quoth.backends.generators.access import (
    PROVIDERS,
    Access,
    destination,
    host_of,
)
from quoth.backends.generators.fallback import FallbackGenerator
from quoth.backends.generators.registry import open_generator
from quoth.backends.http_access import HTTP_PROVIDERS
from quoth.core.errors import ConfigError, MissingExtra
from quoth.core.plan import PROFILES
from quoth.core.protocols import Finish, GenerationParams, Generator, Message
from quoth.core.settings import Settings
from quoth.text.analyzer import estimate_tokens
from tests.support.llm_servers import ANTHROPIC, OPENAI, Server
from tests.support.tiny_e5 import build_tiny

ROOT = Path(__file__).parents[2]
KEYS = {
    f"{name}_api_key": f"key-of-{name}" for name in ("anthropic", "openai", "gemini", "openrouter")
}


@asynccontextmanager
async def opened(default: str = "none", **given: Any) -> AsyncIterator[Generator]:
    generator = open_generator(Settings(**{**KEYS, **given}), default=default)
    assert generator is not None
    try:
        yield generator
    finally:
        await generator.close()


@pytest.mark.parametrize("name", [None, "none", "extractive", " none "])
def test_without_a_name_there_is_none_whatever_keys_there_are(name: str | None) -> None:
    assert open_generator(Settings(generator=name, **KEYS)) is None


@pytest.mark.parametrize("name", [name for name in PROVIDERS if HTTP_PROVIDERS[name].url])
async def test_a_provider_alone_has_a_model_and_an_address(name: str) -> None:
    async with opened(generator=name) as generator:
        known = PROVIDERS[name]
        assert (generator.provider, generator.model) == (name, known.model)
        assert generator.endpoint == host_of(HTTP_PROVIDERS[name].url)
        assert generator.local == (name == "ollama")


@pytest.mark.parametrize(
    "name", sorted({each.generator for each in PROFILES.values()} - {"extractive"})
)
async def test_what_a_profile_names_opens(name: str) -> None:
    async with opened(name) as generator:
        assert generator.provider == name


async def test_a_model_may_hold_colons_and_slashes() -> None:
    async with opened(generator="ollama:hf.co/some/model:8b-q4") as generator:
        assert generator.model == "hf.co/some/model:8b-q4"


async def test_several_stand_in_for_each_other_in_their_order() -> None:
    async with opened(generator="anthropic, openai:gpt-4.1-mini,ollama:qwen3:8b") as chain:
        assert isinstance(chain, FallbackGenerator)
        assert [(each.provider, each.model) for each in chain.generators] == [
            ("anthropic", PROVIDERS["anthropic"].model),
            ("openai", "gpt-4.1-mini"),
            ("ollama", "qwen3:8b"),
        ]


async def test_each_of_several_is_guarded_by_itself() -> None:
    seen: list[str] = []

    def guard(generator: Generator) -> Generator:
        seen.append(generator.provider)
        return generator

    chain = open_generator(Settings(generator="openai,ollama", **KEYS), guard=guard)
    assert chain is not None
    await chain.close()
    assert seen == ["openai", "ollama"]


async def test_among_several_the_address_is_the_compatible_ones() -> None:
    url = "http://127.0.0.1:9000/v1"
    async with opened(generator="openai,openai-compatible", llm_base_url=url) as chain:
        assert chain.endpoint == "api.openai.com, 127.0.0.1:9000"


async def test_an_address_behind_the_name_is_its_own() -> None:
    name = "ollama:m@http://10.0.0.5:11434/v1, openai-compatible:n@https://llm.example.org/v1"
    async with opened(generator=name) as chain:
        assert chain.endpoint == "10.0.0.5:11434, llm.example.org"


def test_an_address_that_belongs_to_none_of_several_is_an_error() -> None:
    settings = Settings(generator="openai,ollama", llm_base_url="http://127.0.0.1:1/v1", **KEYS)
    with pytest.raises(ConfigError, match="llm_base_url"):
        open_generator(settings)


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8080", "ftp://host/v1", "http://", "http://name:secret@host/v1", "http://host:x"],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="address") as caught:
        open_generator(Settings(generator="openai-compatible", llm_base_url=url))
    assert "secret" not in str(caught.value)


def test_a_compatible_server_needs_an_address() -> None:
    with pytest.raises(ConfigError, match="llm_base_url"):
        open_generator(Settings(generator="openai-compatible"))


@pytest.mark.parametrize("name", [each for each in PROVIDERS if HTTP_PROVIDERS[each].needs_key])
def test_without_its_key_a_provider_is_not_opened(name: str) -> None:
    with pytest.raises(ConfigError, match=HTTP_PROVIDERS[name].key.upper()):
        open_generator(Settings(generator=name))


def test_an_unknown_provider_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"'claude'.*anthropic.*ollama"):
        open_generator(Settings(generator="claude:opus"))


@pytest.mark.parametrize(("provider", "extra"), [("anthropic", "anthropic"), ("gemini", "google")])
def test_a_missing_package_names_the_line_that_installs_it(
    provider: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.core.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'quoth\[{extra}\]'"):
        open_generator(Settings(generator=provider, **KEYS))


@pytest.mark.parametrize("chosen", ["", "generator='ollama:x, anthropic', anthropic_api_key='k'"])
def test_no_package_of_a_provider_is_loaded_before_it_is_asked(chosen: str) -> None:
    code = (
        "import json, sys; from quoth.backends.generators.registry import open_generator; "
        f"from quoth.core.settings import Settings; open_generator(Settings({chosen})); "
        "print(json.dumps(sorted(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "src"
    )
    loaded = set(json.loads(found.stdout))
    assert not {"pydantic_ai", "openai", "anthropic", "httpx2"} & loaded
    assert chosen or "tokenizers" not in loaded


async def test_no_key_or_address_of_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "stray-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    async with (
        Server(OPENAI.whole("Yes.")) as server,
        opened(generator=f"openai-compatible@{server.url}/v1") as generator,
    ):
        await generator.complete("Say yes.", "Please.", max_tokens=5)
    assert "stray-secret" not in str(server.asked[0].headers)


async def test_a_stray_token_goes_to_no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "stray-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    async with (
        Server(ANTHROPIC.whole("Yes.")) as server,
        opened(generator="anthropic", llm_base_url=server.url) as generator,
    ):
        await generator.complete("Say yes.", "Please.", max_tokens=5)
    assert "stray-secret" not in str(server.asked[0].headers)
    assert ANTHROPIC.key(server.asked[0]) == "key-of-anthropic"


async def test_the_next_server_answers_when_the_first_is_overloaded() -> None:
    async with (
        Server(OPENAI.fault("overloaded")) as first,
        Server(OPENAI.stream("Yes.")) as second,
        opened(generator=f"openai-compatible:a@{first.url}/v1, ollama:b@{second.url}/v1") as chain,
    ):
        written = chain.stream([Message("user", "Really?")], writing=GenerationParams())
        *pieces, finish = [each async for each in written]
    assert pieces == ["Yes."]
    assert isinstance(finish, Finish)
    assert finish.provider == "ollama"
    assert (len(first.asked), len(second.asked)) == (1, 1)


async def test_the_window_is_the_set_one() -> None:
    async with opened(generator="ollama", llm_window=32_768) as generator:
        assert generator.window == 32_768


async def test_tokens_are_counted_by_the_set_tokenizer(tmp_path: Path) -> None:
    file = build_tiny(tmp_path) / "tokenizer.json"
    async with opened(generator="ollama", llm_tokenizer=file) as generator:
        text = "the model and the tokenizer " * 20
        counted = generator.count_tokens([text, "\ud800", ""])
    assert counted[2] == 0
    assert 0 < counted[0] < estimate_tokens([text])[0]


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff"])
def test_a_tokenizer_that_is_none_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tokenizer.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"llm_tokenizer.*tokenizer\.json"):
        open_generator(Settings(generator="ollama", llm_tokenizer=file))


def test_a_proxy_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="llm_proxy"):
        open_generator(Settings(generator="ollama", llm_proxy="gopher://x"))


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:1/v1", True),
        ("http://models.localhost", True),
        ("http://127.8.8.8", True),
        ("http://[::1]:80", True),
        ("http://0.0.0.0:1", True),
        ("http://192.168.1.2", False),
        ("https://localhost.example.org", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, here: bool) -> None:
    assert destination(Access(provider="openai", model="m", url=url, window=1))[1] is here


@pytest.mark.parametrize("model", ["gpt-oss:120b-cloud", "kimi:cloud"])
def test_a_model_of_ollamas_cloud_is_not_here(model: str) -> None:
    access = Access(provider="ollama", model=model, url="http://127.0.0.1:11434/v1", window=1)
    assert destination(access) == ("ollama.com", False)


def test_a_key_is_in_no_representation() -> None:
    access = Access(provider="p", model="m", url="u", window=1, key="secret", proxy="secret")
    assert "secret" not in repr(access)
    assert "key-of" not in repr(Settings(**KEYS))
