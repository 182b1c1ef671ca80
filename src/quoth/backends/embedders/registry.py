"""Opens the embedder of the settings: a row of the table, a folder, or a provider's model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from quoth.backends.http_access import HttpAccess
from quoth.backends.registry import backend, plugin, require
from quoth.core.errors import ConfigError
from quoth.core.plan import profile
from quoth.core.protocols import Embedder

if TYPE_CHECKING:
    from quoth.core.settings import Settings

DEFAULT_EMBEDDER = "multilingual-e5-small-int8"
OTHER_TOKENS = 512


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """Defaults of a provider of embeddings; ``key`` is the setting with its API key."""

    model: str
    url: str
    key: str
    needs_key: bool = True


PROVIDERS: Mapping[str, EmbeddingProvider] = {
    "openai": EmbeddingProvider(
        "text-embedding-3-small", "https://api.openai.com/v1", "openai_api_key"
    ),
    "openrouter": EmbeddingProvider(
        "openai/text-embedding-3-small", "https://openrouter.ai/api/v1", "openrouter_api_key"
    ),
    "voyage": EmbeddingProvider("voyage-3.5", "https://api.voyageai.com/v1", "voyage_api_key"),
    "cohere": EmbeddingProvider("embed-v4.0", "https://api.cohere.com/v2", "cohere_api_key"),
    "gemini": EmbeddingProvider(
        "gemini-embedding-001", "https://generativelanguage.googleapis.com", "gemini_api_key"
    ),
    "ollama": EmbeddingProvider(
        "nomic-embed-text", "http://127.0.0.1:11434/v1", "llm_api_key", needs_key=False
    ),
    "openai-compatible": EmbeddingProvider("default", "", "llm_api_key", needs_key=False),
}
MODELS: Mapping[str, tuple[int, int]] = {
    "text-embedding-3-small": (1536, 8191),
    "text-embedding-3-large": (3072, 8191),
    "openai/text-embedding-3-small": (1536, 8191),
    "openai/text-embedding-3-large": (3072, 8191),
    "voyage-3.5": (1024, 32_000),
    "voyage-3.5-lite": (1024, 32_000),
    "voyage-3-large": (1024, 32_000),
    "embed-v4.0": (1536, 8192),
    "gemini-embedding-001": (3072, 2048),
    "nomic-embed-text": (768, 2048),
}
"""Dimension and tokens of known models."""
SHORTCUTS: Mapping[str, str] = {
    "text-embedding-3-large": "openai:text-embedding-3-large",
    "text-embedding-3-small": "openai:text-embedding-3-small",
}


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model of a provider, as the settings name it: PROVIDER[:MODEL][@ADDRESS]."""

    provider: str
    model: str
    url: str
    key: str | None


def remote_model(settings: Settings) -> RemoteModel | None:
    """Return the provider's model that embeds, None for one of this machine; raises ConfigError."""
    name = settings.embedder or profile(settings.profile).embedder
    named, at, host = SHORTCUTS.get(name, name).partition("@http")
    provider, _, model = named.partition(":")
    if provider not in PROVIDERS:
        return None
    require("embedder", provider)
    known = PROVIDERS[provider]
    url = f"http{host}" if at else known.url
    if not url:
        raise ConfigError(
            f"The embedder '{provider}' needs an address. Write it after the name: "
            f"{provider}:MODEL@http://127.0.0.1:8080/v1"
        )
    secret = getattr(settings, known.key)
    if secret is None and known.needs_key:
        raise ConfigError(
            f"The embedder '{provider}' needs a key, and there is none. Set {known.key.upper()}, "
            "or choose another with --embedder."
        )
    key = None if secret is None else secret.get_secret_value()
    return RemoteModel(provider, model or known.model, url, key)


def embedder_setting(settings: Settings) -> str:
    """Return the name that opens the embedder of the settings again, from any working directory.

    Empty where that would contain a password.
    """
    name = settings.embedder or profile(settings.profile).embedder
    if "://" in name:
        return "" if "@" in urlsplit(name.partition("@")[2]).netloc else name
    folder = Path(name).expanduser()
    return str(folder.resolve()) if settings.embedder and folder.is_dir() else name


def with_embedder(settings: Settings, name: str, *, dimension: int | None = None) -> Settings:
    """Return the settings with another embedder; ``dimension`` counts for a provider's model."""
    return settings.model_copy(update={"embedder": name, "embedder_dimensions": dimension})


def open_embedder(settings: Settings, *, build: Callable[[], None] = lambda: None) -> Embedder:
    """Open the embedder of the settings; ``build`` makes the default model if it is missing."""
    remote = remote_model(settings)
    if remote is not None:
        return _open_remote(remote, settings)
    name = settings.embedder or profile(settings.profile).embedder
    if name == "fake":
        embedder: Embedder = backend("embedder", name)()
    elif plugin("embedder", name) is not None:
        embedder = backend("embedder", name)(settings)
    else:
        if name == DEFAULT_EMBEDDER:
            build()
        embedder = backend("embedder", "onnx")(folder_of(settings), threads=settings.threads)
    return embedder


def folder_of(settings: Settings) -> Path:
    """Return the folder of a model of this machine; raises ConfigError where it is missing."""
    name = settings.embedder or profile(settings.profile).embedder
    folder = Path(name).expanduser()
    if settings.embedder and (folder.is_dir() or os.sep in name):
        return folder
    require("embedder", name)
    folder = settings.models / name
    if not folder.is_dir() and name != DEFAULT_EMBEDDER:
        raise ConfigError(
            f"The embedder {name} is not installed. Fetch it with: quoth models get {name} (or "
            f"put its model.onnx, tokenizer.json and config.json into {folder}), or choose another "
            "with --embedder."
        )
    return folder


def _open_remote(remote: RemoteModel, settings: Settings) -> Embedder:
    whole, max_tokens = MODELS.get(remote.model, (None, OTHER_TOKENS))
    dimension = settings.embedder_dimensions or whole
    if dimension is None:
        raise ConfigError(
            f"The length of the vectors of {remote.provider}:{remote.model} is not known here. "
            "Set QUOTH_EMBEDDER_DIMENSIONS."
        )
    access = HttpAccess(
        "embedder",
        remote.provider,
        remote.model,
        remote.url,
        key=remote.key,
        proxy=None if settings.llm_proxy is None else settings.llm_proxy.get_secret_value(),
        timeout_s=settings.llm_seconds,
        retries=settings.llm_retries,
    )
    embedder: Embedder = backend("embedder", remote.provider)(
        access,
        dimension=dimension,
        shortened=whole is not None and dimension != whole,
        max_tokens=max_tokens,
    )
    return embedder
