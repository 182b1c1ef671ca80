"""Access to a language model: address, API key, context window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from quoth.core.errors import ConfigError
from quoth.text.analyzer import estimate_tokens

KeyNeed = Literal["needed", "optional"]
CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class Provider:
    """Defaults of a provider.

    ``url`` is its public address, None where the operator must configure one. ``key`` is the
    setting with its API key and ``variable`` the provider's environment variable for it.
    """

    model: str
    url: str | None
    window: int
    key: str
    variable: str
    key_need: KeyNeed = "needed"


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        model="claude-haiku-4-5",
        url="https://api.anthropic.com",
        window=200_000,
        key="anthropic_api_key",
        variable="ANTHROPIC_API_KEY",
    ),
    "openai": Provider(
        model="gpt-5.6-luna",
        url="https://api.openai.com/v1",
        window=128_000,
        key="openai_api_key",
        variable="OPENAI_API_KEY",
    ),
    "gemini": Provider(
        model="gemini-3.5-flash-lite",
        url="https://generativelanguage.googleapis.com",
        window=1_000_000,
        key="gemini_api_key",
        variable="GEMINI_API_KEY",
    ),
    "openrouter": Provider(
        model="google/gemini-3.5-flash-lite",
        url="https://openrouter.ai/api/v1",
        window=32_000,
        key="openrouter_api_key",
        variable="OPENROUTER_API_KEY",
    ),
    # Ollama cuts what is longer than its window without a word, and this is its default window.
    "ollama": Provider(
        model="qwen3:8b",
        url="http://127.0.0.1:11434/v1",
        window=4096,
        key="llm_api_key",
        variable="QUOTH_LLM_API_KEY",
        key_need="optional",
    ),
    "openai-compatible": Provider(
        model="default",
        url=None,
        window=8192,
        key="llm_api_key",
        variable="QUOTH_LLM_API_KEY",
        key_need="optional",
    ),
}


@dataclass(frozen=True, slots=True)
class Access:
    """Connection data of one language model; ``window`` in tokens, ``url`` without user info."""

    provider: str
    model: str
    url: str
    window: int
    key: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    count_tokens: CountTokens = estimate_tokens


def host_of(url: str) -> str:
    """Return the host of an address, with its port where one is named; raises ConfigError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        raise ConfigError(
            "The address of a language model is 'http://' or 'https://' with a host, and without "
            "a name or password, such as http://127.0.0.1:8080/v1."
        )
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def is_local_url(url: str) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def destination(access: Access) -> tuple[str, bool]:
    """Return the host that receives the texts and whether it is this machine.

    A cloud model of Ollama is called locally but runs remotely.
    """
    if access.provider == "ollama" and access.model.endswith(("-cloud", ":cloud")):
        return "ollama.com", False
    return host_of(access.url), is_local_url(access.url)
