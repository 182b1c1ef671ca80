"""Settings come from the caller, the environment, the file and the defaults, in this order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quoth.core.errors import ConfigError
from quoth.core.load_settings import load_settings
from quoth.core.settings import PREFIX, PROVIDER_VARIABLES, Settings


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    theirs = {each for variables in PROVIDER_VARIABLES.values() for each in variables}
    for name in os.environ:
        if name.startswith(PREFIX) or name in theirs:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "quoth.toml").write_text("chunk_tokens = 300\nthreads = 3\ncollection = 'file'\n")
    return tmp_path


def test_the_defaults_need_nothing(tmp_path: Path) -> None:
    settings = load_settings()
    assert (settings.home, settings.models) == (
        tmp_path / "data" / "quoth",
        tmp_path / "cache" / "quoth" / "models",
    )


def test_the_caller_outranks_the_environment_and_that_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings({"home": home}).chunk_tokens == 300
    monkeypatch.setenv("QUOTH_THREADS", "5")
    monkeypatch.setenv("QUOTH_COLLECTION", "environment")
    assert (load_settings({"home": home}).threads, load_settings({"home": home}).chunk_tokens) == (
        5,
        300,
    )
    settings = load_settings({"home": home, "threads": 7, "collection": None})
    assert (settings.threads, settings.collection) == (7, "environment")


@pytest.mark.parametrize("given", ["{home}", "~"])
def test_the_home_of_the_environment_holds_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("QUOTH_HOME", given.format(home=home))
    settings = load_settings()
    assert (settings.home, settings.chunk_tokens) == (home, 300)


def test_an_unknown_variable_is_named_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUOTH_TREADS", "5")
    with pytest.raises(ConfigError, match=r"QUOTH_TREADS.*QUOTH_THREADS"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"treads = 5\n", r"'treads'.*quoth\.toml"),
        (b"threads = 'many'\n", r"'threads'.*quoth\.toml"),
        (b"threads = ", r"quoth\.toml"),
        (b"threads = '\xff'", r"quoth\.toml"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_the_file(
    home: Path, content: bytes, named: str
) -> None:
    (home / "quoth.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=named):
        load_settings({"home": home})


def test_a_wrong_value_in_the_environment_names_the_variable(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUOTH_THREADS", "many")
    with pytest.raises(ConfigError, match="QUOTH_THREADS"):
        load_settings({"home": home})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 0),
        ("threads", 257),
        ("chunk_tokens", 31),
        ("chunk_tokens", 2001),
        ("max_file_mb", 0),
        ("parser_seconds", 0),
        ("parser_memory_mb", 255),
        ("crash_at", 0),
        ("llm_window", 511),
        ("llm_seconds", 0),
        ("llm_first_seconds", 0),
        ("collection", ""),
        ("tenant", "t" * 101),
    ],
)
def test_values_are_bounded(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        load_settings({name: value})


def key(settings: Settings, name: str) -> str | None:
    secret = getattr(settings, name)
    return None if secret is None else str(secret.get_secret_value())


@pytest.mark.parametrize(
    ("name", "variable"),
    [(name, each) for name, variables in PROVIDER_VARIABLES.items() for each in variables],
)
def test_a_key_is_found_under_the_providers_own_name(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "theirs")
    assert key(load_settings(), name) == "theirs"


def test_quoths_own_name_of_a_key_outranks_the_providers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    (home / "quoth.toml").write_text("openai_api_key = 'the-file'\n")
    assert key(load_settings({"home": home}), "openai_api_key") == "the-file"
    monkeypatch.setenv("QUOTH_OPENAI_API_KEY", "ours")
    assert key(load_settings(), "openai_api_key") == "ours"


def test_a_key_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "theirs")
    settings = load_settings()
    assert "theirs" not in f"{settings!r} {settings} {settings.model_dump_json()}"


@pytest.mark.parametrize("wrong", ["cl\u00e9", "two words", "two\nlines"])
def test_a_key_that_can_be_none_is_named_and_not_shown(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", wrong)
    with pytest.raises(ConfigError, match=r"gemini_api_key.*GOOGLE_API_KEY") as caught:
        load_settings()
    assert wrong not in str(caught.value)


def test_the_variables_of_kubernetes_are_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "QUOTH_PORT": "tcp://10.96.0.12:8765",
        "QUOTH_SERVICE_HOST": "10.96.0.12",
        "QUOTH_SERVICE_PORT": "8765",
        "QUOTH_SERVICE_PORT_HTTP": "8765",
        "QUOTH_PORT_8765_TCP": "tcp://10.96.0.12:8765",
        "QUOTH_PORT_8765_TCP_PROTO": "tcp",
        "QUOTH_PORT_8765_TCP_PORT": "8765",
        "QUOTH_PORT_8765_TCP_ADDR": "10.96.0.12",
        "QUOTH_WORKER_SERVICE_HOST": "10.96.0.13",
        "QUOTH_WORKER_PORT": "tcp://10.96.0.13:80",
    }.items():
        monkeypatch.setenv(name, value)
    assert load_settings({"home": tmp_path}).home == tmp_path
    monkeypatch.setenv("QUOTH_PORT", "8765")
    with pytest.raises(ConfigError, match="QUOTH_PORT"):
        load_settings({"home": tmp_path})
