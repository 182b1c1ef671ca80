"""Access to a language model: address, API key, context window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from quoth.core.errors import ConfigError
from quoth.text.analyzer import estimate_tokens

CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class Provider:
    """The default model of a provider, and its context window in tokens."""

    model: str
    window: int


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("claude-haiku-4-5", 200_000),
    "openai": Provider("gpt-5.6-luna", 128_000),
    "gemini": Provider("gemini-3.5-flash-lite", 1_000_000),
    "openrouter": Provider("google/gemini-3.5-flash-lite", 32_000),
    # Ollama cuts what is longer than its window without a word, and this is its default window.
    "ollama": Provider("qwen3:8b", 4096),
    "openai-compatible": Provider("default", 8192),
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
