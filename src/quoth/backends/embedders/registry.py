"""Opens the embedder of the settings: a row of the table, a folder, or a provider's model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from quoth.backends.http_access import HttpAccess, provider_access, split_name
from quoth.backends.registry import backend, open_plugin, plugin, require
from quoth.core.errors import ConfigError
from quoth.core.plan import profile
from quoth.core.protocols import Embedder
from quoth_models.table import MODELS as HUB

if TYPE_CHECKING:
    from quoth.core.settings import Settings

DEFAULT_EMBEDDER = "multilingual-e5-small-int8"
OTHER_TOKENS = 512


PROVIDERS: Mapping[str, str] = {
    "openai": "text-embedding-3-small",
    "openrouter": "openai/text-embedding-3-small",
    "voyage": "voyage-3.5",
    "cohere": "embed-v4.0",
    "gemini": "gemini-embedding-001",
    "ollama": "nomic-embed-text",
    "openai-compatible": "default",
}
"""The default model of each provider."""
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


def embedding_access(settings: Settings) -> HttpAccess | None:
    """Return how the provider that embeds is reached, None where this machine embeds.

    Raises ConfigError.
    """
    name = settings.embedder or profile(settings.profile).embedder
    known_as = name.partition("@http")[0]
    name = SHORTCUTS.get(known_as, known_as) + name.removeprefix(known_as)
    default = PROVIDERS.get(split_name(name)[0])
    if default is None:
        return None
    return provider_access(
        "embedder",
        name,
        settings,
        default=default,
        option="--embedder",
        timeout_s=settings.llm_seconds,
        retries=settings.llm_retries,
    )


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
    access = embedding_access(settings)
    if access is not None:
        return _open_remote(access, settings)
    name = settings.embedder or profile(settings.profile).embedder
    if name == "fake":
        embedder: Embedder = backend("embedder", name)()
    elif plugin("embedder", name) is not None:
        embedder = open_plugin("embedder", name, settings, protocol=Embedder)
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
        fetched = f"Fetch it with: quoth models get {name}, or put" if name in HUB else "Put"
        raise ConfigError(
            f"The embedder {name} is not installed. {fetched} its model.onnx, tokenizer.json and "
            f"config.json into {folder}, or choose another with --embedder."
        )
    return folder


def _open_remote(access: HttpAccess, settings: Settings) -> Embedder:
    whole, max_tokens = MODELS.get(access.model, (None, OTHER_TOKENS))
    dimension = settings.embedder_dimensions or whole
    if dimension is None:
        raise ConfigError(
            f"The length of the vectors of {access.provider}:{access.model} is not known here. "
            "Set QUOTH_EMBEDDER_DIMENSIONS."
        )
    embedder: Embedder = backend("embedder", access.provider)(
        access,
        dimension=dimension,
        shortened=whole is not None and dimension != whole,
        max_tokens=max_tokens,
    )
    return embedder
