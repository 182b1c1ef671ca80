"""How a provider is reached over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from quoth.backends.generators.access import is_local_url
from quoth.backends.registry import Part, require
from quoth.core.errors import ConfigError

if TYPE_CHECKING:
    from quoth.core.settings import Settings


@dataclass(frozen=True, slots=True)
class HttpProvider:
    """A provider's address, empty where it must be named, and the setting with its API key."""

    url: str
    key: str
    needs_key: bool = True


HTTP_PROVIDERS: Mapping[str, HttpProvider] = {
    "anthropic": HttpProvider("https://api.anthropic.com", "anthropic_api_key"),
    "openai": HttpProvider("https://api.openai.com/v1", "openai_api_key"),
    "gemini": HttpProvider("https://generativelanguage.googleapis.com", "gemini_api_key"),
    "openrouter": HttpProvider("https://openrouter.ai/api/v1", "openrouter_api_key"),
    "voyage": HttpProvider("https://api.voyageai.com/v1", "voyage_api_key"),
    "cohere": HttpProvider("https://api.cohere.com/v2", "cohere_api_key"),
    "ollama": HttpProvider("http://127.0.0.1:11434/v1", "llm_api_key", needs_key=False),
    "openai-compatible": HttpProvider("", "llm_api_key", needs_key=False),
}


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """A provider's address and key; ``part`` is what it is used as, for messages."""

    part: str
    provider: str
    model: str
    url: str
    key: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0
    retries: int = 2

    @property
    def endpoint(self) -> str:
        """Return the host that receives the texts."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def local(self) -> bool:
        """Return whether that is this machine."""
        return is_local_url(self.url)


def check_address(
    part: Part, name: str, url: str, *, schemes: Sequence[str] = ("http", "https")
) -> None:
    """Raise ConfigError for what is no address of a server."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in schemes and parts.hostname and (parts.port or 1)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"What stands behind the {part} '{name}@' is no address of a server. Write it as "
            f"{name}@{schemes[0]}://HOST:PORT."
        )


def split_name(name: str) -> tuple[str, str, str]:
    """Return provider, model and address of PROVIDER[:MODEL][@ADDRESS], empty where not given."""
    named, at, host = name.partition("@http")
    provider, _, model = named.partition(":")
    return provider, model, f"http{host}" if at else ""


def provider_access(
    part: Part,
    name: str,
    settings: Settings,
    *,
    default: str,
    option: str,
    timeout_s: float,
    retries: int,
    needs_key: bool = True,
) -> HttpAccess:
    """Return how PROVIDER[:MODEL][@ADDRESS] is reached; ``option`` is what chooses another one.

    ``default`` is the model where none is named, ``needs_key`` False where this use works without
    a key. Raises ConfigError for a missing key or address, and MissingExtra.
    """
    provider, model, url = split_name(name)
    require(part, provider)
    known = HTTP_PROVIDERS[provider]
    url = url or known.url
    if not url:
        raise ConfigError(
            f"The {part} '{provider}' needs an address. Write it after the name: "
            f"{provider}:MODEL@http://127.0.0.1:8080/v1"
        )
    check_address(part, provider, url)
    secret = getattr(settings, known.key)
    if secret is None and needs_key and known.needs_key:
        raise ConfigError(
            f"The {part} '{provider}' needs a key, and there is none. Set {known.key.upper()}, or "
            f"choose another with {option}."
        )
    return HttpAccess(
        part,
        provider,
        model or default,
        url,
        key=None if secret is None else secret.get_secret_value(),
        proxy=None if settings.llm_proxy is None else settings.llm_proxy.get_secret_value(),
        timeout_s=timeout_s,
        retries=retries,
    )


def sendable(text: str) -> str:
    """Return a text as providers accept it: no half of a surrogate pair, and never empty."""
    whole = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return whole if whole.strip() else "-"
